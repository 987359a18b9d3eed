// sleep: fractions, 0, negatives, what is no number
import { sleep } from 'k6';
export const options = { iterations: 1 };
export default function () {
  for (const seconds of [0.25, '0.25', 0, -1, null, undefined, 'text', NaN]) {
    const begun = Date.now();
    try { sleep(seconds); console.log(String(seconds), Math.round((Date.now() - begun) / 125) * 125); } catch (error) { console.log(String(seconds), 'throws', error.name); }
  }
}
