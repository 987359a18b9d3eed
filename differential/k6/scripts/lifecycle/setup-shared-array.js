// A SharedArray that setup returns
import { SharedArray } from 'k6/data';
export const options = { iterations: 1 };
const list = new SharedArray('list', () => [{ a: 1 }, 'two']);
export function setup() { return { list }; }
export default function (data) { console.log(JSON.stringify(data)); }
