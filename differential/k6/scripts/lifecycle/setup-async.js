// Setup, iterations and teardown as async functions
// quick
import { setTimeout } from 'k6/timers';
import http from 'k6/http';
export const options = { iterations: 2 };
const later = (value) => new Promise((done) => setTimeout(() => done(value), 50));
export async function setup() { return { from: await later('setup') }; }
export default async function (data) {
  const response = await http.asyncRequest('GET', `${__ENV.TARGET}/iteration/${__ITER}`);
  console.log(await later(`iteration ${__ITER}`), data.from, response.status);
}
export async function teardown(data) { console.log(await later('teardown'), data.from); }
