// Cookies whose values have quotes, blanks, commas
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  http.get(`${t}/cookies/set?a=%22q%22&b=two%20words&c=x,y&d=%22&e=`);
  for (const name of ['a', 'b', 'c', 'd', 'e']) console.log(name, JSON.stringify(http.cookieJar().cookiesForURL(`${t}/cookies/x`)[name]));
  console.log(http.get(`${t}/cookies/x`).json('cookie'));
}
