// setInterval waits its time anew after each call
export const options = { iterations: 1 };
export default function () {
  const begun = Date.now();
  let times = 0;
  const ticking = setInterval(() => { times += 1; const until = Date.now() + 150; while (Date.now() < until); if (times === 4) { clearInterval(ticking); console.log(Math.round((Date.now() - begun) / 250) * 250); } }, 100);
}
