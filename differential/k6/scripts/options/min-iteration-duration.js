// minIterationDuration: iterations that are shorter wait
export const options = { iterations: 3, minIterationDuration: '400ms' };
let last;
export default function () {
  if (last) console.log('after', Math.round((Date.now() - last) / 200) * 200);
  last = Date.now();
}
