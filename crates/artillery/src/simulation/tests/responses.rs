//! Users' handling of responses: cookies, redirects, captures, expectations, compressed bodies; and bodies of several
//! parts.

use std::cell::RefCell;
use std::io::Read as _;
use std::rc::Rc;
use std::sync::Arc;

use serde_json_path::JsonPath;

use super::*;
use crate::plan::template::Piece;
use crate::plan::{Capture, Demand, Expectation, Expectations, FormPart, Match, PartContent, Source};

/// Runs one user's steps against a server that answers the n-th request with the n-th answer (the last one again and
/// again), and what it was asked.
async fn asked(flow: Vec<HttpStep>, answers: &[&[u8]]) -> (Vec<String>, Summary) {
    let requests = Rc::<RefCell<Vec<String>>>::default();
    let noted = Rc::clone(&requests);
    let answers: Vec<Vec<u8>> = answers.iter().map(|answer| answer.to_vec()).collect();
    let server = move |mut stream: DuplexStream| {
        let (noted, answers) = (Rc::clone(&noted), answers.clone());
        tokio::task::spawn_local(async move {
            let mut bytes = Vec::new();
            while stream.read_buf(&mut bytes).await.is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() < length.map_or(0, |length| length.parse().unwrap()) {
                    continue;
                }
                noted.borrow_mut().push(text);
                bytes.clear();
                let at = noted.borrow().len().min(answers.len()) - 1;
                stream.write_all(&answers[at]).await.unwrap();
            }
        });
    };
    let flow = flow.into_iter().map(|step| Step::Http(Box::new(step))).collect();
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    (requests.take(), summary)
}

const EMPTY: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn step(method: &str, url: &str) -> HttpStep {
    HttpStep::new(OperationId(0), method, Template::constant(url))
}

fn hole(variable: &str) -> Template {
    let hole = Expression::Path { variable: variable.into(), keys: Vec::new() };
    Template { pieces: vec![Piece::Hole(hole)] }
}

fn capture(from: Source, name: &str, strict: bool) -> Capture {
    Capture { from, name: name.into(), strict }
}

fn json(path: &str) -> Source {
    Source::Json(JsonPath::parse(path).unwrap())
}

/// The lines of a request's head that begin so.
fn lines<'r>(request: &'r str, begin: &str) -> Vec<&'r str> {
    request.lines().take_while(|line| !line.is_empty()).filter(|line| line.starts_with(begin)).collect()
}

