// Korean of what the binary says of several runs together: of searches for a capacity, of matrices. sentences.test.mjs holds
// it to the sources that say them.

import { type Entry, inKorean } from './sentences';

/** `840/s`, `12 users`, `size 40`: a load as people read it. */
function load(text: string): string {
  const [, rate] = /^([\d,]+)\/s$/.exec(text) ?? [];
  const [, users] = /^([\d,]+) users?$/.exec(text) ?? [];
  if (rate !== undefined) return `초당 ${rate}`;
  return users === undefined ? text : `사용자 ${users}명`;
}

/** A sentence whose holes that are loads read as such. */
function ofLoads(korean: string): Entry[1] {
  return holes =>
    korean.replace(/\{(\w+)\}/g, (_, hole) => (hole.startsWith('load') ? load(holes[hole]) : holes[hole]));
}

/** The end of a service in a trial, or after it. */
function serviceEnded({ when, load: at, how, path }: Record<string, string>): string {
  const where = when === 'after' ? '시행 뒤에' : '시행 중에';
  const log = path === undefined ? '' : `. 출력은 ${path}에 있습니다`;
  return `${load(at)} ${where} 서비스가 종료되었습니다: ${how}${log}\n힌트: \`--fresh\`는 시행마다 서비스를 새로 시작합니다`;
}

/** What stands in a hole, in Korean where it is known. */
const known = (hole: string) => inKorean(hole) ?? hole;

/** Parts of a hole, all of which are known; null otherwise. */
function all(hole: string, between: string): string | null {
  const parts = hole.split(between).map(inKorean);
  return parts.every(part => part !== null) ? parts.join(between) : null;
}

