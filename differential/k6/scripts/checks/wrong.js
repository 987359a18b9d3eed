// check() of what are no checks
import { check } from 'k6';
export const options = { iterations: 5 };
export default function () { console.log(__ITER, check(1, [undefined, null, 'text', [() => true], 7][__ITER])); }
