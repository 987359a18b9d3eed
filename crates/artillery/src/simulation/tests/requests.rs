//! The two ways a request is written: from bytes prepared once, and from its parts for each user.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::plan::template::Piece;
use crate::plan::{WebsocketConnect, WebsocketOptions};

/// The requests that a server of such a plan receives.
async fn sent(plan: Plan) -> Vec<String> {
    let requests = Rc::<RefCell<Vec<String>>>::default();
    let noted = Rc::clone(&requests);
    let server = move |mut stream: DuplexStream| {
        let noted = Rc::clone(&noted);
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                if request.windows(4).any(|end| end == b"\r\n\r\n") {
                    noted.borrow_mut().push(String::from_utf8(std::mem::take(&mut request)).unwrap());
                    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                }
            }
        });
    };
    simulate(plan, Control::new(), server).await;
    requests.take()
}

#[tokio::test(start_paused = true)]
async fn a_prepared_request_and_one_from_parts_are_the_same_bytes() {
    let query = vec![("q r".to_owned(), Template::constant("1&2"))];
    let auth = Some((Template::constant("ada"), Template::constant("se:cret")));
    let header = |name: &str| (name.to_owned(), Template::constant(" a value "));
    let plain = || match get(SECOND) {
        Step::Http(step) => *step,
        _ => unreachable!("it is one"),
    };
    let table = [
        ("/x", plain()),
        ("/x?y=z#top", HttpStep { query: query.clone(), ..plain() }),
        ("/x y?#top", HttpStep { query: query.clone(), ..plain() }),
        ("/x  ", HttpStep { query, ..plain() }),
        ("", HttpStep { basic_auth: auth.clone(), ..plain() }),
        ("/", HttpStep { basic_auth: auth, headers: vec![header("Authorization"), header("x")], ..plain() }),
        ("/", HttpStep { method: "POST".into(), body: Body::Text(Template::constant("é")), ..plain() }),
    ];
    for (url, step) in table {
        let prepared = HttpStep { url: Template::constant(url), ..step.clone() };
        // Its origin is its user's to know, so it cannot be prepared.
        let base = Piece::Hole(Expression::Path { variable: "base".into(), keys: Vec::new() });
        let parts = HttpStep { url: Template { pieces: vec![base] }, ..step };
        let flow = vec![Step::Http(Box::new(prepared)), Step::Http(Box::new(parts))];
        let base = vec![format!("http://simulated{url}").into()];
        let plan = Plan { variables: vec![("base".into(), base)], ..plan(arrivals(1, 1, None), flow) };
        let requests = sent(plan).await;
        assert_eq!(requests.len(), 2, "{url}");
        assert_eq!(requests[0], requests[1], "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_websocket_with_headers_of_its_own_sends_none_of_the_plans() {
    let header = |name: &str| (name.to_owned(), Template::constant("value"));
    for (own, expected) in [(vec![header("x-own")], [true, false]), (vec![], [false, true])] {
        let connect = WebsocketConnect {
            operation: OperationId(0).into(),
            url: Template::constant("/ws"),
            headers: own,
            subprotocols: Vec::new(),
            timeout: SECOND,
            function: None,
        };
        let flow = vec![Step::WebsocketConnect(Box::new(connect))];
        let websocket = WebsocketOptions { headers: vec![header("x-plan")], ..WebsocketOptions::default() };
        let sent = sent(Plan { websocket, ..plan(arrivals(1, 1, None), flow) }).await;
        assert_eq!(["x-own: value", "x-plan: value"].map(|line| sent[0].contains(line)), expected);
    }
}
