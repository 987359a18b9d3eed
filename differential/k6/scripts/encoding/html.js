// k6/html: Selection's functions over a page
import { json } from '../_files/lib/sorted.js';
import { parseHTML } from 'k6/html';
export const options = { iterations: 1 };
const PAGE = '<div id="a" class="x y" data-one="1" data-two-words="true"><p>one <b>bold</b></p><p class="q">two</p><input name="n" value="v"><input type="checkbox" name="c" checked><select name="s"><option value="1">a</option><option value="2" selected>b</option></select><textarea name="t">area</textarea><a href="/l?x=1">link</a><ul><li>1</li><li>2</li><li>3</li></ul><!-- note --></div>';
export default function () {
  const page = parseHTML(PAGE);
  const tried = (name, what) => { try { const value = what(); console.log(name, typeof value, json(value)); } catch (error) { console.log(name, 'throws', error.name); } };
  tried('text', () => page.find('p').text());
  tried('html', () => page.find('p').html());
  tried('size', () => [page.find('li').size(), page.find('none').size()].join());
  tried('attr', () => [page.find('div').attr('id'), page.find('a').attr('none'), page.find('a').attr('none', 'else')].map(String).join());
  tried('data', () => page.find('div').data());
  tried('data name', () => [page.find('div').data('one'), page.find('div').data('twoWords')].map((x) => `${typeof x} ${x}`).join());
  tried('first last eq', () => [page.find('li').first().text(), page.find('li').last().text(), page.find('li').eq(1).text(), page.find('li').eq(-1).text()].join());
  tried('parent', () => page.find('b').parent().text());
  tried('children', () => page.find('ul').children().size());
  tried('contents', () => page.find('p').first().contents().size());
  tried('siblings', () => [page.find('p.q').prev().text(), page.find('p').first().next().text(), page.find('p').siblings().size(), page.find('p').first().nextAll().size()].join());
  tried('closest', () => page.find('b').closest('div').attr('id'));
  tried('filter not has is', () => [page.find('p').filter('.q').text(), page.find('p').not('.q').text(), page.find('p').has('b').size(), page.find('p').is('.q')].join());
  tried('map', () => page.find('li').map((at, one) => `${at}${one.text()}`));
  tried('each', () => { let all = ''; page.find('li').each((at, one) => { all += `${at}${one.textContent()}`; }); return all; });
  tried('toArray', () => page.find('li').toArray().length);
  tried('get', () => [page.find('li').get(0).nodeName(), page.find('div').get(0).id(), page.find('a').get(0).getAttribute('href')].join());
  tried('element', () => { const one = page.find('a').get(0); return [one.href(), one.pathname(), one.search(), one.innerHTML(), one.textContent()].map(String).join(' '); });
  tried('val', () => [page.find('input[name=n]').val(), page.find('select').val(), page.find('textarea').val()].join());
  tried('serialize', () => page.find('input,select,textarea').serialize());
  tried('serializeArray', () => page.find('input,select,textarea').serializeArray());
  tried('serializeObject', () => page.find('input,select,textarea').serializeObject());
  tried('slice', () => page.find('li').slice(1, 2).text());
  tried('add end', () => [page.find('li').add('p').size(), page.find('ul').find('li').end().size()].join());
  tried('index', () => page.find('li').last().index());
  tried('nextUntil', () => page.find('p').first().nextUntil('a').size());
  tried('parents', () => page.find('b').parents().size());
}
