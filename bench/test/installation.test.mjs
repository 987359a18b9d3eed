import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietly } from '../lib/cache.mjs';
import { installAll } from '../lib/installation.mjs';

const there = (name) => ({ name, install: async () => {}, version: () => '1' });
const missing = (name) => ({ ...there(name), install: async () => Promise.reject(new Error('no compiler')) });
const targets = { null: there('null') };

/** Its progress goes to standard error. */
async function quietlyInstalled(tools) {
  const { error } = console;
  console.error = () => {};
  try {
    return await installAll(Object.keys(tools).map((tool) => ({ name: tool, tool })), tools, targets, '/cache');
  } finally {
    console.error = error;
  }
}

test('a peer that cannot be installed is missing, with its reason', async () => {
  const available = await quietlyInstalled({ sonagi: there('sonagi'), k6: missing('k6') });
  assert.equal(available.has({ tool: 'k6' }), false);
  assert.equal(available.missing({ tool: 'k6' }), 'no compiler');
  assert.equal(available.has({ tool: 'sonagi' }), true);
});

test('our own tools failing is an error, the floor no less than Sonagi', async () => {
  for (const own of ['sonagi', 'bare']) await assert.rejects(quietlyInstalled({ [own]: missing(own) }), new RegExp(`^Error: ${own} could not be built: no compiler$`));
});

test('an installation that does not end is ended with all it started', async () => {
  // The grandchild holds the pipe: it would be waited for.
  await assert.rejects(quietly(['sh', '-c', 'sleep 1000 & wait'], { timeout_s: 0.2 }), /ended with SIGKILL/);
});
