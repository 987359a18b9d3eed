// A duration that is none
export const options = { duration: 'a while' };
export default function () { console.log('never'); }
