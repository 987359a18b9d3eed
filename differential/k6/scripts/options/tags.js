// tags of the test, of a scenario, of a request, of a check, by exec.vu.metrics: which wins
// flags: --tag level=flag --tag flag=1
import http from 'k6/http';
import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { tags: { level: 'options', script: '1' }, scenarios: { a: { executor: 'shared-iterations', tags: { level: 'scenario', scenarioOwn: '1' } } } };
export default function () {
  mine.add(1);
  mine.add(1, { level: 'sample' });
  exec.vu.metrics.tags.level = 'vu';
  exec.vu.metrics.tags.number = 7;
  exec.vu.metrics.metadata.meta = 'data';
  mine.add(1);
  http.get(`${__ENV.TARGET}/tags`, { tags: { level: 'request', name: 'named' } });
  group('grouped', () => check(1, { yes: () => true }, { level: 'check' }));
  try { exec.vu.metrics.tags.object = { a: 1 }; console.log('taken'); } catch (error) { console.log('throws', error.name); }
  console.log(Object.keys(exec.vu.metrics.tags).sort().map((name) => `${name}=${exec.vu.metrics.tags[name]}`).join(' '));
  delete exec.vu.metrics.tags.level;
  mine.add(1);
}
