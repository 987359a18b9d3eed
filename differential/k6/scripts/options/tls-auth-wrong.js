// tlsAuth that is no certificate
export const options = { iterations: 1, tlsAuth: [{ cert: 'nonsense', key: 'nonsense' }] };
export default function () { console.log('never'); }
