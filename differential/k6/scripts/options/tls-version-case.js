// tlsVersion in capitals
export const options = { iterations: 1, tlsVersion: 'TLS1.2' };
export default function () { console.log('never'); }