const SEARCHES: Entry[] = [
  [
    '{load} holds (confirmed {n} of {of}), {loadAbove} does not (failed {m} of {ofThese}); width {width}',
    ofLoads(
      '{load}까지 견딥니다({of}회 중 {n}회 확인). {loadAbove}은(는) 못 견딥니다({ofThese}회 중 {m}회 실패). 폭 {width}',
    ),
  ],
  [
    'at least {load}: {loadSame} holds (confirmed {n} of {of}), and the range ends there',
    ofLoads('적어도 {load}: {of}회 중 {n}회 확인했고, 범위가 거기서 끝납니다'),
  ],
  [
    'below {load}: the lowest load of the range {failed}',
    holes => `${load(holes.load)} 미만: 범위에서 가장 낮은 부하입니다. ${known(holes.failed)}`,
  ],
  ['does not (failed {m} of {of})', '못 견딤({of}회 중 {m}회 실패)'],
  [
    'at least {load}, generator-limited: {loadSame} holds (confirmed {n} of {of})',
    ofLoads('적어도 {load}, 부하 발생기의 한계: {of}회 중 {n}회 확인했습니다'),
  ],
  [
    'at least {load}, generator-limited ({limit}): {loadSame} holds (confirmed {n} of {of})',
    ofLoads('적어도 {load}, 부하 발생기의 한계({limit}): {of}회 중 {n}회 확인했습니다'),
  ],
  ['not found: {why}', ({ why }) => `찾지 못했습니다: ${known(why)}`],
  ['the search was cut off', '탐색이 도중에 끊겼습니다'],
  ['the budget of {time} is used up', '주어진 시간 {time}을 다 썼습니다'],
  ['the generator fell behind at every load', '모든 부하에서 부하 발생기가 뒤처졌습니다'],
  [
    'the trials have too few events to assert the expression',
    '시행에서 나온 이벤트가 너무 적어 조건을 확인할 수 없습니다',
  ],
  [
    'the target did not come back to its lowest load after a trial',
    '시행이 끝난 뒤 대상이 가장 낮은 부하조차 다시 견디지 못했습니다',
  ],
  ['the search was interrupted', '탐색을 중단했습니다'],
  ['a trial could not be carried out', '시행 하나를 실행할 수 없었습니다'],
  ['nothing is known yet', '아직 알아낸 것이 없습니다'],
  [
    'so far: {parts}',
    ({ parts }) => {
      const korean = all(parts, ', ');
      return korean === null ? null : `지금까지: ${korean}`;
    },
  ],
  ['{load} holds (confirmed {n} of {of})', ofLoads('{load}까지 견딤({of}회 중 {n}회 확인)')],
  ['{load} does not (failed {m} of {of})', ofLoads('{load} 못 견딤({of}회 중 {m}회 실패)')],
  ['{load} held (unconfirmed)', ofLoads('{load} 견딤(미확인)')],
  ['{load} did not (unconfirmed)', ofLoads('{load} 못 견딤(미확인)')],
  ['operate at {load} ({share})', ofLoads('{load}({share})에서 운영하는 것이 좋습니다')],
  ['limited by: {cause}', '한계의 원인: {cause}'],
  ['after {load}: {time} until latency was as before', ofLoads('{load} 뒤: 지연이 예전으로 돌아오기까지 {time}')],
  ['after {load}: did not recover within {time}', ofLoads('{load} 뒤: {time} 안에 회복하지 못했습니다')],
  ['at once after every load that failed', '실패한 부하 뒤에는 매번 바로 회복했습니다'],
  ['at once after the others', '다른 부하 뒤에는 바로 회복했습니다'],
  [
    'in the first probe ({time}) after every load that failed',
    '실패한 부하 뒤에는 매번 첫 확인 실행({time})에서 회복되어 있었습니다',
  ],
  ['in the first probe ({time}) after the others', '다른 부하 뒤에는 첫 확인 실행({time})에서 회복되어 있었습니다'],
  [
    'no sharp edge: {load} held in {n} of {of} [trial|trials]',
    ofLoads('경계가 뚜렷하지 않습니다: {load} 시행 {of}회 중 {n}회는 견뎠습니다'),
  ],
  [
    'at {load} up to {share} of the copies came behind the deadline, which counts as delivered',
    ofLoads('{load}에서 사본의 최대 {share}이(가) 기한보다 늦게 도착했습니다. 늦어도 전달된 것으로 셉니다'),
  ],
  ['{n} [trial|trials], {used} of {budget}', '시행 {n}회, {budget} 가운데 {used} 사용'],
  ['the service ended: {how}', '서비스가 종료되었습니다: {how}'],
  [
    'the service ended {when} the trial at {load}: {how}; what it printed is in {path}\nhint: `--fresh` starts it anew for each trial',
    serviceEnded,
  ],
  ['the service ended {when} the trial at {load}: {how}\nhint: `--fresh` starts it anew for each trial', serviceEnded],
  [
    'the trial at {load} was stopped when the budget was used up: its users had stayed {time} longer than it\nhint: a user goes on to the end of its flow; a `loop` without `count` ends with the trial (--vary users)',
    ofLoads(
      '주어진 시간을 다 써서 {load} 시행을 멈췄습니다. 사용자들이 시행보다 {time} 더 머물렀습니다\n힌트: 사용자는 흐름의 끝까지 갑니다. `count` 없는 `loop`는 시행과 함께 끝납니다(--vary users)',
    ),
  ],
  [
    '{figure} needs {n} events to be asserted ({counted}), and a trial has {had}\nhint: the script says how long a trial is: make its phases longer, or `--until` less strict',
    '{figure}을(를) 확인하려면 이벤트 {n}개가 필요한데({counted}) 시행 하나에서 {had}개가 나옵니다\n힌트: 시행의 길이는 스크립트가 정합니다. 단계를 더 길게 하거나 `--until`을 느슨하게 하세요',
  ],
  [
    'a trial at {load} would need {time} for enough events to assert {figures}; {longest} is the longest\nhint: raise --from, or make --until less strict',
    ofLoads(
      '{load} 시행으로 {figures}을(를) 확인하려면 {time} 동안 실행해야 하는데, 최대는 {longest}입니다\n힌트: --from을 올리거나 `--until`을 느슨하게 하세요',
    ),
  ],
  ['load', '부하'],
  ['achieved', '달성'],
  ['delivered', '전달'],
  ['generator fell behind', '부하 발생기가 뒤처짐'],
  ['machine was shared', '다른 가상 머신과 나눠 씀'],
  [
    "{share} of this machine's time was stolen; {evidence}",
    '이 머신의 시간 가운데 {share}을(를) 다른 가상 머신이 가져감; {evidence}',
  ],
  ['{verdict}, lower', ({ verdict }) => `${known(verdict)}, 하한`],
  ['{verdict}, upper', ({ verdict }) => `${known(verdict)}, 상한`],
  ['held {n} of {of}', '{of}회 중 {n}회 견딤'],
  ['failed {n} of {of}', '{of}회 중 {n}회 실패'],
];

