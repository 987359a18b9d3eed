// Timers without a function, without a delay, with one that is none
export const options = { iterations: 6 };
export default function () {
  const what = [() => setTimeout(), () => setTimeout('code', 1), () => setTimeout(() => console.log('no delay')), () => setTimeout(() => console.log('negative'), -5), () => setTimeout(() => console.log('text'), '5'), () => setTimeout(() => console.log('NaN'), NaN)][__ITER];
  try { what(); } catch (error) { console.log(__ITER, 'throws', error.name); }
}
