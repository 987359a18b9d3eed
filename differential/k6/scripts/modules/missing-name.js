// An import of a name that the file does not export
import { nothing } from '../_files/lib/one.js';
export const options = { iterations: 1 };
export default function () { console.log(typeof nothing); }
