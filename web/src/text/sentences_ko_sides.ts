// Korean of what the binary says of two sides of runs that it compared. sentences.test.mjs holds it to the source that says them.

import { type Entry, inKorean } from './sentences';

const known = (hole: string) => inKorean(hole) ?? hole;

const WORDS: Entry[] = [
  ['BETTER', '나음'],
  ['WORSE', '나쁨'],
  ['HIGHER', '높음'],
  ['LOWER', '낮음'],
  ['SAME WITHIN {margin}', '{margin} 안에서 같음'],
  ['INCONCLUSIVE', '판정 불가'],
  ['NOT COMPARABLE', '비교 불가'],
];

const HEADLINES: Entry[] = [
  ['{a} and {b} were not run alike: {what} differ', '{a}와(과) {b}의 실행 조건이 다릅니다: {what}'],
  ['no run of one side can be used', '한쪽에는 쓸 수 있는 실행이 하나도 없습니다'],
  [
    '{name} cannot be compared: it is 0 in a run, and 0 has no ratio',
    '{name}은(는) 비교할 수 없습니다. 한 실행에서 0이라 비율을 구할 수 없습니다',
  ],
  ['{name} cannot be compared', '{name}은(는) 비교할 수 없습니다'],
  ['{name}: {b} is {change}, {n} [run|runs] a side', '{name}: {b}은(는) {change}, 각 {n}회'],
  ['{name}: {b} is {change}, {n} [run|runs] against {m}', '{name}: {b}은(는) {change}, {n}회 대 {m}회'],
];

const REMARKS: Entry[] = [
  ['{differs} (as was said)', '{differs}(바꾼 것으로 지정함)'],
  ['{differs}; if that is what was changed: --across {what}', '{differs}. 일부러 바꾼 것이라면 --across {what}'],
  [
    '{differs}; the runs of a side must have one {what}: name only those',
    '{differs}. 한쪽의 실행들은 {what}이(가) 하나여야 합니다. 그런 실행만 지정하세요',
  ],
  [
    '{n} of {all} [run|runs] of {a}, {m} of {each} [run|runs] of {b}: what they asked for did not hold',
    '{a}의 실행 {all}회 중 {n}회, {b}의 실행 {each}회 중 {m}회: 스크립트가 요구한 것을 지키지 못했습니다',
  ],
  [
    "{run}: INVALID: its figures are the load generator's, not the target's",
    '{run}: INVALID. 대상이 아니라 부하 발생기의 수치입니다',
  ],
  ['{run}: it was interrupted before its plan was done', '{run}: 계획을 다 마치기 전에 중단되었습니다'],
  ['{run}: it was cut off', '{run}: 도중에 끊겼습니다'],
  ['and {n} more [run|runs]', '외 {n}회'],
  ['most runs of a side have no figure {name}', '한쪽의 대부분 실행에 {name} 수치가 없습니다'],
  [
    '{name} is judged without {runs}, which lack it',
    ({ name, runs }) => `${name}은(는) 이 수치가 없는 실행을 빼고 판정했습니다: ${runs}`,
  ],
  [
    '{name} is 0 in a run, and has no ratio: it is not compared',
    '{name}은(는) 한 실행에서 0이라 비율을 구할 수 없어 비교하지 않았습니다',
  ],
  [
    'decide by a figure that is 0 in no run: --primary, e.g. a higher quantile than {name}',
    '어느 실행에서도 0이 아닌 수치로 판정하세요: --primary, 예를 들어 {name}보다 높은 분위수',
  ],
  [
    'runs that vary as these do show a change {size} nine times in ten',
    ({ size }) => `이만큼 흔들리는 실행들로는 열 번 중 아홉 번 ${known(size)} 변화를 알아볼 수 있습니다`,
  ],
  ['to {n} times as much', '{n}배의'],
  [
    'fewer than {n} runs a side decide nothing; {advice}',
    ({ n, advice }) => `각 ${n}회 미만으로는 판정할 수 없습니다. ${known(advice)}`,
  ],
  [
    'about {n} runs a side would decide it four times in five, if they vary as these do',
    '지금처럼 흔들린다면 각 {n}회쯤 실행해야 다섯 번 중 네 번 판정할 수 있습니다',
  ],
  ['a few more runs a side would decide it', '각각 몇 회만 더 실행하면 판정할 수 있습니다'],
  [
    'not even {n} runs a side would decide it: make longer runs, or a wider --margin',
    '각 {n}회를 실행해도 판정할 수 없습니다. 더 오래 실행하거나 --margin을 넓히세요',
  ],
  [
    'one run says nothing of how runs differ: make at least {n} a side, in turn; ten show a change of 10 % where runs vary by 5 %',
    '한 번의 실행으로는 실행끼리 얼마나 다른지 알 수 없습니다. 번갈아 각 {n}회 이상 실행하세요. 실행이 5 % 흔들린다면 10회로 10 %의 변화를 알아볼 수 있습니다',
  ],
  [
    'the {n} other [figure|figures] are judged together (Holm); the first one decides',
    '다른 수치 {n}개는 함께 보정하여(Holm) 판정합니다. 결정은 첫 수치로 합니다',
  ],
  ['of {size} %', '{size} %의'],
  ['of {size} points', '{size} 포인트의'],
  ['differs', '다른 조건'],
  ['failed', '실패'],
  ['sees', '알아볼 수 있는 변화'],
  ['next', '다음 단계'],
  ['note', '참고'],
];

export const sides: readonly Entry[] = [...WORDS, ...HEADLINES, ...REMARKS];
