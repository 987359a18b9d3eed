// tlsAuth: a certificate of the client, for the hosts it names
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsAuth: [{ domains: ['127.0.0.1'], cert: open(__ENV.CLIENT_CERT), key: open(__ENV.CLIENT_KEY) }] };
export default function () { console.log(http.get(`${__ENV.TLS}/whoami`).json('certificate')); console.log(http.get(`${__ENV.TLS.replace('127.0.0.1', 'localhost')}/whoami`).json('certificate')); }
