// exec.vu.metrics.tags: kept across iterations, deleted, those of the system
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 3 };
export default function () {
  counter.add(1);
  if (__ITER === 0) exec.vu.metrics.tags.mine = 'set';
  if (__ITER === 1) delete exec.vu.metrics.tags.mine;
  for (const name of ['group', 'scenario', 'vu', 'iter', 'none']) console.log(name, exec.vu.metrics.tags[name]);
  try { exec.vu.metrics.tags = { all: 'new' }; console.log('taken', exec.vu.metrics.tags.all); } catch (error) { console.log('throws', error.name); }
  try { exec.vu.metrics.tags.scenario = 'other'; console.log('scenario', exec.vu.metrics.tags.scenario); } catch (error) { console.log('throws', error.name); }
  exec.vu.metrics.metadata.meta = `m${__ITER}`;
  counter.add(1);
}
