// --out json without a file, with --quiet
// flags: --quiet --out json
// without text: the lines of the summary and the samples stand in one stream
export const options = { iterations: 1 };
export default function () {}
