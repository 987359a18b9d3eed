// k6/experimental/csv and fs
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('../_files/people.csv');
const again = await open('../_files/people.csv');
const parser = new csv.Parser(again, { asObjects: true });
const rows = await csv.parse(file, { skipFirstLine: true, delimiter: ',' });
export const options = { iterations: 1 };
export default async function () {
  console.log(rows.length, JSON.stringify(rows[0]), rows[1].join('|'));
  for (;;) { const { done, value } = await parser.next(); if (done) break; console.log(JSON.stringify(Object.entries(value).sort())); }
  const info = await file.stat();
  const buffer = new Uint8Array(8);
  await file.seek(0, 0);
  console.log(info.name, info.size, await file.read(buffer), String.fromCharCode(...buffer));
}
