// Korean of the sentences that the binary says. test/unit/sentences.test.mjs holds it to the sources that say them.

import { type Entry, inKorean } from './sentences';
import { several } from './sentences_ko_several';
import { sides } from './sentences_ko_sides';

/** What a verdict counts by their words: as the subject of a sentence, and behind a number. */
const COUNTED = new Map([
  [
    'user',
    {
      name: '사용자',
      subject: '사용자가',
      unit: '명',
      counted: '명이',
      completed: '끝까지 마쳤습니다',
      complete: '끝까지 마친',
      incomplete: '끝까지 마치지 못했습니다',
    },
  ],
  [
    'iteration',
    {
      name: '반복',
      subject: '반복이',
      unit: '회',
      counted: '회가',
      completed: '완료되었습니다',
      complete: '완료된',
      incomplete: '완료되지 못했습니다',
    },
  ],
]);

/** A sentence of users or of their iterations, whichever its `noun` is; null of anything else. */
function ofUsers(write: (holes: Record<string, string>) => string): Entry[1] {
  return holes => {
    const words = COUNTED.get(holes.noun.replace(/s$/, ''));
    return words ? write({ ...holes, ...words }) : null;
  };
}

/** A sentence within another; null, and with it the whole, where it is not known. */
function within(hole: string, write: (inner: string, holes: Record<string, string>) => string): Entry[1] {
  return holes => {
    const inner = inKorean(holes[hole]);
    return inner === null ? null : write(inner, holes);
  };
}

const UNTRUSTED =
  '이 장비가 신뢰하게 하거나(`SSL_CERT_FILE=FILE.pem`) 검사를 끄세요: `-k`, `tls: { rejectUnauthorized: false }`';
const CLOCK = '이 장비의 시계도 확인하세요. 그래도 시험하려면 `-k`, `tls: { rejectUnauthorized: false }`';
const SUBPROTOCOL = '`subprotocols`에는 대상이 지원하는 것만 넣거나 비워 두세요';

