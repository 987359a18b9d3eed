// __ENV: variables of the system, of -e, which wins, and what an iteration writes there
// flags: -e GIVEN=flag -e BOTH=flag -e EMPTY= -e EQUAL=a=b
// env: SYSTEM=system BOTH=system
console.log('init', __ENV.SYSTEM, __ENV.GIVEN, __ENV.BOTH, JSON.stringify(__ENV.EMPTY), __ENV.EQUAL, typeof __ENV.NOT_THERE);
export const options = { iterations: Number(__ENV.GIVEN === 'flag' ? 2 : 1) };
export default function () {
  console.log('iteration', __ENV.GIVEN, __ENV.BOTH, __ENV.WRITTEN, Object.keys(__ENV).includes('SYSTEM'));
  __ENV.WRITTEN = 'here';
}
export function handleSummary() { return {}; }
