// ramping-vus: the last to begin is the first to go
// order: connections
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '2s', target: 2 }, { duration: '2s', target: 0 }], gracefulRampDown: '0s' } } };
// Each user tells twice a second that it is there, as far from the moments at which users come and go as can be.
let began;
export default function () {
  const now = () => Date.now() - exec.scenario.startTime;
  const next = Math.floor((now() + 250) / 500) * 500 + 250;
  sleep((next - now()) / 1000);
  if (now() < next - 50) return; // k6 may let code run on behind a sleep that was cut.
  began ??= next;
  console.log('who began at', began, 'is there at', next);
}
