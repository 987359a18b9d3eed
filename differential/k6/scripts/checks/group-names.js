// Names of groups: nested, twice the same, empty, with ::, and what group() returns
import { group, check } from 'k6';
import exec from 'k6/execution';
export const options = { iterations: 1 };
export default function () {
  console.log(group('outer', () => { console.log(exec.vu.tags.group); return group('inner', () => { check(1, { deep: true }); return exec.vu.tags.group; }); }));
  group('outer', () => {});
  for (const name of ['', 'a::b', 7]) { try { group(name, () => 1); console.log(String(name), 'works'); } catch (error) { console.log(String(name), 'throws', error.name); } }
  try { group('no function'); } catch (error) { console.log('throws', error.name); }
}
