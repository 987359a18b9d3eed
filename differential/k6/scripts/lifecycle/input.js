// The script comes by the standard input
// input
import { sleep } from 'k6';
export const options = { iterations: 2 };
export default function () { sleep(0.01); console.log('iteration', __ITER); }
