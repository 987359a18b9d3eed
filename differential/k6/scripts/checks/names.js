// Names of checks: unusual ones, the same in two groups, and with ::
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () {
  check(1, { 'naïve ✓': true, '': true, 'a\nb': true, '7': true });
  group('one', () => check(1, { same: true }));
  group('two', () => check(1, { same: __ITER === 0 }));
  try { check(1, { 'a::b': true }); console.log('works'); } catch (error) { console.log('throws', error.name); }
  console.log(check(1, { same: false }));
}
