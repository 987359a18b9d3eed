//! Socket.IO over polling whose requests are refused.

use super::*;
use crate::plan::{SocketioConnect, SocketioOptions};
use sonagi_transport::link::SocketioTransport;

/// A server whose first session is refused its second poll; that of a later one is never answered.
fn refusing_once() -> impl Fn(DuplexStream) {
    let polls = Rc::new(RefCell::new(Vec::<u32>::new()));
    move |mut stream| {
        let polls = Rc::clone(&polls);
        tokio::task::spawn_local(async move {
            let mut bytes = Vec::new();
            while stream.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() < length.map_or(0, |length| length.parse().unwrap()) {
                    continue;
                }
                bytes.clear();
                let sid = head.split_once("sid=").map(|(_, rest)| rest[..1].parse::<usize>().unwrap());
                let (status, answer) = match sid {
                    None => {
                        let sid = polls.borrow().len();
                        polls.borrow_mut().push(0);
                        let times = r#""pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000"#;
                        ("200 OK", format!(r#"0{{"sid":"{sid}","upgrades":[],{times}}}"#))
                    }
                    Some(_) if head.starts_with("POST") => ("200 OK", "ok".to_owned()),
                    Some(sid) => {
                        polls.borrow_mut()[sid] += 1;
                        match polls.borrow()[sid] {
                            1 => ("200 OK", r#"40{"sid":"t"}"#.to_owned()),
                            _ if sid == 0 => ("429 Too Many Requests", "slow down".to_owned()),
                            _ => continue,
                        }
                    }
                };
                let length = answer.len();
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{answer}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_poll_counts_under_its_status_once_whether_or_not_its_user_comes_back() {
    for (reconnect, ended) in [(Some(automatic()), [1, 0]), (None, [0, 1])] {
        let options = SocketioOptions { transport: SocketioTransport::Polling, ..SocketioOptions::default() };
        let connect =
            SocketioConnect { operation: CONNECT.into(), options, namespace: Template::constant("/") };
        let open = Step::Open(Arc::new(Step::SocketioConnect(Box::new(connect))));
        let plan = reconnecting(automatic(), vec![open, think(3.0)]);
        let summary = simulate(Plan { reconnect, ..plan }, Control::new(), refusing_once()).await;
        assert_eq!([summary.users.completed, summary.users.failed], ended, "{:?}", summary.errors);
        assert_eq!(summary.http_codes.get(&429), Some(&1));
    }
}
