// A rejection nobody handles aborts the iteration
// quick
export const options = { iterations: 2 };
export default function () {
  setTimeout(() => console.log('never', __ITER), 100);
  Promise.reject(new Error(`nobody handles it, in ${__ITER}`));
  console.log('goes on', __ITER);
}
