// tlsCipherSuites that k6 speaks and Sonagi does not
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsCipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305'] };
export default function () { console.log(http.get(`${__ENV.TLS}/a`).status); }
