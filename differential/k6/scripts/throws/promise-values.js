// Rejections of what is no Error
export const options = { iterations: 4 };
export default function () {
  const value = ['a text', 7, { code: 1 }, undefined][__ITER];
  Promise.reject(value);
}
