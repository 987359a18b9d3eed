// --include-system-env-vars=false
// flags: --include-system-env-vars=false -e GIVEN=flag
// env: SYSTEM=system
export const options = { iterations: 1 };
export default function () { console.log(typeof __ENV.SYSTEM, __ENV.GIVEN, Object.keys(__ENV).length); }
