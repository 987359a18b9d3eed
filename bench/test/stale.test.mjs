import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readmeText, resultsText } from '../lib/pages.mjs';
import { known, marked } from '../lib/stale.mjs';
import { pages, results } from '../render.mjs';

test('both pages say of a case whose code has changed since that it is stale', () => {
  const [name, ours] = ['ws-echo', 'sonagi'];
  const one = results().filter((result) => result.case === name);
  const [fresh, stale] = [marked(one, () => false), marked(one, () => true)];
  for (const text of [resultsText, (shown) => readmeText(shown, [[name, ours]])]) {
    assert.doesNotMatch(text(fresh), /stale/i);
    assert.match(text(stale), /\[ws-echo\]\([^)]*\) \*\(stale\)\*/);
    assert.match(text(stale), /\*Stale\*/);
  }
});

test('a commit that is not in the history counts as changed', () => {
  const [result] = results();
  assert.equal(marked([{ ...result, commit: '0000000' }])[0].stale, true);
  assert.equal(marked([{ ...result, commit: 'no repository' }])[0].stale, true);
});

test('the pages are what the results and the code make of them', () => {
  // In a clone without history nobody can say what has changed; the pages are held where it is there.
  if (!results().every(({ commit }) => known(commit))) return;
  for (const [path, text] of pages()) assert.equal(readFileSync(path, 'utf8'), text, `${path} is out of date\nhint: node bench/render.mjs`);
});
