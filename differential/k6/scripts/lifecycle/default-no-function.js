// A default export that is no function
export const options = { iterations: 1 };
export default { a: 1 };
