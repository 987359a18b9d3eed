// Sentences of the binary in Korean: every one that its sources have is in the catalogue, and the catalogue has no other.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from '../load.mjs';

const { catalogue } = await load('text/sentences_ko.ts');
const { inKorean } = await load('text/sentences.ts');

const source = path =>
  readFileSync(new URL(`../../../crates/${path}`, import.meta.url), 'utf8').split('#[cfg(test)]\nmod tests {')[0];
const LITERAL = /"((?:[^"\\]|\\.)*)"/gs;

/** What stands between the holes of a format string, as parts of a sentence. */
function pieces(format) {
  const plain = format
    .replace(/\\\n\s*/g, '')
    .replaceAll('\\"', '"')
    .replaceAll('\\n', '\n')
    .replaceAll('{{', '\u0001')
    .replaceAll('}}', '\u0002');
  return parts(plain.split(/\{[^{}]*\}/)).map(part => part.replaceAll('\u0001', '{').replaceAll('\u0002', '}'));
}

/** Parts of three words or more: what is shorter is said in many places. */
function parts(fixed) {
  const all = fixed
    .flatMap(piece => piece.split(/[()]|[;:?]\s/))
    .map(part => part.replace(/^[\s.;:`]+|[\s.;:`]+$/g, ''));
  return all.filter(part => part.split(/\s+/).filter(word => /[a-z]{2}/i.test(word)).length >= 3);
}

const literals = (text, pattern = LITERAL) => [...text.matchAll(pattern)].map(([, literal]) => literal);
const code = text => text.replace(/^\s*\/\/.*$/gm, '');
const between = (text, from, to) => text.slice(text.indexOf(from), text.indexOf(to, text.indexOf(from)));

const verdict = source('measure/src/verdict.rs');

const search = source('sonagi/src/capacity/search.rs');
const capacity = source('report/src/capacity.rs');
const choice = source('report/src/choice.rs');
const comparison = source('report/src/comparison.rs');
const matrix = source('report/src/matrix.rs');
const table = source('report/src/matrix/table.rs');
const fingerprint = source('report/src/matrix/fingerprint.rs');

const saying = [
  // Why nothing was owed is told by the console alone.
  ...literals(code(verdict.replace(between(verdict, 'pub fn nothing_owed', '\n}\n'), ''))),
  // What a script language's settings are called in them.
  ...literals(between(source('artillery/src/names.rs'), 'pub const NAMING', '};')),
  ...literals(between(source('measure/src/thresholds.rs'), 'fn evaluate(', '\n}\n')),
  ...literals(code(source('measure/src/health.rs'))),
  ...literals(code(source('measure/src/summary/service.rs'))),
  ...literals(code(source('measure/src/outcome/failure.rs')), /Some\(\s*"((?:[^"\\]|\\.)*)"/gs),
  ...literals(between(source('k6/src/run/ending.rs'), 'fn reason(self)', '\n    }\n')),
  ...literals(between(source('k6/src/summary/delivery.rs'), 'fn said(', '\n}\n')),
  ...literals(between(source('k6/src/summary.rs'), 'fn unlimited_faults', '\n    }\n')),
  ...literals(between(source('k6/src/summary.rs'), 'fn missing_in_outputs', '\n    }\n')),
  ...literals(between(source('sonagi/src/languages.rs'), 'fn unjudged(', '\n}\n')),
  ...literals(between(search, 'fn as_counted(', '\n    }\n')),
  ...literals(between(search, 'fn cut_off(', '\n    }\n')),
  ...literals(between(search, 'fn service_ended(', '\n    }\n')),
  ...literals(between(search, 'fn too_few(', '\n}\n')),
  ...literals(between(source('sonagi/src/capacity/trials.rs'), 'let evidence = match', '\n        };\n')),
  ...literals(between(capacity, 'fn budget(', 'fn tone(')),
  ...literals(between(capacity, 'pub fn verdict(', '/// The loads that were tried')),
  ...literals(between(capacity, 'fn judged(', '/// The titles of')),
  // The page says the best, what to take and the edge in words of its own.
  ...literals(between(choice, 'choice.figure else', 'let mut others')),
  ...literals(between(choice, 'fn why_unjudged(', '\n}\n')),
  ...literals(between(choice, 'let unjudged =', '\n}\n')),
  ...literals(between(choice, 'fn undecided(', '\n}\n')),
  ...literals(between(choice, 'fn drift(', '\n}\n')),
  ...literals(between(matrix, 'pub fn verdict(', '\n    }\n')),
  ...literals(between(matrix, 'fn remarks(', '\n    }\n')),
  ...literals(between(fingerprint, 'fn sentence(', '\n}\n')),
  ...literals(between(fingerprint, 'fn frequency(', '\n}\n')),
  ...literals(between(comparison, 'fn headline(', '/// `B is')),
  ...literals(code(comparison.slice(comparison.indexOf('fn sentences(')))),
  ...literals(between(source('verdict/src/compare/observation.rs'), 'fn why(', '\n    }\n')),
  ...literals(between(table, 'const MEDIANS', '/// The first, and those')),
  ...literals(between(table, 'fn legend(', '\n}\n')),
].flatMap(pieces);

const CHOICE = /\[([^\]|]*)\|([^\]]*)\]/g;
const sentences = catalogue.map(([english]) => english);

test('every sentence of the binary is in the catalogue', () => {
  const known = ['$1', '$2'].flatMap(choice => sentences.map(english => english.replace(CHOICE, choice))).join('\n');
  assert.ok(saying.length > 70, `${saying.length} found`);
  assert.deepEqual(
    saying.filter(part => !known.includes(part)),
    [],
  );
});

