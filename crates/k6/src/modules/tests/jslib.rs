use crate::runtime::tests::{check, run};

#[test]
fn every_version_of_a_library_leads_to_ours() {
    check(
        "import { randomIntBetween } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
         import { randomIntBetween as same } from 'http://jslib.k6.io/k6-utils/1.0.0/index.js';
         const { randomIntBetween: required } = require('https://jslib.k6.io/k6-utils/1.2.0/index.js');
         export default () => console.log(randomIntBetween(7, 7), same === randomIntBetween, required === same);",
        &["7 true true"],
    );
}

#[test]
fn small_random_things_stay_within_their_bounds() {
    check(
        "import { randomIntBetween, randomItem, randomString, uuidv4, findBetween, parseDuration, normalDistributionStages } from 'https://jslib.k6.io/k6-utils/1.6.0/index.js';
         export default () => {
           const many = Array.from({ length: 200 }, () => randomIntBetween(1, 3));
           console.log(Math.min(...many), Math.max(...many), randomItem(['x']), randomString(5).length, randomString(4, 'z'));
           console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuidv4()), uuidv4() !== uuidv4(true));
           const text = '<a>1</a><a>2</a>';
           console.log(findBetween(text, '<a>', '</a>'), findBetween(text, '<a>', '</a>', true), findBetween(text, '<b>', '</b>'));
           console.log(parseDuration('1h2m3.5s4ms'), parseDuration('90'), normalDistributionStages(10, 60, 4));
           for (const wrong of ['', 'x', '1x', 7]) try { parseDuration(wrong); } catch (e) { console.log(e.name); }
         }",
        &[
            "1 3 x 5 zzzz",
            "true true",
            r#"1 [ "1", "2" ] null"#,
            r#"3723504 90 [ { duration: "10s", target: 1 }, { duration: "10s", target: 6 }, { duration: "10s", target: 10 }, { duration: "10s", target: 6 }, { duration: "10s", target: 1 }, { duration: "10s", target: 0 } ]"#,
            "Error",
            "Error",
            "Error",
            "Error",
        ],
    );
}

#[test]
fn checks_may_be_awaited() {
    let seen = run(
        "import { check } from 'https://jslib.k6.io/k6-utils/1.5.0/index.js';
         export default async () => console.log(check(1, { plain: (v) => v === 1 }), await check(1, { slow: async (v) => v === 2, also: true }));",
    );
    assert_eq!(seen.lines, ["true false"], "{:?}", seen.outcome);
    assert_eq!(seen.samples, ["checks 1 check=plain", "checks 0 check=slow", "checks 1 check=also"]);
}