const REASONS: Entry[] = [
  [
    'watched without a load: nothing was asked of the target',
    '부하 없이 관찰했습니다. 대상에 아무것도 요청하지 않았습니다',
  ],
  [
    'stopped after {s} s: the figures cover what ran until then',
    '{s}초 뒤 중단되었습니다. 수치는 그때까지의 결과입니다',
  ],
  ['until then: {rest}', within('rest', inner => `그때까지: ${inner}`)],
  ['not strict, but {rest}', within('rest', inner => `엄격하지 않은 조건이지만 ${inner}`)],
  [
    '{rest}; only a threshold makes that a failure of the test',
    within('rest', inner => `${inner}. 임계값이 있어야 테스트 실패로 칩니다`),
  ],
  [
    '{n} [sample is|samples are] missing in outputs (--out): they came faster than they could be written',
    '출력(--out)에 표본 {n}개가 빠져 있습니다. 쓸 수 있는 것보다 빨리 들어왔습니다',
  ],
  ['{n} of {all} [threshold|thresholds] passed', '임계값 {all}개 중 {n}개 만족'],
  ['{n} of {all} expectations [was|were] not met ({kinds})', '기대 조건 {all}건 중 {n}건이 어긋났습니다({kinds})'],
  [
    'the threshold `{expression}` {failed} and ended the run after {s} s: {evidence}',
    ({ expression, s, evidence }) =>
      `임계값 \`${expression}\` 위반으로 ${s}초 뒤 실행을 끝냈습니다: ${inKorean(evidence) ?? evidence}`,
  ],
  [
    'the threshold `{expression}` failed: {evidence}',
    ({ expression, evidence }) => `임계값 \`${expression}\` 위반: ${inKorean(evidence) ?? evidence}`,
  ],
  ['{metric} was not measured', '{metric} 측정값 없음'],
  [
    '{n} of {all} expected deliveries [was|were] lost ({share})',
    '받아야 할 사본 {all}개 중 {n}개가 유실되었습니다({share})',
  ],
  [
    '{n} [copy was|copies were] received by users who were not in the room',
    '방에 없는 사용자가 사본 {n}개를 받았습니다',
  ],
  ['{n} [duplicate|duplicates]', '중복된 사본 {n}개'],
  ['{n} [copy was|copies were] out of order', '사본 {n}개의 순서가 바뀌었습니다'],
  [
    'no {noun} was started: `before` failed{at}: {code}',
    ofUsers(
      ({ subject, at, code }) =>
        `시작된 ${subject} 없습니다. \`before\`가${at.replace(/^ at (.*)$/s, ' $1에서')} 실패했습니다: ${code}`,
    ),
  ],
  [
    'no {noun} was started: `before` failed: {code}',
    ofUsers(({ subject, code }) => `시작된 ${subject} 없습니다. \`before\`가 실패했습니다: ${code}`),
  ],
  ['no {noun} was started', ofUsers(({ subject }) => `시작된 ${subject} 없습니다`)],
  [
    'the memory limit killed a process of the service',
    '메모리 제한 때문에 서비스의 프로세스 하나가 강제 종료되었습니다',
  ],
  [
    'the memory limit killed {n} processes of the service',
    '메모리 제한 때문에 서비스의 프로세스 {n}개가 강제 종료되었습니다',
  ],
  [
    'the network before the service ran out of files or ports {n} [time|times] (none is allowed)',
    '서비스 앞에 둔 네트워크에서 파일이나 포트가 {n}번 바닥났습니다 (한 번도 허용되지 않습니다)',
  ],
  [
    'the network before the service was late for {n} seconds on end (p99 above {ms} ms): what it was late by looks like slowness of the service',
    '서비스 앞에 둔 네트워크 자체가 {n}초 연속으로 늦었습니다 (p99가 {ms} ms 초과). 늦은 만큼 서비스가 느린 것처럼 보입니다',
  ],
  [
    '`network` takes two more files and a port for each connection: raise `ulimit -n`, widen the range of local ports, or plan fewer users',
    '`network`는 연결마다 파일 두 개와 포트 하나가 더 필요합니다. `ulimit -n`을 올리거나 로컬 포트 범위를 넓히거나 사용자를 줄이세요',
  ],
  ['no {noun} completed', ofUsers(({ subject, complete }) => `${complete} ${subject} 없습니다`)],
  ['the only {noun} failed', ofUsers(({ subject }) => `하나뿐인 ${subject} 실패했습니다`)],
  ['the only {noun} did not complete', ofUsers(({ subject, incomplete }) => `하나뿐인 ${subject} ${incomplete}`)],
  [
    'none of {n} {noun} completed',
    ofUsers(({ name, unit, subject, complete, n }) => `${name} ${n}${unit} 중 ${complete} ${subject} 없습니다`),
  ],
  [
    '{n} of {all} {noun} failed ({share}); most frequent error: {error} ({times})',
    ofUsers(
      ({ name, unit, counted, n, all, share, error, times }) =>
        `${name} ${all}${unit} 중 ${n}${counted} 실패했습니다(${share}). 가장 잦은 오류: ${error.replace(' in ', ', ')} (${times}회)`,
    ),
  ],
  [
    '{n} of {all} {noun} failed ({share})',
    ofUsers(
      ({ name, unit, counted, n, all, share }) => `${name} ${all}${unit} 중 ${n}${counted} 실패했습니다(${share})`,
    ),
  ],
  ['the only HTTP answer was an error status ({codes})', '하나뿐인 HTTP 응답이 오류 상태였습니다({codes})'],
  [
    'every one of {all} HTTP answers was an error status ({codes})',
    'HTTP 응답 {all}개가 모두 오류 상태였습니다({codes})',
  ],
  [
    '{n} of {all} HTTP answers [was an error status|were error statuses] ({codes})',
    'HTTP 응답 {all}개 중 {n}개가 오류 상태였습니다({codes})',
  ],
  ['all {n} expected deliveries received', '받아야 할 사본 {n}개가 모두 도착했습니다'],
  ['the only expected delivery received', '하나뿐인 받아야 할 사본이 도착했습니다'],
  [
    '{n} {noun} [was|were] stopped in mid-flow, {failed} failed',
    ofUsers(
      ({ name, counted, n, failed }) =>
        `진행 중이던 ${name} ${n}${counted} 중지되었고 ${failed}${counted} 실패했습니다`,
    ),
  ],
  ['{n} {noun} completed', ofUsers(({ name, counted, completed, n }) => `${name} ${n}${counted} ${completed}`)],
  ['the service ended during the run: {how}', '실행 중에 서비스가 종료되었습니다: {how}'],
  ['setup() took longer than setupTimeout', 'setup()이 setupTimeout보다 오래 걸렸습니다'],
  ['teardown() took longer than teardownTimeout', 'teardown()이 teardownTimeout보다 오래 걸렸습니다'],
  [
    'the script threw in its init code, setup() or teardown()',
    '스크립트의 초기화 코드, setup() 또는 teardown()에서 예외가 났습니다',
  ],
  ['the script called exec.test.fail()', '스크립트가 exec.test.fail()을 호출했습니다'],
  ['a threshold was crossed', '임계값을 넘었습니다'],
  ['the test could not be carried out: its log says why', '테스트를 수행하지 못했습니다. 이유는 로그에 있습니다'],
];

