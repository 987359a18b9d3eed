// Stages by flags, the plan
// without ended: how many iterations fit is a matter of milliseconds
// without summary iterations: how many iterations fit is a matter of milliseconds
// without points iter*: how many iterations fit is a matter of milliseconds
// flags: --stage 500ms:2 --stage 500ms:0 --vus 1
import { sleep } from 'k6';
export default function () { sleep(0.2); }
