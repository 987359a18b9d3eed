// `require` of a file that awaits at its top level
const it = require('../_files/awaits.js');
let why;
try {
  why = it.later;
} catch (error) {
  why = error.name;
}
export const options = { iterations: 2 };
export default function () {
  console.log(it.now, why);
}