const FINDINGS: Entry[] = [
  [
    '{n} of {all} planned arrivals were started (with fewer than 100, none may be missed)',
    '계획된 도착 {all}건 중 {n}건만 시작되었습니다(100건 미만이면 하나도 놓치지 않아야 합니다)',
  ],
  [
    '{n} of {all} planned arrivals were started (at least 99 % must start)',
    '계획된 도착 {all}건 중 {n}건만 시작되었습니다(99 % 이상 시작되어야 합니다)',
  ],
  [
    'the generator ran out of local ports or file descriptors {n} [time|times] (none is allowed)',
    '생성기의 로컬 포트나 파일 디스크립터가 {n}번 모자랐습니다(한 번도 허용되지 않습니다)',
  ],
  [
    'scheduling delay p99 {p99} ms, worst in second {second} (limit: 10 % of the {ms} ms objective)',
    '일정 지연 p99 {p99} ms, {second}초에 가장 심했습니다(한도: 목표 {ms} ms의 10 %)',
  ],
  [
    'scheduling delay p99 {p99} ms, worst in second {second} (warning above 5 % of the {ms} ms objective)',
    '일정 지연 p99 {p99} ms, {second}초에 가장 심했습니다(목표 {ms} ms의 5 %를 넘으면 경고)',
  ],
  [
    'scheduling delay p99 {p99} ms, worst in second {second} (warning above 10 ms)',
    '일정 지연 p99 {p99} ms, {second}초에 가장 심했습니다(10 ms를 넘으면 경고)',
  ],
  [
    '{rest}; on this machine something waited for a core {percent} % of the time',
    within(
      'rest',
      (inner, { percent }) => `${inner}. 이 장비에서는 전체 시간의 ${percent} % 동안 무언가가 코어를 기다렸습니다`,
    ),
  ],
  [
    'starved: its threads were not let run; they computed for {computed}',
    '코어 부족: 스레드가 실행될 기회를 얻지 못했고 {computed} 동안만 계산했습니다',
  ],
  [
    'starved: its threads waited {waited} for a core and computed for {computed}',
    '코어 부족: 스레드가 코어를 {waited} 기다렸고 {computed} 계산했습니다',
  ],
  [
    '{n} of {all} file descriptors were in use (limit: 90 %)',
    '파일 디스크립터 {all}개 중 {n}개를 사용했습니다(한도: 90 %)',
  ],
  [
    '{n} of {all} local ports were in use (limit: 90 %; more source addresses help)',
    '로컬 포트 {all}개 중 {n}개를 사용했습니다(한도: 90 %. 출발지 주소를 늘리면 됩니다)',
  ],
  [
    'shard {shard} used more than 90 % of its core for {s} s on end, until second {second} (limit: 5 s)',
    '샤드 {shard}번이 {second}초까지 {s}초 연속으로 코어의 90 % 넘게 사용했습니다(한도: 5초)',
  ],
  [
    "the script's functions (shard {shard}) wanted more than 90 % of a core for {s} s on end, until second {second} (limit: 5 s): users waited for them, not for the target",
    '스크립트의 함수가(샤드 {shard}번) {second}초까지 {s}초 연속으로 코어의 90 %를 넘게 필요로 했습니다(한도: 5초). 사용자는 대상이 아니라 함수를 기다렸습니다',
  ],
];

