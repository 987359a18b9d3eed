import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsOf } from '../lib/metrics.mjs';

const TEXT = `# HELP chat_connections Real-time connections open now.
# TYPE chat_connections gauge
chat_connections{transport="websocket"} 3
chat_connections{transport="sse"} 12
chat_closed{why="too slow"} 4
chat_deliveries_total 1500
`;

test('a metric is read with its labels', () => {
  assert.deepEqual(metricsOf(TEXT, { sse: 'chat_connections{transport="sse"}', slow: 'chat_closed{why="too slow"}', copies: 'chat_deliveries_total' }), { sse: 12, slow: 4, copies: 1500 });
});

test('a metric that is not told is an error, not a nought', () => {
  assert.throws(() => metricsOf(TEXT, { copies: 'chat_copies_total' }), /tells no chat_copies_total/);
});
