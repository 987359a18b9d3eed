// setTimeout, setInterval and their clearing: order, arguments, when the iteration ends
// quick
import { setTimeout as named } from 'k6/timers';
export const options = { iterations: 2 };
export default function () {
  const order = [];
  setTimeout(() => order.push('20'), 20);
  setTimeout(() => order.push('0'), 0);
  setTimeout((...given) => order.push(`arguments ${given.join('+')}`), 10, 'a', 7);
  Promise.resolve().then(() => order.push('promise'));
  clearTimeout(setTimeout(() => order.push('never'), 5));
  named(() => order.push('named'), 30);
  let times = 0;
  const ticking = setInterval((text) => { times += 1; order.push(`${text} ${times}`); if (times === 3) { clearInterval(ticking); console.log(order.join(', ')); } }, 50, 'tick');
  order.push('code');
  clearTimeout(999); clearTimeout(undefined); clearTimeout(null);
  console.log(typeof ticking);
}
