// handleSummary changes what it is given: what --summary-export writes then
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
const counter = new Counter('counter'), gone = new Trend('gone');
export const options = { iterations: 1 };
export default function () { http.get(`${__ENV.TARGET}/`); counter.add(1); gone.add(1); }
export function handleSummary(data) {
  data.metrics.counter.values.count = 2;
  delete data.metrics.gone;
  return { stdout: `${Object.keys(data.metrics).includes('gone')}\n` };
}
