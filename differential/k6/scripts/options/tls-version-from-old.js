// tlsVersion from below 1.2 on
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsVersion: { min: 'tls1.0', max: 'tls1.3' } };
export default function () { console.log(http.get(`${__ENV.TLS}/a`).tls_version); }
