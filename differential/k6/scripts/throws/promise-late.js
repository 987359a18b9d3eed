// A rejection that is handled a moment later
export const options = { iterations: 1 };
export default function () {
  const promise = Promise.reject(new Error('handled late'));
  setTimeout(() => promise.catch((error) => console.log('caught', error.message)), 20);
  console.log('goes on');
}
