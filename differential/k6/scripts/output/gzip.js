// --out json to a file that ends in .gz
// flags: --out json=_files/out.json.gz
// leaves: _files/out.json.gz
// without left *: packed bytes
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 1 };
export default function () { counter.add(1); }
