// tlsCipherSuites that k6 does not know
export const options = { iterations: 1, tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'] };
export default function () { console.log('never'); }
