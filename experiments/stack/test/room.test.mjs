// The curve has a row a size, of its worst trial, and says what was found no better than it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curve } from '../lib/room_table.mjs';

const trial = (load, outcome, p99_ms, delivered = 1) => ({ load, outcome, p50_ms: p99_ms / 4, p99_ms, delivered });
const SEARCH = {
  until: 'delivery.ratio == 1',
  version: '0.2.0',
  limited_by: null,
  found: { lower: { load: 200 }, upper: { load: 210 } },
  trials: [
    trial(200, 'held', 40),
    trial(100, 'held', 8),
    trial(210, 'missed', 300, 0.99999),
    trial(200, 'held', 60),
    trial(400, 'unreliable', 900, 0.5),
  ],
};

test('a row a size, of its worst trial', () => {
  assert.equal(
    curve(SEARCH),
    `| people | copies a second | delivered | p50 | p99 | trials that held |
| --: | --: | --: | --: | --: | --- |
| 100 | 10,000 | 100 % | 2.0 ms | 8.0 ms | 1 of 1 |
| 200 | 40,000 | 100 % | 15 ms | 60 ms | 2 of 2 |
| 210 | 44,100 | 99.99 % | 75 ms | 300 ms | 0 of 1 |
| 400 | 160,000 | 50.00 % | 225 ms | 900 ms | 0 of 1, 1 limited by the generator |

A room of 200 people holds, 210 do not.
\`delivery.ratio == 1\`, Sonagi 0.2.0.`,
  );
});

test('what was not found is not claimed', () => {
  const bound = (load) => load && { load };
  const found = (lower, upper) => curve({ ...SEARCH, found: { lower: bound(lower), upper: bound(upper) } });
  assert.match(found(null, 100), /No size was confirmed to hold\./);
  assert.match(found(800, null), /A room of 800 people holds, no size above it was confirmed not to\./);
});
