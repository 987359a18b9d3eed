// A TLS alert: its number and its words
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsVersion: 'tls1.2', tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] };
export default function () { const { error, error_code } = http.get(`${__ENV.TLS}/a`); console.log(error_code, error); }
