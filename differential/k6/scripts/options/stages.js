// stages
// without ended: how many iterations fit is a matter of milliseconds
// without summary iterations: how many iterations fit is a matter of milliseconds
// without points iter*: how many iterations fit is a matter of milliseconds
import { sleep } from 'k6';
export const options = { stages: [{ duration: '500ms', target: 2 }, { duration: '500ms', target: 0 }] };
export default function () { sleep(0.05); }
