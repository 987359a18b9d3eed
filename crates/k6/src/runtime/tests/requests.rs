//! Requests whose answers are out of the ordinary.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// More than a step of a scenario keeps.
const BIG: usize = 17 << 20;

/// The server's answer to these paths; `turn` counts a connection's requests.
pub(super) fn answer(request: &str, turn: usize) -> Option<Vec<u8>> {
    let away =
        |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    let with = |headers: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    Some(match request.split(' ').nth(1)? {
        "/big" => with("", &vec![b'x'; BIG]),
        "/big-packed" => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(&vec![b'x'; BIG]).unwrap();
            with("Content-Encoding: gzip\r\n", &packer.finish().unwrap())
        }
        "/turn" => with("", turn.to_string().as_bytes()),
        "/unreadable" => away("http://["),
        "/unmakeable" => away("ftp://a/x"),
        "/credentials" => away("http://user:pw@a/there"),
        "/hostile" => {
            let names = "__proto__: x\r\nconstructor: y\r\nvalueOf: 1\r\nvalueOf: 2\r\n";
            let cookies = ["constructor=1", "constructor=2", "__proto__=3; Path=/"];
            let cookies: String = cookies.iter().map(|it| format!("Set-Cookie: {it}\r\n")).collect();
            with(&format!("{names}{cookies}"), b"")
        }
        _ => return None,
    })
}

#[test]
fn a_large_body_is_given_whole() {
    check(
        "import http from 'k6/http';
         export default () => {
           for (const path of ['big', 'big-packed']) {
             const r = http.get(`http://a/${path}`, { responseType: 'binary' });
             console.log(r.status, r.error, r.body.byteLength);
           }
         }",
        &["200  17825792", "200  17825792"],
    );
}

/// Their errors and samples in k6 2.2: an answer whose Location is no URL is none.
#[test]
fn a_redirect_that_leads_nowhere_is_counted_as_k6_counts_it() {
    let seen = run("import http from 'k6/http';
         export default () => {
           for (const path of ['unreadable', 'unmakeable']) {
             const r = http.get(`http://a/${path}`);
             console.log(r.status, r.error_code, r.error, r.url);
           }
         }");
    let said: Vec<&String> = seen.lines.iter().filter(|line| *line != "Request Failed").collect();
    assert_eq!(
        said,
        [
            "0 1000 failed to parse Location header \"http://[\": parse \"http://[\": missing ']' in host http://a/unreadable",
            "0 1000 unsupported protocol scheme \"ftp\" ftp://a/x",
        ]
    );
    assert_eq!(seen.values("http_req_failed"), [1.0, 0.0, 1.0]);
    let urls = |sample: &String| {
        let url = sample.split(' ').find_map(|tag| tag.strip_prefix("url="))?;
        sample.starts_with("http_reqs ").then(|| url.to_owned())
    };
    let urls: Vec<String> = seen.samples.iter().filter_map(urls).collect();
    assert_eq!(urls, ["http://a/unreadable", "http://a/unmakeable", "ftp://a/x"]);
}

/// Seen in k6 2.2, whose client is Go's.
#[test]
fn a_redirect_may_carry_a_user_and_password() {
    let seen = run(
        "import http from 'k6/http';
         export default () => {
           const r = http.get('http://a/credentials');
           console.log(r.status, r.url, /Authorization: Basic dXNlcjpwdw==/.test(r.body), /Referer: http:\\/\\/a\\/credentials/.test(r.body));
         }",
    );
    expect(&seen, &["200 http://user:pw@a/there true true"]);
    let stars = |sample: &&String| sample.contains("url=http://****:****@a/there");
    assert_eq!(seen.samples.iter().filter(stars).count(), 9);
}

#[test]
fn names_that_a_server_chooses_are_nothing_but_names() {
    check(
        "import http from 'k6/http';
         export default () => {
           const r = http.get('http://a/hostile');
           console.log(r.headers.Constructor, r.headers.Valueof ?? r.headers.ValueOf, Object.keys(r.headers).includes('__proto__'));
           console.log(r.cookies.constructor.map((it) => it.value).join(), Object.keys(r.cookies).join());
           console.log(Object.keys(http.cookieJar().cookiesForURL('http://a/')).sort().join());
         }",
        &["y 1, 2 true", "1,2 constructor,__proto__", "__proto__,constructor"],
    );
}

#[test]
fn a_request_that_cannot_be_made_costs_no_connection() {
    let seen = run("import http from 'k6/http';
         export default () => {
           console.log(http.get('http://a/turn').body);
           http.get('http://a/turn', { headers: { 'bad name': 'x' } });
           console.log(http.get('http://a/turn').body);
         }");
    assert_eq!(seen.lines.iter().filter(|line| *line != "Request Failed").collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn globals_may_be_named_by_computed_names() {
    expect(
        &run_later("export default () => console.log(new global['Ma' + 'p']([[1, 'kept']]).get(1));"),
        &["kept"],
    );
}
