// A function as text in a script that names none of what makes code of texts
export const options = { iterations: 1 };
export default function () { console.log(((x) => x + 1).toString()); }
