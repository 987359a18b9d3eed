// A throw in a timer: what waits behind it does not run, the next iteration does
// quick
export const options = { iterations: 2 };
export default function () {
  setTimeout(() => { throw new Error(`in a timer of ${__ITER}`); }, 20);
  setTimeout(() => console.log('behind it', __ITER), 120);
  console.log('whole', __ITER);
}
