// A check that throws is a failed one, and throws on
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  try {
    check(null, { first: () => true, second: (value) => value.status === 200, third: () => true });
  } catch (error) { console.log('caught', error.name); }
  if (__ITER === 1) check(null, { alone: () => { throw new Error('in a check'); } });
}
