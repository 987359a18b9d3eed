// Reads and writes against the reference service: `sonagi serve --seed-users 3`, then `sonagi run http.ts`.
import { check, group, sleep } from 'k6';
import http from 'k6/http';
import { Rate, Trend } from 'k6/metrics';
import type { Options } from 'k6/options';

const base = __ENV.SERVE || 'http://127.0.0.1:8080';
const refused = new Rate('logins_refused');
const pages = new Trend('page_of_users', true);

export const options: Options = {
  scenarios: {
    reading: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '2s', target: 5 }, { duration: '3s', target: 5 }], gracefulRampDown: '1s', exec: 'read' },
    polling: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '5s', preAllocatedVUs: 3, maxVUs: 10, exec: 'poll' },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{scenario:polling}': ['p(95)<500'],
    checks: [{ threshold: 'rate>0.99', abortOnFail: true, delayAbortEval: '2s' }],
  },
};

export function setup(): { token: string } {
  const login = http.post(`${base}/api/auth/login`, JSON.stringify({ email: 'user1@example.test', password: 'password' }), { headers: { 'Content-Type': 'application/json' } });
  refused.add(login.status !== 201);
  return { token: login.json('token') as string };
}

export function read({ token }: { token: string }): void {
  group('users', () => {
    const page = http.get(`${base}/api/user/list-all?page=1&limit=2`, { headers: { Authorization: `Bearer ${token}` }, tags: { name: 'a page of users' } });
    check(page, { 'there are users': (r) => r.status === 200 && (r.json('users.#') as number) === 2 });
    pages.add(page.timings.duration);
  });
  sleep(0.5);
}

export function poll(): void {
  check(http.get(`${base}/cur/${1 + (__VU % 10)}`, { tags: { name: '/cur/:n' } }), { 'status is 200': (r) => r.status === 200 });
}
