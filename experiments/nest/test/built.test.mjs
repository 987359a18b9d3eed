import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { built } from '../lib/built.mjs';
import { stored } from '../lib/passwords.mjs';

let dist;
before(() => (dist = mkdtempSync(join(tmpdir(), 'nest-'))));
after(() => rmSync(dist, { recursive: true }));

test('a service that is not built says how it is', () => {
  assert.throws(() => built('chat', dist), /is not built: .*\nhint: scripts\/setup\.sh experiments$/);
  mkdirSync(join(dist, 'chat'));
  writeFileSync(join(dist, 'chat/main.js'), '');
  assert.equal(built('chat', dist), join(dist, 'chat/main.js'));
});

test('a stored password tells what a login costs, and is safe within quotes of SQL', () => {
  assert.match(stored('1234', { rounds: 10, bytes: 16 }), /^10\$salt\$[0-9a-f]{32}$/);
});
