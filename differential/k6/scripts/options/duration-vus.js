// vus and duration; the plan as it is told
import { sleep } from 'k6';
export const options = { vus: 2, duration: '1s' };
export default function () { sleep(0.45); }
