// --summary-mode legacy
// flags: --summary-mode legacy
import { check } from 'k6';
export const options = { iterations: 1 };
export default function () { check(1, { yes: true }); }
