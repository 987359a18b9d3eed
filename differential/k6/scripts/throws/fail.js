// fail() with and without a text
import { fail } from 'k6';
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 0) fail('with a text');
  if (__ITER === 1) fail();
  try { fail('caught'); } catch (error) { console.log('caught', error.message, error instanceof Error, error.name, String(error)); }
}
