// blockHostnames and blacklistIPs: errors 1111 and 1110
import http from 'k6/http';
export const options = { iterations: 1, blockHostnames: ['*.blocked.test', 'exactly.test'], blacklistIPs: ['127.9.0.0/16'] };
export default function () {
  for (const url of ['http://a.blocked.test/', 'http://exactly.test/', 'http://127.9.1.1:1/']) { const { status, error_code, error } = http.get(url); console.log(url, status, error_code, error); }
}
