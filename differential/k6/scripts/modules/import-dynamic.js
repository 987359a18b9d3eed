// `import()`
const seen = [];
import('../_files/plain.cjs').then(() => seen.push('imported'), () => seen.push('rejected'));
export const options = { iterations: 1 };
export default function () {
  console.log(seen.join());
}
