// sleep stops timers of the same user, too
import { sleep } from 'k6';
export const options = { iterations: 1 };
export default function () {
  const begun = Date.now();
  setTimeout(() => console.log('timer after', Math.round((Date.now() - begun) / 250) * 250), 50);
  sleep(0.5);
  console.log('slept');
}
