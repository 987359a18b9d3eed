// exec.instance in setup and teardown
import exec from 'k6/execution';
export const options = { iterations: 1, vus: 1 };
const told = (of) => { try { return of(); } catch (error) { return String(error); } };
const all = () => [told(() => exec.instance.currentTestRunDuration < 5000), told(() => exec.instance.vusInitialized), told(() => exec.instance.vusActive), told(() => exec.instance.iterationsCompleted), told(() => exec.instance.iterationsInterrupted)].join(' | ');
export function setup() { console.log(all()); }
export default function () { console.log(all()); }
export function teardown() { console.log(all()); }
