// Errors of the engine itself, in its own words
export const options = { iterations: 4 };
export default function () {
  switch (__ITER) {
    case 0: return null.member;
    case 1: return notDefined;
    case 2: return (7)();
    default: return JSON.parse('{');
  }
}