test('the catalogue has no sentence that the binary does not say', () => {
  const said = saying.join('\n');
  const fixed = sentences.flatMap(english => parts(english.replace(CHOICE, '{}').split(/\{\w*\}/)));
  assert.deepEqual(
    fixed.filter(part => !said.includes(part)),
    [],
  );
});

test('sentences are said in Korean with what belongs to them', () => {
  for (const [sentence, korean] of [
    ['35 of 14,256 expected deliveries were lost (0.2 %)', '받아야 할 사본 14,256개 중 35개가 유실되었습니다(0.2 %)'],
    ['1 of 3 expected deliveries was lost (33.3 %)', '받아야 할 사본 3개 중 1개가 유실되었습니다(33.3 %)'],
    [
      '2 of 40 users failed (5.0 %); most frequent error: timeout in emit sendMessage (2)',
      '사용자 40명 중 2명이 실패했습니다(5.0 %). 가장 잦은 오류: timeout, emit sendMessage (2회)',
    ],
    ['until then: all 9 expected deliveries received', '그때까지: 받아야 할 사본 9개가 모두 도착했습니다'],
    [
      'not strict, but the threshold `a < 1` failed: a was not measured',
      '엄격하지 않은 조건이지만 임계값 `a < 1` 위반: a 측정값 없음',
    ],
    [
      'starved: its threads waited 1.20 s for a core and computed for 0.50 s; on this machine something waited for a core 40 % of the time',
      '코어 부족: 스레드가 코어를 1.20 s 기다렸고 0.50 s 계산했습니다. 이 장비에서는 전체 시간의 40 % 동안 무언가가 코어를 기다렸습니다',
    ],
    [
      '2 duplicates; only a threshold makes that a failure of the test',
      '중복된 사본 2개. 임계값이 있어야 테스트 실패로 칩니다',
    ],
    [
      'the threshold `a < 1` failed and ended the run after 3.5 s: a = 2',
      '임계값 `a < 1` 위반으로 3.5초 뒤 실행을 끝냈습니다: a = 2',
    ],
    [
      'no user was started: `before` failed at GET /: timeout',
      '시작된 사용자가 없습니다. `before`가 GET /에서 실패했습니다: timeout',
    ],
    ['no user was started: `before` failed: timeout', '시작된 사용자가 없습니다. `before`가 실패했습니다: timeout'],
    ['1,730 users completed', '사용자 1,730명이 끝까지 마쳤습니다'],
    ['1 iteration completed', '반복 1회가 완료되었습니다'],
    ['none of 3 iterations completed', '반복 3회 중 완료된 반복이 없습니다'],
    ['no iteration was started', '시작된 반복이 없습니다'],
    ['3 iterations were stopped in mid-flow, 0 failed', '진행 중이던 반복 3회가 중지되었고 0회가 실패했습니다'],
    ['3 of 5 dogs failed (60.0 %)', null],
    ['closed 1006: something new', null],
    [
      'connect_refused: is the target running and listening on this address and port?',
      'connect_refused: 대상이 실행 중이고 이 주소와 포트에서 대기하는지 확인하세요',
    ],
    [
      '1 copy belongs to a message the target never acknowledged: not counted as lost',
      '사본 1개는 대상이 확인 응답을 하지 않은 메시지의 것이라 유실로 세지 않았습니다',
    ],
    [
      '839/s holds (confirmed 3 of 3), 882/s does not (failed 3 of 3); width 4.9\u00a0%',
      '초당 839까지 견딥니다(3회 중 3회 확인). 초당 882은(는) 못 견딥니다(3회 중 3회 실패). 폭 4.9\u00a0%',
    ],
    [
      'at least 40 users, generator-limited: 40 users holds (confirmed 3 of 3)',
      '적어도 사용자 40명, 부하 발생기의 한계: 3회 중 3회 확인했습니다',
    ],
    [
      'at least 40 users, generator-limited (descriptors): 40 users holds (confirmed 3 of 3)',
      '적어도 사용자 40명, 부하 발생기의 한계(descriptors): 3회 중 3회 확인했습니다',
    ],
    ['not found: the budget of 15 min is used up', '찾지 못했습니다: 주어진 시간 15 min을 다 썼습니다'],
    [
      'so far: size 3 held (unconfirmed), 1,200/s does not (failed 2 of 2)',
      '지금까지: size 3 견딤(미확인), 초당 1,200 못 견딤(2회 중 2회 실패)',
    ],
    ['held 3 of 4, lower', '4회 중 3회 견딤, 하한'],
    [
      'pool 2: 5 runs of each decide nothing; make at least 6 (× 0.9 to 1.4)',
      'pool 2: 각 5회로는 아무것도 판정할 수 없습니다. 적어도 6 (× 0.9 to 1.4)회 실행하세요',
    ],
    [
      '2 to 4 s cut from 3 of 9 runs, no steady state in 1 of 9 runs',
      '실행 9회 중 3회에서 2~4초를 잘라 냄, 실행 9회 중 1회는 정상 상태에 이르지 못함',
    ],
    ['SAME WITHIN ±5 %', '±5 % 안에서 같음'],
    [
      'operations.list.response_ms.p99: B is 1.230 × A (1.120–1.350), 10 runs a side',
      'operations.list.response_ms.p99: B은(는) 1.230 × A (1.120–1.350), 각 10회',
    ],
    ['load: a against b (as was said)', 'load: a against b(바꾼 것으로 지정함)'],
    [
      'fewer than 5 runs a side decide nothing; a few more runs a side would decide it',
      '각 5회 미만으로는 판정할 수 없습니다. 각각 몇 회만 더 실행하면 판정할 수 있습니다',
    ],
    ['a sentence of a later version', null],
  ]) {
    assert.equal(inKorean(sentence), korean);
  }
});
