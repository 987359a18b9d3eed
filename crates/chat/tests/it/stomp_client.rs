//! A STOMP client of the tests, over a WebSocket or SockJS in one. It reads frames by itself: the service's codec is
//! what is tested.

use std::collections::VecDeque;
use std::net::SocketAddr;

use serde_json::Value;

use crate::client::{Got, Reply, Ws};

/// A frame from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub command: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Frame {
    pub fn read(text: &str) -> Frame {
        let text = text.strip_suffix('\0').unwrap_or_else(|| panic!("a frame ends with NUL: {text:?}"));
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut lines = head.split('\n');
        let command = lines.next().unwrap().to_owned();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_owned(), value.to_owned())
        });
        let frame = Frame { command, headers: headers.collect(), body: body.to_owned() };
        if let Some(length) = frame.header("content-length") {
            assert_eq!(length, body.len().to_string());
        }
        frame
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn seq(&self) -> u64 {
        self.header("seq").unwrap().parse().unwrap()
    }
}

pub struct Stomp {
    pub ws: Ws,
    sockjs: bool,
    inbox: VecDeque<Frame>,
    pub beats: usize,
}

impl Stomp {
    /// A WebSocket, before CONNECT.
    pub async fn open(at: SocketAddr, path: &str, headers: &str) -> Result<Stomp, Reply> {
        let mut ws = Ws::open(at, path, headers).await?;
        let sockjs = path.split('?').next().unwrap().split('/').count() > 3;
        if sockjs {
            assert_eq!(ws.next_text().await, "o");
        }
        Ok(Stomp { ws, sockjs, inbox: VecDeque::new(), beats: 0 })
    }

    /// A session of this version on `/location`.
    pub async fn connect(at: SocketAddr, version: &str) -> Stomp {
        Stomp::connect_to(at, "/location", version, "").await
    }

    pub async fn connect_to(at: SocketAddr, path: &str, version: &str, headers: &str) -> Stomp {
        let mut stomp = Stomp::open(at, path, "").await.ok().unwrap();
        stomp.frame(&format!("CONNECT\naccept-version:{version}\nhost:chat\n{headers}\n")).await;
        let connected = stomp.next().await;
        assert_eq!((connected.command.as_str(), connected.header("version")), ("CONNECTED", Some(version)));
        stomp
    }

    /// Sends a frame, given without its NUL.
    pub async fn frame(&mut self, frame: &str) {
        self.piece(&format!("{frame}\0")).await;
    }

    /// Sends any text as one message.
    pub async fn piece(&mut self, text: &str) {
        match self.sockjs {
            true => self.ws.text(&serde_json::json!([text]).to_string()).await,
            false => self.ws.text(text).await,
        }
    }

    /// A subscription with a receipt, which is returned.
    pub async fn subscribe(&mut self, id: &str, destination: &str, headers: &str) -> Frame {
        self.frame(&format!(
            "SUBSCRIBE\nid:{id}\ndestination:{destination}\nreceipt:subscribed-{id}\n{headers}\n"
        ))
        .await;
        let receipt = self.next().await;
        assert_eq!(receipt.command, "RECEIPT", "{receipt:?}");
        assert_eq!(receipt.header("receipt-id"), Some(format!("subscribed-{id}").as_str()));
        receipt
    }

    pub async fn share(&mut self, group: &str, content: &str) {
        self.frame(&format!("SEND\ndestination:/pub/share/{group}\n\n{content}")).await;
    }

    /// The next frame; heart-beats are counted. `None` when the connection closes, whose code is then to be had from
    /// `ws`.
    pub async fn next_if_any(&mut self) -> Result<Frame, Option<u16>> {
        loop {
            if let Some(frame) = self.inbox.pop_front() {
                return Ok(frame);
            }
            let text = match self.ws.next().await {
                Got::Text(text) => text,
                Got::Ping => continue,
                Got::Close(code) => return Err(code),
                Got::End => return Err(None),
                other => panic!("{other:?}"),
            };
            let messages: Vec<String> = match (self.sockjs, text.as_bytes()[0]) {
                (false, _) => vec![text],
                (true, b'a') => serde_json::from_str(&text[1..]).unwrap(),
                (true, b'h') => Vec::new(),
                (true, b'c') => {
                    let (code, _): (u16, String) = serde_json::from_str(&text[1..]).unwrap();
                    return Err(Some(code));
                }
                (true, _) => panic!("{text}"),
            };
            for message in messages {
                match message.as_str() {
                    "\n" => self.beats += 1,
                    frame => self.inbox.push_back(Frame::read(frame)),
                }
            }
        }
    }

    pub async fn next(&mut self) -> Frame {
        self.next_if_any().await.unwrap_or_else(|code| panic!("a frame was due, got the end: {code:?}"))
    }

    /// The next message's number.
    pub async fn seq(&mut self) -> u64 {
        let message = self.next().await;
        assert_eq!(message.command, "MESSAGE", "{message:?}");
        assert_eq!(message.json()["seq"], message.seq());
        message.seq()
    }

    /// An ERROR with this code and then the close code, whatever comes before.
    pub async fn fails(&mut self, code: &str) -> (Frame, Option<u16>) {
        loop {
            let frame = self.next().await;
            if frame.command == "ERROR" {
                assert_eq!(frame.header("code"), Some(code), "{frame:?}");
                let closed = self.next_if_any().await.err();
                return (frame, closed.unwrap_or_else(|| panic!("nothing comes behind ERROR")));
            }
        }
    }
}
