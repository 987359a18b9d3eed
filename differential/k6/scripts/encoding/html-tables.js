// k6/html: tables, addresses, data attributes, the first find
import { parseHTML } from 'k6/html';
export const options = { iterations: 1 };
const page = parseHTML(`<div id="d" data-test-id="7" data-a-b="x" data-api-url="u"></div><a id="l" href="http://u:p@ex.com:8080/p/a?q=1#h">l</a><a id="m" href="https://ex.com:443/p">m</a><a id="n" href="/rel">n</a>
<table id="t"><caption>cap</caption><thead id="h"><tr><th>a</th></tr></thead><tfoot id="f"><tr><td>f</td></tr></tfoot><tbody><tr id="r"><td id="c">1</td><td id="e">2</td></tr></tbody></table><table id="empty"></table>`);
const of = (id) => page.find(`#${id}`).get(0);
export default function () {
  console.log(of('t').caption().textContent(), of('t').tHead().id(), of('t').tFoot().id(), of('empty').caption(), of('empty').tHead(), of('empty').tFoot());
  console.log(of('c').cellIndex(), of('e').cellIndex(), of('r').rowIndex(), of('r').sectionRowIndex());
  for (const id of ['l', 'm', 'n']) console.log(...['host', 'hostname', 'port', 'origin', 'protocol', 'username', 'password', 'pathname', 'search', 'hash'].map((name) => `[${of(id)[name]()}]`));
  const data = page.find('#d').data();
  console.log(Object.keys(data).sort().join(), data.testID, page.find('#d').data('testID'), page.find('#d').data('testId'), page.find('#d').data('test-id'), page.find('#d').data('apiURL'));
  console.log(page.find('body').single('a').text(), page.find('body').single('b').size(), typeof page.url, page.url === '');
}
