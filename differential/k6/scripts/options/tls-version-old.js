// tlsVersion below 1.2
export const options = { iterations: 1, tlsVersion: 'tls1.1' };
export default function () { console.log('iterates'); }