fn expecting(fails_user: bool) -> HttpStep {
    let demand = |status| Demand::Status { fixed: vec![status], open: Vec::new(), negated: false };
    let all = [200, 204].map(|status| Expectation { kind: "statusCode", demand: demand(status) }).to_vec();
    HttpStep { expect: Some(Box::new(Expectations { all, fails_user })), ..step("GET", "/") }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_as_expected_is_counted_and_its_user_goes_on_unless_it_is_to_fail() {
    let (requests, summary) = asked(vec![expecting(false), step("GET", "/next")], &[EMPTY]).await;
    assert_eq!((requests.len(), summary.users.completed), (2, 1));
    let status = &summary.expectations.kinds["statusCode"];
    assert_eq!((status.ok, status.failed), (1, 1));
    assert_eq!(status.example, "GET /: expected status 200, got 204");
    assert_eq!((summary.verdict.result, summary.expectations.decisive), (Conclusion::Fail, true));

    let (requests, summary) = asked(vec![expecting(true), step("GET", "/next")], &[EMPTY]).await;
    assert_eq!((requests.len(), summary.users.failed, summary.expectations.failed), (1, 1, 1));
    let error = &summary.errors[0];
    assert_eq!(error.operation.as_deref(), Some("GET /"));
    assert_eq!(
        (error.code.as_str(), error.example.as_str()),
        ("expectation_failed", "expected status 200, got 204")
    );
    assert!(summary.expectations.decisive, "that the user failed, too, changes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_body_is_captured_as_it_was_before() {
    let mut packed = Vec::new();
    let encoder = flate2::read::GzEncoder::new(&br#"{"id":7}"#[..], flate2::Compression::fast());
    { encoder }.read_to_end(&mut packed).unwrap();
    let compressed = answer("200 OK\r\ncontent-encoding: gzip", &packed);
    for (asked_for, asks) in [(true, &["accept-encoding: gzip, deflate, br"][..]), (false, &[])] {
        let captures = vec![capture(json("$.id"), "id", true)];
        let first = HttpStep { compressed: asked_for, captures, ..step("GET", "/") };
        let second = HttpStep { query: vec![("id".into(), hole("id"))], ..step("GET", "/x") };
        let (requests, summary) = asked(vec![first, second], &[&compressed, EMPTY]).await;
        assert_eq!(summary.users.completed, 1, "{:?}", summary.errors);
        assert_eq!(lines(&requests[0], "accept-encoding"), asks);
        assert!(requests[1].starts_with("GET /x?id=7 HTTP/1.1\r\n"), "{}", requests[1]);
        assert!(lines(&requests[1], "accept-encoding").is_empty());
        assert_eq!(
            summary.traffic[Counter::HttpBytesReceived],
            packed.len() as u64,
            "what came over the wire"
        );
    }

    let broken = answer("200 OK\r\ncontent-encoding: lzma", b"?");
    let strict = HttpStep { captures: vec![capture(json("$.id"), "id", true)], ..step("GET", "/") };
    let (_, summary) = asked(vec![strict], &[&broken]).await;
    assert_eq!(summary.errors[0].example, "status 200: the body is encoded as lzma, which is not known here");
}

#[tokio::test(start_paused = true)]
async fn lists_of_headers_go_back_as_they_came_and_what_is_not_there_is_an_empty_text() {
    let given = answer(
        "200 OK\r\nset-cookie: a=1; Path=/never\r\nset-cookie: b=2; Path=/never\r\nx-n: 1\r\nX-N: 2",
        b"",
    );
    let captures = vec![
        capture(Source::Header("set-cookie".into()), "cookies", true),
        capture(Source::Header("x-n".into()), "n", true),
        capture(json("$.none"), "none", false),
    ];
    let first = HttpStep { captures, ..step("GET", "/") };
    let headers = ["cookie", "x-all", "x-n", "x-none"];
    let holes = ["cookies", "cookies", "n", "none"];
    let headers: Vec<(String, Template)> =
        headers.into_iter().zip(holes).map(|(name, variable)| (name.to_owned(), hole(variable))).collect();
    let second = HttpStep { headers, ..step("GET", "/") };
    let (requests, summary) = asked(vec![first, second], &[&given, EMPTY]).await;
    assert_eq!(summary.users.completed, 1, "{:?}", summary.errors);
    let line = |begin| lines(&requests[1], begin).join("|");
    assert_eq!(line("cookie"), "cookie: a=1; Path=/never; b=2; Path=/never");
    assert_eq!(line("x-all"), "x-all: a=1; Path=/never, b=2; Path=/never");
    assert_eq!((line("x-n:"), line("x-none")), ("x-n: 1, 2".into(), "x-none: ".into()));
}

#[tokio::test(start_paused = true)]
async fn an_empty_text_is_nothing_to_capture() {
    let strict = HttpStep { captures: vec![capture(json("$.id"), "id", true)], ..step("GET", "/") };
    let (_, summary) = asked(vec![strict], &[&answer("200 OK", br#"{"id":""}"#)]).await;
    assert_eq!((summary.users.failed, summary.errors[0].code.as_str()), (1, "capture_or_match"));
}

#[tokio::test(start_paused = true)]
async fn a_steps_cookies_stay_with_its_user_and_those_of_redirects_join_them() {
    let own =
        |url: &str| HttpStep { cookies: vec![("own".into(), Template::constant("1"))], ..step("GET", url) };
    let redirect = answer("302 Found\r\nlocation: /home\r\nset-cookie: sid=2; Path=/", b"");
    let (requests, _) = asked(vec![own("/login"), step("GET", "/rooms")], &[&redirect, EMPTY]).await;
    let sent: Vec<String> = requests.iter().map(|request| lines(request, "cookie").concat()).collect();
    assert_eq!(sent, ["cookie: own=1", "cookie: own=1; sid=2", "cookie: own=1; sid=2"]);
}

#[tokio::test(start_paused = true)]
async fn a_redirected_post_is_sent_again_and_after_303_a_get_without_its_body() {
    let post = HttpStep { body: Body::Text(Template::constant("new")), ..step("POST", "/x") };
    let moved = answer("302 Found\r\nlocation: /y", b"");
    let (requests, _) = asked(vec![post.clone()], &[&moved, EMPTY]).await;
    assert!(requests[1].starts_with("POST /y ") && requests[1].ends_with("\r\n\r\nnew"), "{}", requests[1]);
    let (requests, _) = asked(vec![post], &[&answer("303 See Other\r\nlocation: /y", b""), EMPTY]).await;
    assert!(requests[0].starts_with("POST /x ") && requests[0].ends_with("\r\n\r\nnew"), "{}", requests[0]);
    assert!(requests[1].starts_with("GET /y ") && requests[1].ends_with("\r\n\r\n"), "{}", requests[1]);
    assert!(lines(&requests[1], "content-").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_form_of_several_parts_is_sent_with_a_boundary_of_its_own() {
    let file = PartContent::File { name: "a \"b\".png".into(), bytes: (&[0x89, b'P', b'\n'][..]).into() };
    let parts = [
        FormPart {
            name: "title".into(),
            content: PartContent::Text(Template::constant("é")),
            content_type: None,
        },
        FormPart { name: "pic".into(), content: file, content_type: Some("image/png".into()) },
    ];
    let headers = vec![("Content-Type".to_owned(), Template::constant("multipart/form-data"))];
    let form = HttpStep { headers, body: Body::Multipart(Arc::new(parts)), ..step("POST", "/") };
    let (requests, summary) = asked(vec![form.clone(), form], &[EMPTY]).await;
    assert_eq!(summary.users.completed, 1, "{:?}", summary.errors);
    let boundary = |request: &str| {
        let line = lines(request, "content-type: multipart/form-data; boundary=").concat();
        line.split_once('=').unwrap().1.to_owned()
    };
    let (first, second) = (boundary(&requests[0]), boundary(&requests[1]));
    assert!(first.len() == 50 && first != second, "{first} {second}");
    let body = requests[0].split_once("\r\n\r\n").unwrap().1;
    let expected = format!(
        "--{first}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\né\r\n\
         --{first}\r\nContent-Disposition: form-data; name=\"pic\"; filename=\"a %22b%22.png\"\r\n\
         Content-Type: image/png\r\n\r\n\u{fffd}P\n\r\n--{first}--\r\n"
    );
    assert_eq!(body, expected);
}

#[tokio::test(start_paused = true)]
async fn redirects_without_an_end_and_to_nowhere_are_failures_of_their_own() {
    for (location, failure) in [("/again", "too_many_redirects"), ("ftp://a/b", "redirect_invalid")] {
        let redirect = answer(&format!("302 Found\r\nlocation: {location}"), b"");
        let (_, summary) = asked(vec![step("GET", "/")], &[&redirect]).await;
        let codes: Vec<_> = summary.errors.iter().map(|error| (&*error.code, error.count)).collect();
        assert_eq!(codes, [(failure, 1)]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_found_in_a_body_that_was_cut_says_so_and_which_key_reads_more() {
    let text = [&br#"{"padding":""#[..], &[b'x'; 1000], br#"","id":7}"#].concat();
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(&text[..], flate2::Compression::best()).read_to_end(&mut packed).unwrap();
    let (plain, zipped) = (answer("200 OK", &text), answer("200 OK\r\ncontent-encoding: gzip", &packed));
    for (answer, max_body, words) in [
        (&plain, 100, Some("only 100 of the body's 1021 bytes were read (raise `http.maxBody`): nothing")),
        (&zipped, 100, Some("only 100 bytes of the unpacked body were read (raise `http.maxBody`): nothing")),
        (&plain, 1021, None),
        (&zipped, 1021, None),
    ] {
        let strict = capture(json("$.id"), "id", true);
        let flow = vec![Step::Http(Box::new(HttpStep { captures: vec![strict], ..step("GET", "/") }))];
        let mut plan = plan(arrivals(1, 1, None), flow);
        plan.http.max_body = max_body;
        let bytes = answer.clone();
        let server = move |mut stream: DuplexStream| {
            let bytes = bytes.clone();
            tokio::task::spawn_local(async move {
                while stream.read(&mut [0; 1000]).await.is_ok_and(|n| n > 0) {
                    stream.write_all(&bytes).await.unwrap();
                }
            });
        };
        let summary = simulate(plan, Control::new(), server).await;
        let example = summary.errors.first().map(|error| error.example.trim_start_matches("status 200: "));
        assert_eq!(example.is_some(), words.is_some(), "{example:?}");
        assert!(example.unwrap_or_default().starts_with(words.unwrap_or_default()), "{example:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_status_is_asked_for_by_a_strict_match_and_not_by_one_that_lets_everything_pass() {
    let failed = answer("500 Internal Server Error", br#"{"error":"x"}"#);
    for (strict, expected, result) in [(true, 1, Conclusion::Pass), (false, 0, Conclusion::Fail)] {
        let wanted = Match { from: json("$.error"), value: Template::constant("x"), strict };
        let step = HttpStep { matches: vec![wanted], ..step("GET", "/") };
        let (_, summary) = asked(vec![step], &[&failed]).await;
        assert_eq!((summary.statuses.errors, summary.statuses.expected), (1, expected));
        assert_eq!(summary.verdict.result, result, "{:?}", summary.verdict.reasons);
    }
}
