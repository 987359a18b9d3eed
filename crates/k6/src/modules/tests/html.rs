use crate::runtime::tests::check;

const PAGE: &str = r#"const page = parseHTML('<div id="a" class="x y" data-one="1" data-two-words="true" data-o=\'{"a":[1]}\'><p>one <b>bold</b></p><p class="q">two</p><input name="n" value="v"><input type="checkbox" name="c" checked><select name="s"><option value="1">a</option><option value="2" selected>b</option></select><textarea name="t">area</textarea><a href="/l?x=1">link</a><ul><li>1</li><li>2</li><li>3</li></ul><!-- note --></div>');"#;

#[track_caller]
fn of_page(expressions: &[(&str, &str)]) {
    let said: Vec<&str> = expressions.iter().map(|(_, said)| *said).collect();
    let asked: String = expressions
        .iter()
        .map(|(expression, _)| format!("console.log(JSON.stringify({expression}) ?? 'undefined');\n"))
        .collect();
    check(
        &format!(
            "import {{ parseHTML }} from 'k6/html'; export default () => {{ {PAGE} const find = (what) => page.find(what);\n{asked} }}"
        ),
        &said,
    );
}

#[test]
fn a_page_is_searched_as_with_jquery() {
    of_page(&[
        ("find('p').text()", r#""one boldtwo""#),
        ("find('p').html()", r#""one <b>bold</b>""#),
        ("[find('li').size(), find('none').size(), find('none').html(), find('!').size()]", "[3,0,\"\",0]"),
        (
            "[find('div').attr('id'), find('a').attr('none'), find('a').attr('none', 'else')]",
            r#"["a",null,"else"]"#,
        ),
        ("find('div').data()", r#"{"one":1,"twoWords":true,"o":{"a":[1]}}"#),
        ("[find('div').data('one'), find('div').data('twoWords'), find('p').data('x')]", "[1,true,null]"),
        (
            "[find('li').first(), find('li').last(), find('li').eq(1), find('li').eq(-1), find('li').eq(9)].map((one) => one.text())",
            r#"["1","3","2","3",""]"#,
        ),
        (
            "[find('b').parent().text(), find('b').parents().size(), find('b').closest('div').attr('id')]",
            r#"["one bold",4,"a"]"#,
        ),
        (
            "[find('ul').children().size(), find('ul').children('li:first-child').text(), find('p').first().contents().size()]",
            r#"[3,"1",2]"#,
        ),
        (
            "[find('p.q').prev().text(), find('p').first().next().text(), find('p').siblings().size(), find('p').first().nextAll().size()]",
            r#"["one bold","two",8,7]"#,
        ),
        (
            "[find('p').filter('.q').text(), find('p').not('.q').text(), find('p').has('b').size(), find('p').is('.q')]",
            r#"["two","one bold",1,true]"#,
        ),
        (
            "[find('li').filter((at) => at === 1).text(), find('li').not(find('li').first()).text(), find('li').is((at, one) => one.text() === '3')]",
            r#"["2","23",true]"#,
        ),
        (
            "find('li').map((at, one) => { if (at === 2) throw 1; return `${at}${one.text()}`; })",
            r#"["01","12"]"#,
        ),
        (
            "(() => { let all = ''; find('li').each((at, one) => { all += `${at}${one.textContent()}`; }); return all; })()",
            r#""011223""#,
        ),
        (
            "[find('li').slice(1, 2).text(), find('li').slice(1).text(), find('li').add('p').size(), find('ul').find('li').end().size()]",
            r#"["2","23",5,1]"#,
        ),
        ("[find('li').last().index(), find('li').index(find('li').eq(1)), find('b').index('b')]", "[2,1,0]"),
        (
            "[find('p').first().nextUntil('a').size(), find('a').prevUntil('.q', 'input').size(), find('b').parentsUntil('body').size()]",
            "[5,2,2]",
        ),
        (
            "[find('div').find(find('li')).size(), find('li').toArray().length, find('li').get().length, find('li').get(-1).textContent()]",
            r#"[3,3,3,"3"]"#,
        ),
    ]);
}

#[test]
fn forms_tell_what_they_would_send() {
    of_page(&[
        (
            "[find('input[name=n]').val(), find('input[name=c]').val(), find('select').val(), find('textarea').val(), find('p').val()]",
            r#"["v","on","2","area",null]"#,
        ),
        ("find('input,select,textarea').serialize()", r#""n=v&s=2&t=area""#),
        ("find('input,select,textarea').serializeArray()[1]", r#"{"name":"s","value":"2"}"#),
        ("find('input,select,textarea').serializeObject()", r#"{"n":"v","s":"2","t":"area"}"#),
        (
            "parseHTML('<form><select multiple name=m><option selected>a<option selected value=\"b c\">c</select></form>').find('form').serialize()",
            r#""m=a&m=b+c""#,
        ),
    ]);
}

#[test]
fn elements_are_nodes_of_the_dom() {
    of_page(&[
        (
            "((a) => [a.nodeName(), a.href(), a.pathname(), a.search(), a.innerHTML(), a.textContent(), a.nodeType()])(find('a').get(0))",
            r#"["a","/l?x=1","/l","?x=1","link","link",1]"#,
        ),
        (
            "((d) => [d.id(), d.classList(), d.className(), d.hasAttribute('id'), d.attributes().id.value, d.childElementCount()])(find('div').get(0))",
            r#"["a",["x","y"],"x y",true,"a",8]"#,
        ),
        (
            "((d) => [d.firstElementChild().nodeName(), d.lastChild().nodeType(), d.lastChild().nodeValue(), d.lastElementChild().nodeName()])(find('div').get(0))",
            r#"["p",8," note ","ul"]"#,
        ),
        (
            "((b) => [b.parentElement().nodeName(), b.previousSibling().nodeValue(), b.nextSibling() === undefined, b.ownerDocument().nodeType()])(find('b').get(0))",
            r#"["p","one ",true,9]"#,
        ),
        (
            "((u) => [u.querySelector('li').textContent(), u.querySelectorAll('li').length, u.matches('ul'), u.contains(u.children()[1]), u.isSameNode(find('ul').get(0))])(find('ul').get(0))",
            r#"["1",3,true,true,true]"#,
        ),
        (
            "[find('input').get(1).checked(), find('input').get(0).checked(), find('input').get(0).type(), find('select').get(0).selectedIndex(), find('textarea').get(0).cols(), String(find('a').get(0))]",
            r#"[true,false,"text",1,20,"[object html.Node]"]"#,
        ),
    ]);
}

#[test]
fn a_response_is_a_page_whose_forms_and_links_can_be_followed() {
    check(
        "import http from 'k6/http';
         const line = (r) => r.body.split('\\r\\n')[0] + ' ' + r.body.split('\\r\\n\\r\\n')[1];
         export default () => {
           const r = http.get('http://a/page/');
           console.log(r.html('title').text(), r.html().find('a').size(), r.html('a').get(0).href(), r.html('a').get(0).host());
           console.log(line(r.submitForm({ fields: { user: 'bob', extra: '1' } })));
           console.log(line(r.submitForm({ formSelector: '#asks', fields: { q: 'n w' } })));
           console.log(line(r.submitForm({ submitSelector: '[name=none]', params: { headers: { x: 'y' } } })));
           console.log(line(r.clickLink()), line(r.clickLink({ selector: 'a:nth-of-type(2)' })));
           for (const what of [() => r.clickLink({ selector: 'a.none' }), () => r.submitForm({ formSelector: 'i' })])
             try { what(); } catch (e) { console.log(e.name, e.message.slice(0, 37)); }
         }",
        &[
            "a page 2 http://a/page/next a",
            "POST /page/sent HTTP/1.1 csrf=c-42&extra=1&go=went&q=&user=bob",
            "GET /asked?q=n+w HTTP/1.1 ",
            "POST /page/sent HTTP/1.1 csrf=c-42&q=&user=me",
            "GET /page/next HTTP/1.1  GET /away?b=1 HTTP/1.1 ",
            "GoError no element found for selector 'a.none",
            "GoError no form found for selector 'i' in res",
        ],
    );
}

#[test]
fn tables_tell_their_parts_and_cells_their_places() {
    check(
        "import { parseHTML } from 'k6/html';
         const page = parseHTML('<table id=t><caption>c</caption><thead id=h><tr><th>a</th></tr></thead><tfoot id=f><tr><td>f</td></tr></tfoot><tbody><tr id=r><td>1</td><td id=d>2</td></tr></tbody></table><table id=e></table>');
         const of = (id) => page.find(id).get(0);
         export default () => {
           const table = of('#t');
           console.log(table.caption().text(), table.tHead().id(), table.tFoot().id(), of('#e').caption(), of('#e').tHead());
           console.log(of('#d').cellIndex(), of('#r').rowIndex(), of('#r').sectionRowIndex());
         }",
        &["c h f undefined undefined", "1 2 0"],
    );
}

#[test]
fn a_selection_gives_its_first_find_and_its_pages_address() {
    check(
        "import { parseHTML } from 'k6/html';
         import http from 'k6/http';
         export default () => {
           const page = parseHTML('<p>1</p><p>2</p>');
           console.log(page.single('p').text(), page.single('p').size(), page.single('b').size(), page.single().size(), `[${page.url}]`);
           console.log(http.get('http://a/page/').html('a').url);
         }",
        &["1 1 0 0 []", "http://a/page/"],
    );
}

/// k6 2.2 writes words in lower case that Go has in capitals.
#[test]
fn data_knows_words_in_capitals() {
    check(
        r#"import { parseHTML } from 'k6/html';
         export default () => {
           const one = parseHTML('<i data-test-id="7" data-a-b="x" data-api-url-of-it="u" data-id="1"></i>').find('i');
           console.log(JSON.stringify(one.data()), one.data('testID'), one.data('testId'), one.data('test-id'), one.data('apiURLOfIt'), one.data('aB'));
         }"#,
        &[r#"{"testID":7,"aB":"x","apiURLOfIt":"u","id":1} 7 7 7 u x"#],
    );
}