#[test]
fn addresses_are_taken_apart_and_resolved() {
    check(
        "import { URL, URLSearchParams } from 'https://jslib.k6.io/url/1.0.0/index.js';
         export default () => {
           const url = new URL('HTTPS://us%er:p@EXAMPLE.com:443/a/./b/../c d?q=1&r=ä#f');
           console.log(url.href, url.origin, url.host, url.port, url.username, url.pathname, url.search, url.hash);
           for (const [reference, base] of [['../x', 'http://a/b/c/d'], ['?y', 'http://a/b?z'], ['//c:81/p', 'https://a/b'], ['#h', 'http://a/b?z'], ['', 'http://a/b?z#h'], ['mailto:x@y'], ['http:\\\\\\\\a\\\\b'], ['http://[::1]:80/'], ['file:///etc/x']])
             console.log(new URL(reference, base).href);
           url.searchParams.append('s t', 'u&v'); url.searchParams.delete('r'); console.log(url.search, String(url.searchParams));
           url.search = '?n=1'; url.port = '8080'; url.hostname = 'b'; url.protocol = 'http'; url.pathname = 'z'; url.hash = ''; console.log(`${url}`, url.searchParams.get('n'), JSON.stringify({ url }));
           const params = new URLSearchParams([['b', '2'], ['a', '1'], ['b', '3']]);
           params.set('b', '4'); params.append('c', ''); params.sort(); console.log(params.toString(), params.getAll('b').join(), params.has('a'), params.has('a', '2'), params.size, [...params.keys()].join());
           console.log(new URLSearchParams('?x=a+b%20c&y=%zz').toString(), new URLSearchParams({ k: 'v' }).get('k'), new URLSearchParams().get('none'));
           for (const wrong of ['nonsense', 'http://', 'http://a:b/', 'http://a b/']) try { new URL(wrong); console.log('works', wrong); } catch (e) { console.log(e.name); }
         }",
        &[
            "https://us%er:p@example.com/a/c%20d?q=1&r=%C3%A4#f https://example.com example.com  us%er /a/c%20d ?q=1&r=%C3%A4 #f",
            "http://a/b/x",
            "http://a/b?y",
            "https://c:81/p",
            "http://a/b?z#h",
            "http://a/b?z",
            "mailto:x@y",
            "http://a/b",
            "http://[::1]/",
            "file:///etc/x",
            "?q=1&s+t=u%26v q=1&s+t=u%26v",
            "http://us%er:p@b:8080/z?n=1 1 {\"url\":\"http://us%er:p@b:8080/z?n=1\"}",
            "a=1&b=4&c= 4 true false 3 a,b,c",
            "x=a+b+c&y=%25zz v null",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
        ],
    );
}

#[test]
fn a_client_remembers_what_its_requests_have_in_common() {
    check(
        "import { Httpx, Get, Patch, Post } from 'https://jslib.k6.io/httpx/0.1.0/index.js';
         const line = (r) => [r.body.split('\\r\\n')[0], /x-one: ([^\\r]*)/i.exec(r.body)?.[1], r.body.split('\\r\\n\\r\\n')[1]].join(' ');
         export default async () => {
           const session = new Httpx({ baseURL: 'http://a', headers: { 'X-One': '1' }, timeout: 5000 });
           console.log(line(session.get('/g')), line(session.post('/p', { b: 1 }, { headers: { 'X-One': '2' } })));
           session.addHeader('X-One', '3'); session.clearHeader('none'); session.addTag('t', 'v');
           console.log(line(await session.asyncGet('/async')));
           const both = session.batch([new Get('/1'), new Post('/2', 'body', { headers: { 'X-One': '4' } })]);
           console.log(both.map(line).join(' | '));
           console.log(line(session.trace('http://b/t')), line(session.execute(new Patch('/p', { body: 'of params' }).addHeader('X-One', '5'))), session.lastRequest.responseObject.url);
           console.log((await session.asyncHead('/h')).status, typeof session.connect, typeof session.asyncTrace, line(session.batch([['PUT', '/3', 'x']])[0]));
           try { session.request('FIND', '/'); } catch (e) { console.log(e.message); }
         }",
        &[
            "GET /g HTTP/1.1 1  POST /p HTTP/1.1 2 b=1",
            "GET /async HTTP/1.1 3 ",
            "GET /1 HTTP/1.1 3  | POST /2 HTTP/1.1 4 body",
            "TRACE /t HTTP/1.1 3  PATCH /p HTTP/1.1 5 of params http://a/p",
            "200 function function PUT /3 HTTP/1.1 3 x",
            "Invalid method: FIND. Expected one of GET,HEAD,POST,PUT,DELETE,CONNECT,OPTIONS,TRACE,PATCH",
        ],
    );
}

