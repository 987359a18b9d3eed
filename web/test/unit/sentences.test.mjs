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

const saying = [
  // Why nothing was owed is told by the console alone.
  ...literals(code(verdict.replace(between(verdict, 'pub fn nothing_owed', '\n}\n'), ''))),
  // What a script language's settings are called in them.
  ...literals(between(source('artillery/src/names.rs'), 'pub const NAMING', '};')),
  ...literals(between(source('measure/src/thresholds.rs'), 'fn evaluate(', '\n}\n')),
  ...literals(code(source('measure/src/health.rs'))),
  ...literals(code(source('measure/src/summary/service.rs'))),
  ...literals(code(source('measure/src/outcome/table.rs')), /Some\(\s*"((?:[^"\\]|\\.)*)"/gs),
  ...literals(between(source('k6/src/run/ending.rs'), 'fn reason(self)', '\n    }\n')),
  ...literals(between(source('k6/src/summary/delivery.rs'), 'fn said(', '\n}\n')),
  ...literals(between(source('k6/src/summary.rs'), 'fn unlimited_faults', '\n    }\n')),
  ...literals(between(source('sonagi/src/languages.rs'), 'fn unjudged(', '\n}\n')),
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
    ['closed 1006: something new', null],
    [
      'connect_refused: is the target running and listening on this address and port?',
      'connect_refused: 대상이 실행 중이고 이 주소와 포트에서 대기하는지 확인하세요',
    ],
    [
      '1 copy belongs to a message the target never acknowledged: not counted as lost',
      '사본 1개는 대상이 확인 응답을 하지 않은 메시지의 것이라 유실로 세지 않았습니다',
    ],
    ['a sentence of a later version', null],
  ]) {
    assert.equal(inKorean(sentence), korean);
  }
});
