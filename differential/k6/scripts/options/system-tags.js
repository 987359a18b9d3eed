// systemTags: only those, and those that are off by default
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 1, systemTags: ['status', 'method', 'vu', 'iter', 'ip'] };
export default function () { check(http.get(`${__ENV.TARGET}/a`), { one: () => true }); }
