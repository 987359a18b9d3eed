// An import of a file that is not there
import { nothing } from './not-there.js';
export default function () { nothing(); }
