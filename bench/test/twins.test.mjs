import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twinned } from '../lib/twins.mjs';
import { sonagi } from '../tools/index.mjs';

const target = { url: 'http://127.0.0.1:1' };
const held = { name: 'sonagi, 10k', rounds: 2, ...sonagi.script('idle/sonagi.yml', {}), measure: (_, { latest }) => latest('sonagi, 1k') };
const peer = { name: 'k6', tool: 'k6', rounds: 1, command: () => ({ argv: ['k6'] }) };

test('each row of ours gets a twin that gives the same command to the other binary', () => {
  const [ours, twin, other, ...rest] = twinned([held, peer], '/builds/sonagi');
  assert.deepEqual(rest, []);
  assert.equal(other, peer);
  assert.deepEqual([twin.name, twin.beside, twin.tool], ['sonagi, 10k, before', 'sonagi, 10k', 'sonagi']);
  assert.deepEqual([ours.rounds, twin.rounds], [undefined, undefined]);
  const [argv, same] = [twin, ours].map((one) => one.command({ target }).argv);
  assert.equal(argv[0], '/builds/sonagi');
  assert.equal(same[0], sonagi.BINARY);
  assert.deepEqual(argv.slice(1), same.slice(1));
});

test('what a row reckons from another is reckoned from the twin of that', () => {
  const [ours, twin] = twinned([held], '/builds/sonagi');
  const latest = (name) => ({ 'sonagi, 1k': 1, 'sonagi, 1k, before': 2 })[name];
  assert.deepEqual([ours, twin].map((one) => one.measure({}, { latest })), [1, 2]);
});

test('without another build the rows are as they were', () => {
  assert.deepEqual(twinned([held, peer], undefined), [held, peer]);
});
