// localeCompare: the order of dictionaries
export const options = { iterations: 1 };
const sorted = (all) => [...all].sort((one, other) => one.localeCompare(other)).join(' ');
export default function () {
  console.log(sorted(Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))));
  console.log(sorted(['b', 'a', 'B', 'A', 'á', 'ä', 'z', 'zebra', 'Zebra', 'résumé', 'resume', 'Résumé', 'a b', 'ab', 'a-b', 'a_b', 'coop', 'co-op', 'ß', 'ss', 'st', '10', '2', '1', 'æ', 'ae', 'af', 'ø', 'o', 'p', 'ñ', 'n', 'É', 'e', 'E', 'é', 'aB', 'Ab', 'AB', 'aC']));
  console.log(sorted(['я', 'а', 'Б', 'б', 'α', 'Ω', 'ω', '中', 'あ', 'ア', 'か', 'z', '가', '😀', '0', '']));
  console.log(['a', 'é', 'a'].map((one, at) => one.localeCompare(['B', 'e\u0301', undefined][at])).join());
}