const HINTS: Entry[] = [
  [
    'results unreliable: the load generator ran out of local ports or file descriptors; raise `ulimit -n`, or spread connections over several local addresses (`--source-address`)',
    '결과를 신뢰할 수 없습니다. 부하 생성기의 로컬 포트나 파일 디스크립터가 모자랐습니다. `ulimit -n`을 올리거나 연결을 여러 로컬 주소로 나누세요(`--source-address`)',
  ],
  [
    'results unreliable: the load generator fell behind; {helps}',
    within('helps', inner => `결과를 신뢰할 수 없습니다. 부하 생성기가 뒤처졌습니다. ${inner}`),
  ],
  [
    'it was starved, not overloaded: stop what else runs on this machine, give it cores of its own (`taskset`, a higher CPU limit of its container), or use another machine',
    '과부하가 아니라 코어 부족입니다. 이 장비의 다른 작업을 멈추거나, 전용 코어를 주거나(`taskset`, 컨테이너의 CPU 한도 상향), 다른 장비를 쓰세요',
  ],
  [
    "its cores had time left: spread what is planned for the same instant (jitter in `think` or `pace`), or ask for no less than this machine's timers can tell",
    '코어에는 여유가 있었습니다. 같은 순간에 몰린 계획을 나누거나(`think`나 `pace`의 지터), 이 장비의 타이머가 구분할 수 있는 것보다 촘촘한 목표를 피하세요',
  ],
  [
    'the target limits requests: raise the limit where it is set, let users come from more addresses or accounts, or send less',
    '대상이 요청 수를 제한합니다. 설정된 곳에서 한도를 올리거나, 사용자를 더 많은 주소나 계정으로 나누거나, 덜 보내세요',
  ],
  [
    'lower the load per shard, add shards, or use a faster or idle machine',
    '샤드당 부하를 낮추거나, 샤드를 늘리거나, 더 빠르거나 한가한 장비를 쓰세요',
  ],
  [
    '[1 copy belongs to a message|{n} copies belong to messages] the target never acknowledged: not counted as lost',
    ({ n = '1' }) => `사본 ${n}개는 대상이 확인 응답을 하지 않은 메시지의 것이라 유실로 세지 않았습니다`,
  ],
  [
    'no copy was owed to anybody: did the receivers join the room the messages went to?',
    '받아야 할 사본이 하나도 없었습니다. 수신자가 메시지를 보낸 방에 들어갔는지 확인하세요',
  ],
  [
    'no copy was owed to anybody: all copies fell within `settle` (default 100 ms) of a join or leave: let users think before they send',
    '받아야 할 사본이 하나도 없었습니다. 모든 사본이 입장·퇴장 뒤 `settle`(기본 100 ms) 안에 있었습니다. 보내기 전에 사용자를 잠시 쉬게 하세요(think)',
  ],
  [
    "every lost copy was the sender's own: if the target sends to everybody but the sender (`socket.to(room).emit`), set `delivery: { echo: false }`",
    '유실된 사본은 모두 보낸 사람 자신의 것입니다. 대상이 보낸 사람을 빼고 보낸다면(`socket.to(room).emit`) `delivery: { echo: false }`로 설정하세요',
  ],
  [
    "{n} of {all} lost copies [was|were] sent within a second of the receiver's join, before anything reached it: a target may say that somebody is in before it is so; `settle: 1` (`delivery`) leaves that second out",
    '유실된 사본 {all}개 중 {n}개는 수신자가 입장한 뒤 1초 안에, 아무것도 받기 전에 보낸 것입니다. 대상이 실제로 입장시키기 전에 입장했다고 답할 수 있습니다. `settle: 1`(`delivery`)로 두면 그 1초는 빼고 셉니다',
  ],
  [
    '{n} of {all} lost copies [was|were] the last ones their receivers were owed, and nothing came after them: a backlog or a dead target; a longer `drain` (`delivery`) tells whether they were only late',
    '유실된 사본 {all}개 중 {n}개는 수신자가 마지막으로 받아야 할 것이었고 그 뒤로 아무것도 오지 않았습니다. 밀린 사본이 많거나 대상이 죽었습니다. `drain`(`delivery`)을 늘리면 늦었을 뿐인지 알 수 있습니다',
  ],
  [
    '{n} of {all} lost copies [was|were] of messages that reached nobody: the target had not read them when the `drain` (`delivery`) was over, or dropped them before it sent a copy',
    '유실된 사본 {all}개 중 {n}개는 아무에게도 닿지 않은 메시지의 것입니다. `drain`(`delivery`)이 끝날 때까지 대상이 읽지 못했거나 사본을 보내기 전에 버렸습니다',
  ],
  [
    "{n} of {all} lost copies [was|were] left out between others that arrived: does the target drop copies when a client's queue is full?",
    '유실된 사본 {all}개 중 {n}개는 도착한 다른 사본들 사이에서 빠졌습니다. 클라이언트의 큐가 가득 차면 대상이 사본을 버리는지 확인하세요',
  ],
  [
    "nobody received a message with a stamp: does the target send on what this event or destination brings, with its text, and is the script's `room` the room users really join? A `match` in `acknowledge` shows what it answers",
    '스탬프가 있는 메시지를 받은 사용자가 없습니다. 대상이 이 이벤트나 목적지로 온 내용을 그대로 다시 보내는지, 스크립트의 `room`이 사용자가 실제로 들어가는 방인지 확인하세요. `acknowledge`의 `match`로 대상의 응답을 볼 수 있습니다',
  ],
  [
    "nobody received what was owed to it: what came was near a join or leave, the sender's own (`echo: false`), or of another run",
    '받아야 할 것을 받은 사용자가 없습니다. 도착한 것은 입장·퇴장 무렵이거나, 보낸 사람 자신의 것이거나(`echo: false`), 다른 실행의 것입니다',
  ],
  [
    "messages came only to users outside the room: is the script's `room` the room users really join?",
    '메시지가 방 밖의 사용자에게만 도착했습니다. 스크립트의 `room`이 사용자가 실제로 들어가는 방인지 확인하세요',
  ],
  [
    '{n} of {all} HTTP responses [was|were] server errors ({share}); they fail a run by a threshold on `{metric}.<code>` or by `--fail-on-status any`',
    'HTTP 응답 {all}개 중 {n}개가 서버 오류였습니다({share}). `{metric}.<code>` 임계값이나 `--fail-on-status any`를 쓰면 실행이 실패합니다',
  ],
  [
    '{n} of {all} HTTP responses [was|were] client errors ({share}); they fail a run by a threshold on `{metric}.<code>` or by `--fail-on-status any`',
    'HTTP 응답 {all}개 중 {n}개가 클라이언트 오류였습니다({share}). `{metric}.<code>` 임계값이나 `--fail-on-status any`를 쓰면 실행이 실패합니다',
  ],
  [
    'check the path and the credentials; to ask for such a status: `expect: { statusCode: 404 }`, a threshold on `{metric}.404`, or `--fail-on-status never`',
    '경로와 자격 증명을 확인하세요. 이런 상태가 의도한 것이라면 `expect: { statusCode: 404 }`, `{metric}.404` 임계값, `--fail-on-status never`를 쓰세요',
  ],
  [
    '{n} [stamp was|stamps were] drawn and not seen in what was sent: a stamp must leave as it is, in a message or in the body of a request',
    '스탬프 {n}개를 만들었지만 보낸 내용에 없었습니다. 스탬프는 메시지나 요청 본문에 그대로 들어가야 합니다',
  ],
];

