// The order of checks, groups and metrics in the text and in the data
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const all = ['zebra', 'apple', 'middle'].map((name) => new Counter(name));
export const options = { iterations: 1 };
export default function () {
  for (const counter of all) counter.add(1);
  check(1, { z: true, a: false, m: true });
  for (const name of ['z group', 'a group']) group(name, () => check(1, { inside: true }));
}
export function handleSummary(data) {
  console.log(data.root_group.groups.map((one) => one.name).join(), data.root_group.checks.map((one) => one.name).join());
  return { stdout: '' };
}
