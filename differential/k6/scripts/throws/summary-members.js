// Members of handleSummary's object that are no text
export const options = { iterations: 1 };
export default function () {}
export function handleSummary() { return { stdout: 'a text\n', stderr: 7, 'object.json': { a: 1 } }; }
