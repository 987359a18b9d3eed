//! What the target depends on: pools and runtimes by their metrics pages, databases, caches and proxies.

metrics! { RUNTIME
    "pool.active" Gauge Number
        "Connections of a pool that are in use, by pool." "풀에서 사용 중인 연결 수입니다.";
    "pool.idle" Gauge Number
        "Connections of a pool that are free, by pool." "풀에서 쉬고 있는 연결 수입니다.";
    "pool.max" Gauge Number
        "Connections that a pool may have, by pool." "풀이 가질 수 있는 최대 연결 수입니다.";
    "pool.waiting" Gauge Number
        "Callers that wait for a connection of a pool, by pool." "풀의 연결을 기다리는 호출자 수입니다.";
    "runtime.loop_lag" Gauge Milliseconds
        "How late the target's event loop is, at its 99th percentile, less the resolution of the measure."
        "대상의 이벤트 루프가 밀리는 시간(p99)이며, 측정 해상도만큼 뺀 값입니다.";
    "runtime.loop_lag.max" Gauge Milliseconds
        "How late the target's event loop was at its latest since the look before, less the resolution of the measure."
        "직전 측정 이후 대상의 이벤트 루프가 가장 많이 밀린 시간이며, 측정 해상도만큼 뺀 값입니다.";
    "runtime.gc" Gauge Share
        "Share of the time that the target's runtime spends on collecting garbage."
        "런타임이 가비지 컬렉션에 쓰는 시간의 비율입니다.";
    "runtime.loop_utilisation" Gauge Share
        "Share of the time in which the target's event loop was not waiting for anything to do."
        "대상의 이벤트 루프가 할 일을 기다리지 않고 일한 시간의 비율입니다.";
    "runtime.heap" Gauge Bytes
        "Memory in use in the heap of the target's runtime." "런타임 힙에서 사용 중인 메모리입니다.";
    "runtime.heap.limit" Gauge Bytes
        "Memory that the heap of the target's runtime may have." "런타임 힙이 가질 수 있는 최대 메모리입니다.";
}

metrics! { POSTGRES
    "postgres.active" Gauge Number
        "Sessions of PostgreSQL that run a query, the probe's own not counted."
        "쿼리를 실행 중인 PostgreSQL 세션 수이며, 프로브 자신은 세지 않습니다.";
    "postgres.idle" Gauge Number
        "Sessions of PostgreSQL with nothing to do." "할 일이 없는 PostgreSQL 세션 수입니다.";
    "postgres.idle_in_transaction" Gauge Number
        "Sessions of PostgreSQL that have a transaction open and wait for their client."
        "트랜잭션을 연 채 클라이언트를 기다리는 세션 수입니다.";
    "postgres.connections" Gauge Number
        "Client connections of PostgreSQL, the probe's own not counted."
        "PostgreSQL의 클라이언트 연결 수이며, 프로브 자신은 세지 않습니다.";
    "postgres.connections.limit" Gauge Number
        "Client connections that PostgreSQL allows: max_connections less those reserved."
        "PostgreSQL이 허용하는 연결 수(예약분을 뺀 max_connections)입니다.";
    "postgres.refused" Counter Events
        "Times that PostgreSQL refused the probe because no connection was left."
        "남은 연결이 없어 PostgreSQL이 프로브를 거절한 횟수입니다.";
    "postgres.waiting" Gauge Number
        "Active sessions of PostgreSQL that wait, by the type of what they wait for."
        "무엇을 기다리는지 종류별로 나눈, 대기 중인 활성 세션 수입니다.";
    "postgres.blocked" Gauge Number
        "Sessions of PostgreSQL that wait for a lock." "잠금을 기다리는 PostgreSQL 세션 수입니다.";
    "postgres.transaction.longest" Gauge Milliseconds
        "How long the oldest open transaction of PostgreSQL has been open."
        "가장 오래 열려 있는 트랜잭션의 지속 시간입니다.";
    "postgres.time" Gauge Number
        "Statements that PostgreSQL runs at a time, on average: its time spent on them in a second."
        "동시에 실행되는 문장 수의 평균, 곧 1초에 쓰인 데이터베이스 시간입니다.";
    "postgres.time.top" Gauge Share
        "Share of PostgreSQL's time that the statement with the largest share takes."
        "시간을 가장 많이 쓰는 문장이 차지하는 비율입니다.";
    "postgres.commits" Counter Events
        "Transactions that PostgreSQL committed, of which the probe's own is one a second."
        "커밋된 트랜잭션 수이며, 프로브 자신의 것이 1초에 하나 포함됩니다.";
    "postgres.rollbacks" Counter Events
        "Transactions that PostgreSQL rolled back." "되돌려진 트랜잭션 수입니다.";
    "postgres.deadlocks" Counter Events
        "Deadlocks that PostgreSQL had to break." "PostgreSQL이 풀어야 했던 교착 상태 수입니다.";
    "postgres.temp" Counter Bytes
        "Bytes that queries wrote to temporary files, because work_mem was too small for them."
        "work_mem이 모자라 쿼리가 임시 파일에 쓴 바이트 수입니다.";
    "postgres.blocks.read" Counter Events
        "Blocks that PostgreSQL had to read, from the system's cache or a disk."
        "PostgreSQL이 시스템 캐시나 디스크에서 읽어야 했던 블록 수입니다.";
    "postgres.blocks.hit" Counter Events
        "Blocks that PostgreSQL found in its own cache." "PostgreSQL이 자체 캐시에서 찾은 블록 수입니다.";
}

