// Response.json: whole, and by selectors
// quick
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TARGET}/person`);
  console.log(json(r.json()) === json(JSON.parse(r.body)));
  for (const path of ['name', 'id', 'ratio', 'flag', 'none', 'zero', 'nothing', 'nested.deep', 'nested.deep.0.v', 'nested.deep.#.v', 'nested.deep.#', 'tags.1', 'tags', 'tags.#', 'friends.#.first', 'friends.#(age>50).first', 'friends.#(first=="Dale")#.age', 'dotted\\.key', '@this.id', 'tags|@reverse', 'n*', 'friends.0', '']) {
    const value = r.json(path);
    console.log(path, typeof value, json(value));
  }
}
