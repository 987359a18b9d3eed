// --system-tags
// flags: --system-tags url,group,check,error_code
import http from 'k6/http';
import { check, group } from 'k6';
export const options = { iterations: 1, systemTags: ['status'] };
export default function () { group('g', () => check(http.get(`${__ENV.TARGET}/a`), { one: () => true })); }