#[test]
fn separated_values_become_rows_and_rows_separated_values() {
    check(
        r#"import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
         export default () => {
           const csv = 'name;age;ok\n"A; ""a""";36;true\n\nBob;-4.5e1;\n';
           console.log(papaparse.parse(csv).data, papaparse.parse(csv).meta.delimiter);
           const read = papaparse.parse(csv, { header: true, skipEmptyLines: true, dynamicTyping: true });
           console.log(read.data, read.errors.length, read.meta.fields);
           console.log(papaparse.parse('#c\r\na,b\r\n1,2,3\r\n4', { header: true, comments: '#', newline: '\r\n', transformHeader: (h) => h.trim().toUpperCase() }).data);
           console.log(papaparse.parse('a,b\n1,2\n3,4', { preview: 1 }).data, papaparse.parse('x\n"open').errors.map((error) => error.code).join(), papaparse.parse('').data.length);
           console.log(papaparse.unparse([{ a: 1, b: 'x,"y"' }, { a: null, b: ' z' }]), papaparse.unparse({ fields: ['f'], data: [['1']] }, { quotes: true, newline: '\n' }));
         }"#,
        &[
            r#"[ [ "name", "age", "ok" ], [ "A; "a"", "36", "true" ], [ "" ], [ "Bob", "-4.5e1", "" ], [ "" ] ] ;"#,
            r#"[ { name: "A; "a"", age: 36, ok: true }, { name: "Bob", age: -45, ok: null } ] 0 [ "name", "age", "ok" ]"#,
            r#"[ { A: "1", B: "2", __parsed_extra: [ "3" ] }, { A: "4" } ]"#,
            r#"[ [ "a", "b" ] ] UndetectableDelimiter,MissingQuotes 0"#,
            "a,b\r\n1,\"x,\"\"y\"\"\"\r\n,\" z\" \"f\"\n\"1\"",
        ],
    );
}

#[test]
fn a_body_of_parts_is_put_together() {
    check(
        "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
         import http from 'k6/http';
         export default () => {
           const form = new FormData();
           form.append('text', 'ä'); form.append('bytes', new Uint8Array([97, 98]).buffer, 'b.bin'); form.append('file', http.file('data', 'f \"1\".txt', 'text/plain'));
           console.log(new TextDecoder().decode(form.body()).split(form.boundary).join('B').split('\\r\\n').join('|'));
         }",
        &[
            "--B|Content-Disposition: form-data; name=\"text\"|Content-Type: text/plain||ä|--B|Content-Disposition: form-data; name=\"bytes\"; filename=\"b.bin\"|Content-Type: application/octet-stream||ab|--B|Content-Disposition: form-data; name=\"file\"; filename=\"f %221%22.txt\"|Content-Type: text/plain||data|--B--|",
        ],
    );
}

#[test]
fn a_summary_is_told_as_text_and_as_a_report() {
    check(
        r#"import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';
         const data = {
           options: { summaryTrendStats: ['avg', 'p(95)'], summaryTimeUnit: '' },
           root_group: { name: '', checks: [{ name: 'ok', passes: 3, fails: 0 }, { name: 'bad', passes: 1, fails: 2 }], groups: [{ name: 'g', checks: [], groups: [] }] },
           metrics: {
             checks: { type: 'rate', contains: 'default', values: { rate: 2 / 3, passes: 4, fails: 2 } },
             data_sent: { type: 'counter', contains: 'data', values: { count: 17234, rate: 9.5 }, thresholds: { 'count>0': { ok: true } } },
             took: { type: 'trend', contains: 'time', values: { avg: 0.25, 'p(95)': 61234 }, thresholds: { 'avg<0': { ok: false } } },
             'took{a:b}': { type: 'trend', contains: 'time', values: { avg: 1234.5, 'p(95)': 12 } },
             vus: { type: 'gauge', contains: 'default', values: { value: 1, min: 1, max: 2 } },
           },
         };
         export default () => {
           for (const line of textSummary(data, { indent: '', enableColors: false }).split('\n')) console.log(line);
           console.log(jUnit(data, { name: 'a<b' }).split('\n').slice(1, 6).map((line) => line.trim()).join(''));
           console.log(humanizeValue(0, { type: 'trend', contains: 'time' }), humanizeValue(90, { type: 'trend', contains: 'time' }, 's'), textSummary(data).includes('\u001b[31m'));
         }"#,
        &[
            "    ✓ ok",
            "    ✗ bad",
            "     ↳  33% — ✓ 1 / ✗ 2",
            "",
            "    █ g",
            "",
            "    checks......: 66.66% ✓ 4     ✗ 2  ",
            "  ✓ data_sent...: 17 kB  9.5 B/s",
            "  ✗ took........: avg=250µs p(95)=1m1s",
            "      { a:b }...: avg=1.23s p(95)=12ms",
            "    vus.........: 1      min=1   max=2",
            r#"<testsuites tests="2" failures="1"><testsuite name="a&lt;b" tests="2" failures="1"><testcase name="data_sent - count&gt;0" classname="Unnamed folder"></testcase><testcase name="took - avg&lt;0" classname="Unnamed folder"><failure message="trend threshold failed: avg value: 0.25, p(95) value: 61234" /></testcase></testsuite>"#,
            "0s 0.09s true",
        ],
    );
}

