// Whether a namespace lists the default export, and what that is
import * as http from 'k6/http';
import whole from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  console.log(Object.keys(http).includes('default'), typeof http.default);
  console.log(typeof whole.get);
}
