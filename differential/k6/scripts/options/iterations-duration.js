// iterations and duration: whichever is over first
// quick
import { sleep } from 'k6';
export const options = { iterations: 100, duration: '1s' };
export default function () { sleep(0.4); }
