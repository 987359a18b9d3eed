// A refused connection names the address that was called
import http from 'k6/http';
export const options = { iterations: 1, throw: true, hosts: { 'some.name': '127.0.0.1:1' } };
export default function () {
  for (const url of ['http://127.0.0.1:1/', 'http://localhost:1/', 'http://some.name/', 'http://[::1]:1/', 'https://Some.Name:443/']) try { http.get(url); } catch (error) { console.log(error.message); }
}
