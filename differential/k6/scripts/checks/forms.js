// Checks: functions, values, promises; what check() returns; tags
// quick
import { check } from 'k6';
export const options = { iterations: 2, thresholds: { 'checks{mine:tag}': ['rate==1'], 'checks{check:a function}': ['rate==1'] } };
export default function () {
  console.log(check(5, { 'a function': (v) => v === 5, 'a value': true }));
  console.log(check(5, { truthy: (v) => v, 'falsy 0': 0, 'empty text': '', 'a list': [], nothing: undefined, 'returns nothing': () => {} }));
  console.log(check(5, { 'with tags': true }, { mine: 'tag' }), check(null, {}), check(5, { 'sees twice': (...given) => given.length === 1 }));
}
