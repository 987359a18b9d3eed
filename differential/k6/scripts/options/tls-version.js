// tlsVersion: one, and a range
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsVersion: { min: 'tls1.2', max: 'tls1.2' } };
export default function () { console.log(http.get(`${__ENV.TLS}/a`).tls_version, http.TLS_1_2, http.TLS_1_3); }