#[test]
fn checks_are_told_as_a_report() {
    let seen = run(r#"import { jUnitForChecks } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';
         const checks = [{ name: 'a<b', passes: 3, fails: 0 }, { name: 'bad', passes: 1, fails: 2 }];
         const data = { root_group: { name: '', checks, groups: [] }, metrics: { iteration_duration: { type: 'trend', values: { max: 12.5 } } } };
         export default () => {
           console.log(jUnitForChecks(data, 'own').replace(/timestamp="[^"]*Z"/, 'T').split('\n').map((line) => line.trim()).join(''));
           console.log(jUnitForChecks({ root_group: {}, metrics: {} }).includes('<testsuite name="k6 checks" tests="0" failures="0" time="0" '));
         }"#);
    let report = concat!(
        r#"<?xml version="1.0" encoding="UTF-8" ?><testsuites tests="2" failures="1" time="12.5">"#,
        r#"<testsuite name="own" tests="2" failures="1" time="12.5" T><testcase name="a&lt;b"></testcase>"#,
        r#"<testcase name="bad"><failure message="failed" /></testcase></testsuite></testsuites>"#
    );
    assert_eq!(seen.lines, [report, "true"], "{:?}", seen.outcome);
}

#[test]
fn a_summarys_colors_stand_where_k6_has_them_and_a_count_is_no_time() {
    check(
        r#"import { textSummary } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';
         const trend = (values, thresholds) => ({ type: 'trend', contains: 'time', values, thresholds });
         const data = {
           options: { summaryTrendStats: ['avg', 'count'], summaryTimeUnit: '' },
           root_group: { name: '', checks: [{ name: 'ok', passes: 1, fails: 0 }, { name: 'bad', passes: 0, fails: 1 }], groups: [] },
           metrics: {
             a_b: { type: 'counter', contains: 'default', values: { count: 1 / 3, rate: 0.1 } },
             'a{z:1}': trend({ avg: 1, count: 61234 }, { 'avg<0': { ok: false } }),
             a: trend({ avg: 12.999, count: 5 }, { 'avg<99': { ok: true } }),
             A: { type: 'gauge', contains: 'data', values: { value: 1, min: 1, max: 1000 } },
           },
         };
         export default () => {
           for (const line of textSummary(data).split('\n')) console.log(line.replaceAll('\u001b[', '<').replaceAll('<0m', '>'));
           console.log(textSummary(data, { enableColors: false, summaryTrendStats: ['p(99)'] }).split('\n')[4]);
         }"#,
        &[
            "<32m     ✓ ok>",
            "<31m     ✗ bad",
            "      ↳  0% — ✓ 0 / ✗ 1>",
            "",
            "   <32m✓> a<2m...........:> avg=<36m12.99ms> count=<36m5>    ",
            "     <31m✗> { z:1 }<2m...:> avg=<36m1ms>     count=<36m61234>",
            "     A<2m...........:> <36m1 B>      <36;2mmin=1 B> <36;2mmax=1.0 kB>",
            "     a_b<2m.........:> <36m0.333333> <36;2m0.1/s>",
            "   ✓ a...........: p(99)=-",
        ],
    );
}