/** What stands beneath tables of combinations. */
const LEGEND: readonly (readonly [string, string])[] = [
  ['Times in ms.', '시간의 단위는 ms입니다.'],
  ['held/wanted: most users connected at one time.', 'held/wanted: 동시에 연결된 최대 사용자 수.'],
  ['conn: until a user is connected.', 'conn: 사용자가 연결되기까지 걸린 시간.'],
  ['msgs/s: copies that arrived.', 'msgs/s: 도착한 사본 수.'],
  ['fails: failures of all kinds.', 'fails: 모든 종류의 실패.'],
  [
    'http: planned request to answer. 4xx/5xx: share of answers with such a status.',
    'http: 계획한 요청 시각부터 응답까지. 4xx/5xx: 그런 상태 코드로 답한 비율.',
  ],
  ['e2e: planned send to receipt.', 'e2e: 계획한 전송 시각부터 수신까지.'],
  ['B/copy: all bytes received over the copies that arrived.', 'B/copy: 받은 모든 바이트를 도착한 사본 수로 나눈 값.'],
  ["CPU s and MB: the service's.", 'CPU s와 MB: 서비스가 쓴 양.'],
  [
    'most users: at one time; of a run that connects any, those connected.',
    'most users: 동시에 있던 최대 사용자 수. 접속하는 사용자가 있는 실행에서는 접속한 사용자만 셉니다.',
  ],
  ['held: runs that sustained all their users, of those made.', 'held: 모든 사용자를 유지한 실행 수와 전체 실행 수.'],
  [
    'passed: runs that passed and lost nothing, of those made.',
    'passed: 아무것도 잃지 않고 통과한 실행 수와 전체 실행 수.',
  ],
  [
    'Figures are medians over the runs that say something of the target.',
    '수치는 대상에 관해 알려 주는 실행들의 중앙값입니다.',
  ],
];

function legend(text: string): string {
  return LEGEND.reduce((said, [english, korean]) => said.replace(english, korean), text);
}

const CHANGES = new Map([
  ['got slower', '느려졌습니다'],
  ['got faster', '빨라졌습니다'],
  ['changed', '달라졌습니다'],
]);

