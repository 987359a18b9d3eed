// Modules that k6 took back when they became globals
import { setTimeout } from 'k6/experimental/timers';
import { crypto } from 'k6/experimental/webcrypto';
export const options = { iterations: 1 };
export default function () { console.log(typeof setTimeout, typeof crypto.subtle); }
