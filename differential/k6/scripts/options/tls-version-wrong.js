// tlsVersion that there is not
export const options = { iterations: 1, tlsVersion: 'tls9' };
export default function () { console.log('never'); }
