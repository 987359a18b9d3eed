// A throw in teardown: exit code 107, the summary comes
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
export function teardown() { throw new Error('in teardown'); }
