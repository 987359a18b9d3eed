// --console-output FILE
// flags: --console-output said.txt
// leaves: said.txt
// mask: time="[^"]*"
export const options = { iterations: 1 };
export default function () { console.log('to the file', 1); console.error('as well'); }
