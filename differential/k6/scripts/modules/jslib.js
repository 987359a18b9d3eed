// An import from jslib.k6.io, which needs the net for k6
import { randomIntBetween } from 'https://127.0.0.1:1/k6-utils/1.4.0/index.js';
export default function () { console.log(randomIntBetween(1, 1)); }
