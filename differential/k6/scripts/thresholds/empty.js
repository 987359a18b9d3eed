// Metrics without a sample: a rate passes or fails, a trend and a counter are 0
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
new Counter('none_c'); new Gauge('none_g'); new Rate('none_r'); new Rate('none_r2'); new Trend('none_t');
export const options = { iterations: 1, thresholds: { none_c: ['count==0'], none_g: ['value==0'], none_r: ['rate>0.9'], none_r2: ['rate<0.1'], none_t: ['p(95)<100', 'avg>1'], checks: ['rate==1'], http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1'], 'http_reqs{a:b}': ['count>0'] } };
export default function () {}
