// A throw in then, and one caught behind it
export const options = { iterations: 2 };
export default function () {
  const promise = Promise.resolve().then(() => { throw new Error('in then'); });
  if (__ITER === 0) promise.catch((error) => console.log('caught', error.message));
}
