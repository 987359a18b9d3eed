// --summary-mode compact is as without it
// flags: --summary-mode compact
import { check } from 'k6';
export const options = { iterations: 1 };
export default function () { check(1, { yes: true, no: false }); }