const MATRICES: Entry[] = [
  [
    '{rest}; {left} not run',
    ({ rest, left }) => {
      const inner = inKorean(rest);
      return inner === null ? null : `${inner}. ${left}회는 실행하지 않았습니다`;
    },
  ],
  ['{rest} with every message delivered', ({ rest }) => `${known(rest)}. 메시지도 모두 전달되었습니다`],
  ['{held} of {n} [run|runs] sustained all users', '실행 {n}회 중 {held}회가 모든 사용자를 유지했습니다'],
  ['{held} of {n} [run|runs] passed', '실행 {n}회 중 {held}회가 통과했습니다'],
  ['no run can be used', '쓸 수 있는 실행이 없습니다'],
  ['most runs of every value have no figure {name}', '어느 값에서나 대부분의 실행에 {name} 수치가 없습니다'],
  ['the runs have no figure in common that could decide', '판정에 쓸 만한 공통 수치가 실행들에 없습니다'],
  [
    '{name} is neither better high nor low: no value is the best',
    '{name}은(는) 높아야 좋은지 낮아야 좋은지 알 수 없어 가장 좋은 값을 고를 수 없습니다',
  ],
  ['no value can be judged by {name}', '{name}(으)로 판정할 수 있는 값이 없습니다'],
  ['{name}: it was not run', '{name}: 실행하지 않았습니다'],
  ['{name}: none of its runs says anything of the target', '{name}: 대상에 관해 알려 주는 실행이 하나도 없습니다'],
  [
    '{name}: {n} of {of} [run|runs] have no {figure}',
    ({ name, n, of, figure }) => `${name}: 실행 ${of}회 중 ${n}회에 ${known(figure)} 수치가 없습니다`,
  ],
  ['figure that could decide', '판정할'],
  [
    '{name}: {figure} is 0 in a run, and 0 has no ratio',
    '{name}: 한 실행에서 {figure}이(가) 0이라 비율을 구할 수 없습니다',
  ],
  [
    '{name}: {n} of {of} [run|runs] lack the figure; the others are judged',
    '{name}: 실행 {of}회 중 {n}회에 이 수치가 없어 나머지로 판정했습니다',
  ],
  [
    '{name}: {n} [run|runs] of each decide nothing; {advice}',
    ({ name, n, advice }) => `${name}: 각 ${n}회로는 아무것도 판정할 수 없습니다. ${known(advice)}`,
  ],
  [
    'about {n} runs of each would decide it four times in five, if they vary as these do{interval}',
    '지금처럼 흔들린다면 각 {n}회쯤 실행해야 다섯 번 중 네 번 판정할 수 있습니다{interval}',
  ],
  ['a few more runs of each would decide it{interval}', '각각 몇 회만 더 실행하면 판정할 수 있습니다{interval}'],
  ['make at least {n}', '적어도 {n}회 실행하세요'],
  [
    'not even {n} runs of each would decide it: make longer ones{interval}',
    '각 {n}회를 실행해도 판정할 수 없습니다. 더 오래 실행하세요{interval}',
  ],
  [
    'the machine {changed} meanwhile: {rest}',
    ({ changed, rest }) => `그동안 장비가 ${CHANGES.get(changed) ?? changed}: ${known(rest)}`,
  ],
  ['none to be seen: {rest}', ({ rest }) => `보이지 않습니다: ${known(rest)}`],
  ['{rest}, more than these differ', ({ rest }) => `${known(rest)}. 그 실행들 사이의 차이보다 큽니다`],
  ['{rest}, no more than these differ', ({ rest }) => `${known(rest)}. 그 실행들 사이의 차이를 넘지 않습니다`],
  [
    'the first combination, run once more at the end, has {change} against its other runs',
    '끝에 한 번 더 실행한 첫 조합은 그 조합의 다른 실행들에 비해 {change}',
  ],
  ['nothing cut', '잘라 낸 것 없음'],
  ['{s} s cut from {n} of {of} [run|runs], {rest}', cut],
  ['{s} s cut from {n} of {of} [run|runs]', cut],
  ['no steady state in {n} of {of} [run|runs], {rest}', unsteady],
  ['no steady state in {n} of {of} [run|runs]', unsteady],
  ['{n} of {of} [run|runs] too short to tell', '실행 {of}회 중 {n}회는 너무 짧아 알 수 없음'],
  [
    '1 of {of} [run|runs] is a report of {tools}: single figures, without their distribution or conditions',
    '실행 {of}회 중 1회는 {tools} 보고서입니다. 분포와 조건 없이 단일 수치만 있습니다',
  ],
  [
    '{n} of {of} [run|runs] are reports of {tools}: single figures, without their distribution or conditions',
    '실행 {of}회 중 {n}회는 {tools} 보고서입니다. 분포와 조건 없이 단일 수치만 있습니다',
  ],
  ['{seed} draws the order of each round', '{seed}이(가) 라운드마다 실행 순서를 정합니다'],
  ["{seed} draws the order of each round and its runs' seeds", '{seed}이(가) 라운드마다 실행 순서와 시드를 정합니다'],
  [
    '{n} of {of} runs began while it was busy: {told}',
    ({ n, of, told }) => `실행 ${of}회 중 ${n}회가 장비가 바쁠 때 시작했습니다: ${busy(told)}`,
  ],
  ['its cores ran at {low} to {high} MHz before the runs', '실행 직전 코어의 동작 주파수는 {low}~{high} MHz였습니다'],
  ['Times in ms.{rest}', ({ rest }) => legend(`Times in ms.${rest}`)],
  ['cause', '원인'],
  ['drift', '변동'],
  ['warm-up', '준비 구간'],
  ['reports', '보고서'],
  ['machine', '장비'],
  ['seed', '시드'],
  ['not judged', '판정 제외'],
  ['missing', '수치 없음'],
  ['open', '미판정'],
  ['left out', '제외'],
];

/** Why runs shared the machine, each with its name before it. */
function busy(told: string): string {
  return told
    .replace(/others use (\S+\s%) of this machine/g, '다른 프로세스가 장비의 $1 사용')
    .replace(/the host gives (\S+\s%) of its time to other guests/g, '호스트가 시간의 $1을(를) 다른 게스트에 할당')
    .replace(/; and (\S+) more$/, ' 외 $1회');
}

function cut({ s, n, of, rest }: Record<string, string>): string {
  const seconds = s.replace(' to ', '~');
  return `실행 ${of}회 중 ${n}회에서 ${seconds}초를 잘라 냄${rest ? `, ${known(rest)}` : ''}`;
}

function unsteady({ n, of, rest }: Record<string, string>): string {
  return `실행 ${of}회 중 ${n}회는 정상 상태에 이르지 못함${rest ? `, ${known(rest)}` : ''}`;
}

/** What is whole comes before what holds something else. */
export const several: readonly Entry[] = [...SEARCHES, ...MATRICES, ...LEGEND];
