// tlsAuth: a key that is another certificate's
export const options = { iterations: 1, tlsAuth: [{ cert: open(__ENV.CLIENT_CERT), key: open(__ENV.CLIENT_KEY.replace('client-key', 'key')) }] };
export default function () { console.log('never'); }
