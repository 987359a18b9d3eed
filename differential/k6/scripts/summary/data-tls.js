// data_sent and data_received over TLS
import http from 'k6/http';
export const options = { iterations: 1, insecureSkipTLSVerify: true };
export default function () { http.get(`${__ENV.TLS}/a`); }
export function handleSummary({ metrics }) { console.log('the handshake counts:', metrics.data_received.values.count > 600); return {}; }