/** By failure; each comes after its code. */
const OF_FAILURES: Entry[] = [
  [
    "check the host in `target` and this machine's resolver",
    '`target`의 호스트와 이 장비의 이름 해석 설정을 확인하세요',
  ],
  [
    'is the target running and listening on this address and port?',
    '대상이 실행 중이고 이 주소와 포트에서 대기하는지 확인하세요',
  ],
  [
    "look at the target's listen backlog (ListenOverflows) and at firewalls that drop silently",
    '대상의 대기열(ListenOverflows)과 조용히 버리는 방화벽을 확인하세요',
  ],
  ['check the route to the target from this machine', '이 장비에서 대상까지의 경로를 확인하세요'],
  [
    'raise `ulimit -n`, or spread connections over several local addresses',
    '`ulimit -n`을 올리거나 연결을 여러 로컬 주소로 나누세요',
  ],
  [
    'the example has the reason; certificates are not checked with `-k`, or `tls: { rejectUnauthorized: false }`',
    '이유는 사례에 있습니다. 인증서 검사를 끄려면 `-k`, `tls: { rejectUnauthorized: false }`',
  ],
  [
    'does the port speak TLS? if not: `http://` or `ws://`',
    '이 포트가 TLS를 쓰는지 확인하세요. 아니라면 `http://`나 `ws://`를 쓰세요',
  ],
  [
    'have this machine trust it (`SSL_CERT_FILE=FILE.pem`), or do not check: `-k`, `tls: { rejectUnauthorized: false }`',
    UNTRUSTED,
  ],
  ["look at this machine's clock, too; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`", CLOCK],
  [
    'call the target by a name of its certificate; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`',
    '인증서에 있는 이름으로 대상을 부르세요. 그래도 시험하려면 `-k`, `tls: { rejectUnauthorized: false }`',
  ],
  ['check path, token and Origin of the handshake', '핸드셰이크의 경로, 토큰, Origin을 확인하세요'],
  [
    "the example has the answer's beginning; a status that says nothing new belongs in a `poll` step's `empty`",
    '사례에 응답의 앞부분이 있습니다. 새 내용이 없다는 뜻의 상태는 `poll` 단계의 `empty`에 넣으세요',
  ],
  [
    "the example carries the server's reason; check the `auth` payload and the namespace's name",
    '사례에 서버가 말한 이유가 있습니다. `auth` 내용과 네임스페이스 이름을 확인하세요',
  ],
  [
    "the example carries the broker's reason; check login, host and destination",
    '사례에 브로커가 말한 이유가 있습니다. 로그인, 호스트, 목적지를 확인하세요',
  ],
  [
    'raise `http.pool`; if the target answers slowly, that is why its connections are busy',
    '`http.pool`을 늘리세요. 대상의 응답이 느리면 그 때문에 연결이 모두 사용 중인 것입니다',
  ],
  [
    'does the server call the acknowledgement callback of this event, or give receipts for such frames?',
    '서버가 이 이벤트의 확인 콜백을 호출하는지, 이런 프레임에 수신 확인을 보내는지 확인하세요',
  ],
  [
    'if nothing is ever answered: does the port speak TLS (`https://`, `wss://`)?',
    '응답이 전혀 없다면 이 포트가 TLS(`https://`, `wss://`)를 쓰는지 확인하세요',
  ],
  [
    "does the script's engine match what the target speaks on this port and path?",
    '스크립트의 엔진이 이 포트와 경로에서 대상이 쓰는 프로토콜과 맞는지 확인하세요',
  ],
  ['offer in `subprotocols` what the target speaks, or nothing', SUBPROTOCOL],
  [
    'follow the addresses in `Location` by hand; `followRedirect: false` takes the first answer',
    '`Location`의 주소를 직접 따라가 보세요. `followRedirect: false`면 첫 응답을 그대로 씁니다',
  ],
  [
    'the example has its `Location`; `followRedirect: false` takes the answer as it is',
    '사례에 `Location`이 있습니다. `followRedirect: false`면 응답을 그대로 씁니다',
  ],
  [
    'the example shows the beginning of the answer, with secrets masked',
    '사례에 응답의 앞부분이 있습니다(비밀 값은 가림)',
  ],
  [
    "the example shows the target's answer; check the room's name and who may enter it. If the answer means yes, say so by a `match` in `acknowledge`",
    '사례에 대상의 응답이 있습니다. 방 이름과 입장 권한을 확인하세요. 허락을 뜻하는 응답이라면 `acknowledge`의 `match`로 알려 주세요',
  ],
  [
    "the example has the function's name, its message and where it was thrown",
    '사례에 함수 이름, 메시지, 예외가 난 위치가 있습니다',
  ],
  ['every way through the function has to end in done()', '함수의 모든 경로가 done()으로 끝나야 합니다'],
  [
    'does the processor call process.exit, or need more memory (NODE_OPTIONS=--max-old-space-size)?',
    '프로세서가 process.exit를 호출하는지, 메모리가 더 필요한지(NODE_OPTIONS=--max-old-space-size) 확인하세요',
  ],
  [
    '{code}: {hint}',
    ({ code, hint }) => {
      const inner = /^[a-z][a-z0-9_ ]*$/.test(code) ? inKorean(hint) : null;
      return inner === null ? null : `${code}: ${inner}`;
    },
  ],
];

/** What is whole comes before what holds something else. */
export const catalogue: readonly Entry[] = [...REASONS, ...FINDINGS, ...HINTS, ...several, ...sides, ...OF_FAILURES];
