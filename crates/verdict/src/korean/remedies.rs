//! What to do.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    (
        "watch the target's machine under this load (--watch ssh:USER@HOST/port:NUMBER; or nstat -az \
         TcpExtListenOverflows TcpExtTCPReqQFullDrop there): where they grow, raise the backlog of its listener",
        "이 부하에서 대상 장비를 관찰하고(--watch ssh:USER@HOST/port:NUMBER, 또는 그 장비에서 nstat -az \
         TcpExtListenOverflows TcpExtTCPReqQFullDrop) 늘어나면 리스너의 backlog를 키우세요",
    ),
    (
        "where they do not, look at what stands before it: a full table of connections (conntrack), a firewall's or \
         balancer's limit of new ones",
        "늘지 않으면 그 앞을 보세요: 가득 찬 연결 테이블(conntrack), 방화벽이나 로드 밸런서의 새 연결 한도",
    ),
    (
        "keep connections open and open fewer at a time (keep-alive, a ramp, jitter before reconnecting)",
        "연결을 유지하고 한꺼번에 적게 여세요(keep-alive, 점진 증가, 재연결 전 지터)",
    ),
    (
        "raise the backlog where the target listens (Node: server.listen({backlog}); uvicorn --backlog; Tomcat \
         acceptCount), then sysctl net.core.somaxconn",
        "대상이 대기하는 곳의 backlog를 올리고(Node: server.listen({backlog}), uvicorn --backlog, Tomcat acceptCount) \
         sysctl net.core.somaxconn도 올리세요",
    ),
    (
        "find what keeps it from accepting: a blocked event loop accepts nobody, nor does a server whose threads are \
         all taken (Tomcat: server.tomcat.threads.max) or that holds all the connections it may \
         (server.tomcat.max-connections, 8,192 as it comes)",
        "무엇이 연결을 받지 못하게 하는지 찾으세요. 막힌 이벤트 루프도, 스레드가 모두 쓰이고 있거나(Tomcat: \
         server.tomcat.threads.max) 허용된 연결을 모두 쥐고 있는 서버(server.tomcat.max-connections, 기본값 8,192)도 \
         아무도 받아들이지 못합니다",
    ),
    (
        "let clients come more slowly (a ramp, jitter before reconnecting)",
        "클라이언트가 더 천천히 들어오게 하세요(점진적 증가, 재연결 전 무작위 지연)",
    ),
    (
        "profile the target under this load (perf record -g, async-profiler, py-spy) and mend what is at the top",
        "이 부하에서 대상을 프로파일링하고(perf record -g, async-profiler, py-spy) 맨 위에 있는 것을 고치세요",
    ),
    (
        "more cores, or a second machine behind a balancer",
        "코어를 늘리거나 로드 밸런서 뒤에 장비를 하나 더 두세요",
    ),
    ("move databases and proxies off this machine", "데이터베이스와 프록시를 다른 장비로 옮기세요"),
    (
        "raise the quota once and compare (systemd: CPUQuota=; Kubernetes: resources.limits.cpu; docker run --cpus)",
        "할당량을 한 번 올려 비교하세요(systemd: CPUQuota=, Kubernetes: resources.limits.cpu, docker run --cpus)",
    ),
    (
        "give it requests without a limit, where the machine is its own",
        "전용 장비라면 한도(limit) 없이 요청량(request)만 주세요",
    ),
    (
        "start no more worker threads than the quota has cores: they only use it up sooner",
        "작업자 스레드는 할당량의 코어 수까지만 띄우세요. 더 띄우면 할당량을 더 빨리 쓸 뿐입니다",
    ),
    (
        "smaller pools: instances × pool size must stay below max_connections, with room for deployments",
        "풀을 줄이세요. 인스턴스 수 × 풀 크기가 배포 여유를 두고 max_connections 아래여야 합니다",
    ),
    ("PgBouncer in front (pool_mode=transaction)", "앞에 PgBouncer를 두세요(pool_mode=transaction)"),
    (
        "close what is leaked: a connection taken and not given back shows as idle in transaction or idle for hours in \
         pg_stat_activity",
        "새는 연결을 닫으세요. 가져가고 돌려주지 않은 연결은 pg_stat_activity에 idle in transaction이나 몇 시간째 idle로 \
         보입니다",
    ),
    (
        "raise max_connections (a restart; memory for each)",
        "max_connections를 올리세요(재시작이 필요하고 연결마다 메모리를 씁니다)",
    ),
    (
        "shorten the transaction that holds the lock: take the contended row last, and call nobody else before COMMIT",
        "잠금을 쥔 트랜잭션을 줄이세요. 다투는 행은 마지막에 잡고, COMMIT 전에 다른 서비스를 부르지 마세요",
    ),
    (
        "do not have all write the same row: append and add up later, or spread a counter over several rows",
        "모두가 같은 행에 쓰지 않게 하세요. 덧붙였다가 나중에 합치거나, 카운터를 여러 행에 나누세요",
    ),
    ("queues and jobs: SELECT … FOR UPDATE SKIP LOCKED", "큐와 작업: SELECT … FOR UPDATE SKIP LOCKED"),
    (
        "limit the damage: lock_timeout = '2s', idle_in_transaction_session_timeout = '10s' for its role",
        "피해를 줄이세요: 그 역할에 lock_timeout = '2s', idle_in_transaction_session_timeout = '10s'",
    ),
    (
        "read the target's last lines and the kernel's (journalctl -u SERVICE -k, dmesg): they say what ended it",
        "대상과 커널의 마지막 로그를 읽으세요(journalctl -u SERVICE -k, dmesg). 무엇이 끝냈는지 나옵니다",
    ),
    (
        "have it restarted at once (systemd: Restart=always; pm2; a container's restart policy)",
        "바로 다시 시작되게 하세요(systemd: Restart=always, pm2, 컨테이너의 재시작 정책)",
    ),
    (
        "run two instances, so that one's death is not the service's",
        "인스턴스를 둘 두어 하나가 죽어도 서비스가 죽지 않게 하세요",
    ),
    (
        "watch what it depends on as well: --watch postgres://…, --watch redis://…, --watch http://…/metrics",
        "의존하는 것도 관찰하세요: --watch postgres://…, --watch redis://…, --watch http://…/metrics",
    ),
    (
        "time its calls to others (tracing, slow query log), at this load",
        "이 부하에서 다른 서비스 호출 시간을 재세요(트레이싱, 슬로 쿼리 로그)",
    ),
    (
        "look at its pools of connections: how many are used, how many callers wait",
        "연결 풀을 보세요. 몇 개가 쓰이고 몇이 기다리는지",
    ),
    (
        "systemd: LimitNOFILE={} in the unit; a shell's `ulimit -n` does not reach services",
        "systemd: 유닛에 LimitNOFILE={1}. 셸의 `ulimit -n`은 서비스에 닿지 않습니다",
    ),
    (
        "container: --ulimit nofile={}; PAM: /etc/security/limits.conf",
        "컨테이너: --ulimit nofile={1}, PAM: /etc/security/limits.conf",
    ),
    (
        "nginx in front: worker_rlimit_nofile, for it holds two for each client",
        "앞에 nginx가 있다면 worker_rlimit_nofile도 올리세요. 클라이언트마다 둘을 엽니다",
    ),
    (
        "close connections that nobody uses (idle timeouts, keep-alive limits)",
        "쓰지 않는 연결을 닫으세요(유휴 시간 제한, keep-alive 한도)",
    ),
    (
        "take work out of that thread: profile it (node --cpu-prof, py-spy), and move or cache what is at the top",
        "그 스레드에서 일을 덜어 내세요. 프로파일링해서(node --cpu-prof, py-spy) 맨 위에 있는 것을 옮기거나 캐시하세요",
    ),
    (
        "run a process per core (Node: cluster or pm2 -i max; gunicorn -w; uvicorn --workers), with sticky sessions \
         for \
         polling and a Redis adapter between them",
        "코어마다 프로세스를 띄우세요(Node: cluster나 pm2 -i max, gunicorn -w, uvicorn --workers). 폴링에는 고정 세션을, \
         프로세스 사이에는 Redis 어댑터를 두세요",
    ),
    (
        "send less to each: batch broadcasts, smaller rooms, fewer copies",
        "각자에게 덜 보내세요: 브로드캐스트 묶기, 작은 방, 적은 사본",
    ),
    (
        "a larger heap (node --max-old-space-size=4096, --max-semi-space-size=64; java -Xmx, -XX:MaxRAMPercentage=75): \
         the same garbage is collected less often",
        "힙을 늘리세요(node --max-old-space-size=4096, --max-semi-space-size=64, java -Xmx, -XX:MaxRAMPercentage=75). \
         같은 쓰레기를 덜 자주 치웁니다",
    ),
    (
        "allocate less: a heap profile under this load (node --heap-prof, async-profiler -e alloc) names what to \
         reuse or \
         to stream",
        "덜 할당하세요. 이 부하에서 힙 프로파일을 뜨면(node --heap-prof, async-profiler -e alloc) 재사용하거나 스트리밍할 \
         것이 나옵니다",
    ),
    (
        "find what is kept: memory that grows with users and not back with them is a leak",
        "무엇이 남는지 찾으세요. 사용자와 함께 늘고 줄지 않는 메모리는 누수입니다",
    ),
    (
        "run the generator on a machine of its own, or with cores of its own (`taskset`)",
        "부하 생성기를 다른 장비에서, 또는 전용 코어에서(`taskset`) 돌리세요",
    ),
    (
        "lower the load until the generator's health is ok, to learn what the target does below it",
        "생성기 상태가 정상이 될 때까지 부하를 낮춰, 그 아래에서 대상이 어떤지 보세요",
    ),
    (
        "find what blocks it: node --cpu-prof under this load, or clinic flame; look for *Sync calls, password hashes, \
         JSON and regular expressions over large texts",
        "무엇이 막는지 찾으세요: 이 부하에서 node --cpu-prof나 clinic flame. *Sync 호출, 비밀번호 해시, 큰 텍스트의 JSON과 \
         정규식을 보세요",
    ),
    (
        "move it out of the loop: the asynchronous form (bcrypt.hash, not hashSync), a worker thread (piscina), a job \
         queue",
        "루프 밖으로 옮기세요: 비동기 함수(hashSync 대신 bcrypt.hash), 작업자 스레드(piscina), 작업 큐",
    ),
    (
        "cut long work into pieces with setImmediate between them",
        "긴 일을 조각내고 사이에 setImmediate를 넣으세요",
    ),
    (
        "raise the limit of {} (systemd: MemoryMax=; Kubernetes: resources.limits.memory; docker run --memory)",
        "한도 {1}를 올리세요(systemd: MemoryMax=, Kubernetes: resources.limits.memory, docker run --memory)",
    ),
    (
        "use a machine with more memory, or move other services off this one",
        "메모리가 더 큰 장비를 쓰거나 다른 서비스를 옮기세요",
    ),
    (
        "cap what grows with users: connection pools, send buffers, caches; find it by a heap profile at two user \
         counts",
        "사용자 수와 함께 늘어나는 것에 한도를 두세요: 연결 풀, 송신 버퍼, 캐시. 사용자 수를 달리해 힙 프로파일을 두 번 뜨면 \
         보입니다",
    ),
    (
        "limit the heap below the cgroup's limit (node --max-old-space-size, java -XX:MaxRAMPercentage=75)",
        "힙을 cgroup 한도 아래로 제한하세요(node --max-old-space-size, java -XX:MaxRAMPercentage=75)",
    ),
    (
        "add swap space as an insurance against sudden death, not as memory",
        "스왑은 메모리가 아니라 갑작스러운 죽음에 대한 보험으로 추가하세요",
    ),
    (
        "find them (top, pidstat 1): a database on the same machine belongs to the service, and what does not has no \
         place in the test",
        "무엇인지 찾습니다(top, pidstat 1). 같은 장비의 데이터베이스는 서비스의 일부이고, 서비스와 무관한 것은 시험 중에 두지 않습니다",
    ),
    (
        "give the target cores of its own (systemd: AllowedCPUs=, CPUWeight=; docker --cpuset-cpus)",
        "대상에 전용 코어를 주세요(systemd: AllowedCPUs=, CPUWeight=, docker --cpuset-cpus)",
    ),
    (
        "compare the interface's use with its speed (ethtool, sar -n DEV) and with the provider's limit for the \
         instance",
        "인터페이스 사용량을 속도(ethtool, sar -n DEV)와 제공자의 인스턴스 한도에 견주세요",
    ),
    ("send fewer bytes: compression, smaller messages", "바이트를 줄이세요: 압축, 더 작은 메시지"),
    (
        "raise net.core.netdev_max_backlog where cores drop packets",
        "코어가 패킷을 버리는 곳에서 net.core.netdev_max_backlog를 올리세요",
    ),
    (
        "put the load, or the service, nearer: the same region or zone",
        "부하나 서비스를 가까이 두세요: 같은 리전이나 존",
    ),
    (
        "save round trips: keep connections open, batch requests, push instead of asking",
        "왕복을 줄이세요: 연결 유지, 요청 묶기, 묻는 대신 밀어 보내기",
    ),
    (
        "events { worker_connections {}; } with worker_rlimit_nofile {}: a proxied client takes two",
        "events { worker_connections {1}; }와 worker_rlimit_nofile {2}. 프록시하는 클라이언트는 둘을 씁니다",
    ),
    (
        "worker_processes auto, so that every core has its own connections",
        "worker_processes auto로 코어마다 연결을 따로 갖게 하세요",
    ),
    (
        "free them sooner: shorter keepalive_timeout, and keepalive connections to the upstream",
        "더 빨리 놓아주세요: 짧은 keepalive_timeout, 업스트림과는 keepalive 연결",
    ),
    (
        "shrink the pools to {} connections, all instances together (two for each core, and one for each disk), and \
         run \
         this again: latency falls if this is it",
        "풀을 모든 인스턴스를 합해 연결 {1}개로 줄이고(코어마다 둘, 디스크마다 하나) 다시 실행하세요. 원인이 맞으면 지연이 \
         줄어듭니다",
    ),
    (
        "PgBouncer in front (pool_mode=transaction, default_pool_size={})",
        "앞에 PgBouncer를 두세요(pool_mode=transaction, default_pool_size={1})",
    ),
    (
        "less work for each statement: find the one on top in pg_stat_statements",
        "SQL 문마다 일을 줄이세요. pg_stat_statements에서 맨 위의 것을 찾으세요",
    ),
    (
        "raise it from {} to {} and run this again (HikariCP maximumPoolSize, pg Pool max, SQLAlchemy pool_size, \
         Prisma \
         connection_limit); up to two or three for each core of the database, all instances together",
        "{1}에서 {2}로 올려 다시 실행하세요(HikariCP maximumPoolSize, pg Pool max, SQLAlchemy pool_size, Prisma \
         connection_limit). 모든 인스턴스를 합해 데이터베이스 코어마다 둘이나 셋까지입니다",
    ),
    (
        "hold connections for a shorter time: no calls to others, no waiting within a transaction",
        "연결을 더 짧게 쥐세요. 트랜잭션 안에서 다른 서비스를 부르거나 기다리지 마세요",
    ),
    (
        "make the statements themselves faster: a pool serves size / time of a statement a second",
        "SQL 문 자체를 빠르게 하세요. 풀은 1초에 (크기 ÷ 문 하나의 시간)만큼 처리합니다",
    ),
    (
        "connect from several addresses: --source-address 127.0.0.2-127.0.0.9",
        "여러 주소에서 연결하세요: --source-address 127.0.0.2-127.0.0.9",
    ),
    (
        "keep connections open between requests (`http.pool`, keep-alive)",
        "요청 사이에 연결을 유지하세요(`http.pool`, keep-alive)",
    ),
    (
        "widen the range: sysctl net.ipv4.ip_local_port_range=\"1024 65535\"",
        "범위를 넓히세요: sysctl net.ipv4.ip_local_port_range=\"1024 65535\"",
    ),
    (
        "decide whether the limit is meant for this load; raise it where it is set (nginx limit_req, an API gateway, \
         the \
         framework's throttler)",
        "이 부하에 걸리라고 둔 한도인지 정하고, 아니라면 정해 둔 곳에서 올리세요(nginx limit_req, API 게이트웨이, \
         프레임워크의 throttler)",
    ),
    (
        "let the test come from more addresses or accounts, if the limit is for each of them",
        "주소나 계정마다 걸리는 한도라면 더 많은 주소나 계정에서 시험하세요",
    ),
    ("have clients wait as Retry-After says", "클라이언트가 Retry-After만큼 기다리게 하세요"),
    (
        "share connections: one or a small pool for each process, not one for each user or subscription",
        "연결을 나눠 쓰세요: 사용자나 구독마다가 아니라 프로세스마다 하나나 작은 풀",
    ),
    (
        "raise maxclients, and LimitNOFILE of Redis with it",
        "maxclients와 Redis의 LimitNOFILE을 함께 올리세요",
    ),
    (
        "take what is slow out of it: SLOWLOG GET, no KEYS, no HGETALL and LRANGE of what has grown large",
        "느린 것을 빼세요: SLOWLOG GET으로 찾고, KEYS와 커진 것의 HGETALL·LRANGE를 쓰지 마세요",
    ),
    (
        "fewer commands: pipelines, MGET, a cache in the process; publish once a room, not once a user",
        "명령을 줄이세요: 파이프라인, MGET, 프로세스 안의 캐시. 사용자마다가 아니라 방마다 한 번 발행하세요",
    ),
    (
        "a second Redis (sharded pub/sub, a cluster), as one uses one core",
        "Redis를 하나 더 두세요(sharded pub/sub, 클러스터). 하나는 코어 하나만 씁니다",
    ),
    ("raise maxmemory, or let keys expire sooner", "maxmemory를 올리거나 키가 더 일찍 만료되게 하세요"),
    (
        "keep sessions and queues in a Redis that evicts nothing (noeviction)",
        "세션과 큐는 아무것도 내보내지 않는 Redis에 두세요(noeviction)",
    ),
    (
        "limit what is queued for a client, and close or skip those that fall behind",
        "클라이언트마다 쌓이는 양에 한도를 두고, 뒤처지면 끊거나 건너뛰세요",
    ),
    (
        "send less: compress, batch, drop states that a newer one replaces",
        "덜 보내세요: 압축하고, 묶고, 새 상태가 대신하는 옛 상태는 버리세요",
    ),
    (
        "EXPLAIN (ANALYZE, BUFFERS) of it with values of this load: an index for its WHERE and ORDER BY if it reads \
         rows \
         in sequence",
        "이 부하의 값으로 EXPLAIN (ANALYZE, BUFFERS)을 보세요. 순차로 읽는다면 WHERE와 ORDER BY에 맞는 인덱스를 두세요",
    ),
    (
        "run it less often: cache its result for seconds, or ask once for many",
        "덜 자주 실행하세요: 결과를 몇 초 캐시하거나 여럿을 한 번에 물으세요",
    ),
    (
        "fetch less: LIMIT, fewer columns, pages by key instead of OFFSET",
        "덜 가져오세요: LIMIT, 적은 열, OFFSET 대신 키로 넘기는 페이지",
    ),
    ("a replica for reads", "읽기용 복제본"),
    (
        "repeat after an idle hour: a burstable instance (t2, t3) earns credits while it rests",
        "한 시간 쉬었다가 다시 해 보세요. 버스트형 인스턴스(t2, t3)는 쉬는 동안 크레딧을 쌓습니다",
    ),
    (
        "use an instance type without credits, or its unlimited mode",
        "크레딧이 없는 인스턴스 유형이나 unlimited 모드를 쓰세요",
    ),
    (
        "do less of it: a lower cost of password hashes (bcrypt 13 takes eight times what 10 takes), tokens instead \
         of a \
         login each time",
        "덜 하세요: 비밀번호 해시 비용을 낮추고(bcrypt 13은 10의 여덟 배) 매번 로그인 대신 토큰을 쓰세요",
    ),
    (
        "more cores, and a pool as large as they are (Node: UV_THREADPOOL_SIZE)",
        "코어를 늘리고 풀도 그만큼 키우세요(Node: UV_THREADPOOL_SIZE)",
    ),
    (
        "move it to a service of its own, so that it delays nobody else",
        "다른 것을 늦추지 않게 따로 서비스로 옮기세요",
    ),
];
