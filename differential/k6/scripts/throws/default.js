// A throw in an iteration is told, the iteration counts, the next one runs, exit code 0
// quick
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
export const options = { iterations: 3 };
export default function () {
  try { if (__ITER === 1) throw new Error('in iteration 1'); } finally { counted.add(1); }
  if (__ITER === 0) throw new Error('in iteration 0');
  console.log('whole', __ITER);
}
