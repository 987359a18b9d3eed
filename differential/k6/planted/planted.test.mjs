// The comparison sees what it is there to see: k6 beside k6 with a difference, each in the aspect it is of.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { finish } from '../../../interop/support/process.mjs';
import { install } from '../lib/tools.mjs';

const RUN = new URL('../run.mjs', import.meta.url).pathname;
const WRAPPED = new URL('./k6.mjs', import.meta.url).pathname;
const SCRIPT = 'summary/whole';
const LASTING = 'lifecycle/lasting';
const HOSTS = 'options/hosts-ports';

// k6 is built the first time, which may take longer than a test is given.
before(install);

/** What the table says of a case of which the other side has this difference. */
async function seen(planted, script = SCRIPT) {
  const { code, stdout, stderr } = await finish(process.execPath, [RUN, script], { env: { SONAGI_BIN: WRAPPED, PLANTED: planted }, timeout: 120_000 });
  const [, verdict] = stdout.match(/^\S+ {2}(.*)$/m) ?? [undefined, stderr];
  return { code, verdict };
}

test('k6 is the same as k6', { timeout: 120_000 }, async () => {
  for (const script of [SCRIPT, LASTING, HOSTS, 'ws/echo', 'lifecycle/order', 'thresholds/submetrics']) assert.deepEqual(await seen('', script), { code: 0, verdict: 'same' }, script);
});

const EXPECTED = {
  'a header is lost': ['requests', 'spelling'],
  'a body is another': ['requests'],
  'a request is lost': ['requests', 'summary http_reqs', 'points http_reqs'],
  'connections are not kept': ['requests', 'spelling'],
  'it calls itself otherwise': ['agents'],
  'the exit code is another': ['exit'],
  'a check is lost': ['summary root_group'],
  'a check failed': ['summary root_group'],
  'a count is off by one': ['summary http_reqs'],
  'a percentile is wrong': ['summary own'],
  'a metric is lost': ['summary http_req_waiting'],
  'a threshold is not told': ['summary own'],
  'a sample is lost': ['points own'],
  'a tag is lost': [/^points /],
  'a metric is of another kind': [/^metric /],
  'a line of the console is lost': ['console'],
  'an exception says otherwise': ['thrown'],
  'a warning is lost': ['log warning'],
  'the plan says otherwise': ['plan'],
  'an iteration is not told': ['ended'],
  'a line of the summary is lost': ['text'],
  'the layout is another': ['text'],
  'a file is not left': ['left left.csv'],
  'it takes its time': ['lasted'],
  'setup takes a second more': ['rate iterations', 'rate http_reqs', 'duration running', 'duration state.json'],
  'teardown is not counted': ['duration state.json'],
  'a rate leaves out setup': ['rate iterations'],
  'users are not counted in setup': ['users vus'],
  'users are counted once too often': ['users vus'],
  'the fewest users are others': ['users vus'],
  'a host loses its capitals': ['requests'],
  'a host loses its port': ['requests'],
  'an address is not named': ['console'],
  'it does nothing': ['requests', 'console', 'left left.csv'],
};

/** The script a difference is planted in, where it is another. */
const IN = {
  'setup takes a second more': LASTING,
  'teardown is not counted': LASTING,
  'a rate leaves out setup': LASTING,
  'users are not counted in setup': LASTING,
  'users are counted once too often': LASTING,
  'the fewest users are others': LASTING,
  'a host loses its capitals': HOSTS,
  'a host loses its port': HOSTS,
  'an address is not named': 'http/errors-dial',
};

for (const [planted, aspects] of Object.entries(EXPECTED)) {
  test(`it is seen when ${planted}`, { timeout: 120_000 }, async () => {
    const { code, verdict } = await seen(planted, IN[planted]);
    assert.equal(code, 1, verdict);
    const told = verdict.replace('DIFFERS: ', '').split(', ');
    for (const aspect of aspects) assert.ok(told.some((one) => (aspect instanceof RegExp ? aspect.test(one) : one === aspect)), `${aspect} in ${verdict}`);
    // What is planted in one place is seen in no other.
    if (aspects.length === 1) assert.equal(told.length, 1, verdict);
  });
}
