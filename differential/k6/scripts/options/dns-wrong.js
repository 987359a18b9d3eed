// dns: a policy that is not known
export const options = { iterations: 1, dns: { policy: 'none' } };
export default function () { console.log('never'); }
