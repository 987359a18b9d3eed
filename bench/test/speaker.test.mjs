import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { Speaker } from '../lib/speaker.mjs';

/** A group that takes what is said, or answers `status`; `heard(n)` resolves once it has heard n words. */
async function group(status = 200) {
  const words = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    let word = '';
    for await (const part of request.setEncoding('utf8')) word += part;
    words.push({ word, at: performance.now() });
    response.writeHead(status).end();
    for (const { n, resolve } of waiting) if (words.length >= n) resolve(words.slice(0, n));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${server.address().port}/notify`, heard: (n) => new Promise((resolve) => waiting.push({ n, resolve })) };
}

test('words are said at their pace, each whole', async () => {
  const { url, heard } = await group();
  const began = performance.now();
  const speaker = new Speaker(url, '{"mark":"…"}', 100);
  const words = await heard(20);
  speaker.end();
  assert.deepEqual([...new Set(words.map(({ word }) => word))], ['{"mark":"…"}']);
  // Word 19 is planned 190 ms after the first; early is wrong on any machine.
  assert.ok(words[19].at - began >= 185, `${words[19].at - began} ms`);
});

test('a speaker that has ended says nothing more', async () => {
  const { url, heard } = await group();
  const speaker = new Speaker(url, '{}', 1000);
  await heard(3);
  speaker.end();
  const { said } = speaker;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(speaker.said, said);
});

test('a word that was refused is told in the end', async () => {
  const { url, heard } = await group(503);
  const speaker = new Speaker(url, '{}', 1000);
  // The ninth goes by a connection on which an answer has been read.
  await heard(9);
  assert.throws(() => speaker.end(), /a word could not be said: it was answered 503/);
});
