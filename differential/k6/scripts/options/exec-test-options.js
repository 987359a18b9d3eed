// exec.test.options: what k6 made of the options
import exec from 'k6/execution';
export const options = { iterations: 1, tags: { a: 'b' }, thresholds: { iterations: ['count>0'] }, userAgent: 'mine' };
export default function () {
  const { options } = exec.test;
  for (const name of Object.keys(options).sort()) console.log(name, JSON.stringify(options[name]));
}