metrics! { REDIS
    "redis.cpu" Gauge Share
        "Share of a core that the main thread of Redis uses: all commands run there."
        "모든 명령을 실행하는 Redis 주 스레드의 코어 사용률입니다.";
    "redis.operations" Gauge Number
        "Commands that Redis runs in a second." "Redis가 1초에 실행하는 명령 수입니다.";
    "redis.clients" Gauge Number
        "Clients that are connected to Redis, the probe not counted."
        "Redis에 연결된 클라이언트 수이며, 프로브는 세지 않습니다.";
    "redis.clients.limit" Gauge Number
        "Clients that Redis allows: maxclients." "Redis가 허용하는 클라이언트 수(maxclients)입니다.";
    "redis.clients.blocked" Gauge Number
        "Clients of Redis that wait in a blocking command." "블로킹 명령에서 기다리는 클라이언트 수입니다.";
    "redis.rejected" Counter Events
        "Connections that Redis refused because of maxclients." "maxclients 때문에 거절된 연결 수입니다.";
    "redis.evicted" Counter Events
        "Keys that Redis evicted because of maxmemory." "maxmemory 때문에 쫓겨난 키 수입니다.";
    "redis.memory" Gauge Bytes
        "Memory that Redis uses." "Redis가 쓰는 메모리입니다.";
    "redis.memory.limit" Gauge Bytes
        "Memory that Redis may use: maxmemory." "Redis가 쓸 수 있는 메모리(maxmemory)입니다.";
    "redis.output" Gauge Bytes
        "Bytes that Redis sends in a second." "Redis가 1초에 보내는 바이트 수입니다.";
    "redis.client_buffer" Gauge Bytes
        "The largest output buffer that a client of Redis had lately."
        "최근 Redis 클라이언트의 출력 버퍼 중 가장 큰 것입니다.";
    "redis.slow" Counter Events
        "Commands that took longer than slowlog-log-slower-than."
        "slowlog-log-slower-than보다 오래 걸린 명령 수입니다.";
}

metrics! { NGINX
    "nginx.connections" Gauge Number
        "Client connections of nginx, the probe's own included."
        "프로브 자신을 포함한 nginx의 클라이언트 연결 수입니다.";
    "nginx.accepted" Counter Events
        "Connections that nginx accepted." "nginx가 받아들인 연결 수입니다.";
    "nginx.dropped" Counter Events
        "Connections that nginx accepted and dropped, for want of worker_connections or files."
        "받아들였지만 worker_connections나 파일이 모자라 버려진 연결 수입니다.";
    "nginx.requests" Counter Events
        "Requests to nginx, of which the probe's own is one a second."
        "nginx에 온 요청 수이며, 프로브 자신의 것이 1초에 하나 포함됩니다.";
    "nginx.reading" Gauge Number
        "Connections whose request nginx is reading." "nginx가 요청을 읽고 있는 연결 수입니다.";
    "nginx.writing" Gauge Number
        "Connections that nginx answers, or whose answer it waits for."
        "nginx가 응답 중이거나 응답을 기다리는 연결 수입니다.";
    "nginx.waiting" Gauge Number
        "Idle connections of nginx." "쉬고 있는 nginx 연결 수입니다.";
    "nginx.log.worker_connections" Counter Events
        "Lines of nginx's error log that say that worker_connections are not enough."
        "worker_connections가 모자란다는 nginx 오류 로그의 줄 수입니다.";
    "nginx.log.limited" Counter Events
        "Lines of nginx's error log that say that it limits requests or connections."
        "요청이나 연결을 제한한다는 nginx 오류 로그의 줄 수입니다.";
    "nginx.log.upstream" Counter Events
        "Lines of nginx's error log about the servers behind it." "nginx 뒤의 서버에 관한 오류 로그의 줄 수입니다.";
}
