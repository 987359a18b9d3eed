// A handleSummary without end is ended by handleSummaryTimeout
import { sleep } from 'k6';
export const options = { iterations: 1, handleSummaryTimeout: '500ms' };
export default function () {}
export function handleSummary() { sleep(10); return { stdout: 'late' }; }
