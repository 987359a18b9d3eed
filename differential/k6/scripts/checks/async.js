// A check with an async function
import { check } from 'k6';
export const options = { iterations: 1 };
export default function () { console.log(check(1, { 'async false': async () => false })); }
