// sonagi serve: a login, its token, a page of users; a wrong password
// target: serve
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 1 };
const login = (password) => http.post(`${__ENV.SERVE}/api/auth/login`, JSON.stringify({ email: 'user1@example.test', password }), { headers: { 'Content-Type': 'application/json' } });
export default function () {
  check(login('wrong'), { 'a wrong password is refused': (r) => r.status === 401 });
  const given = login('password');
  check(given, { 'the right one is taken': (r) => r.status === 201 });
  const page = http.get(`${__ENV.SERVE}/api/user/list-all?page=1&limit=2`, { headers: { Authorization: `Bearer ${given.json('token')}` } });
  console.log(page.status, page.json('users.#'), page.json('totalPage'));
}
