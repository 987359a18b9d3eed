//! A reader of event streams for the tests, with nothing of the service's own codec in it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Reply, within};

/// What a block of the stream said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub id: Option<String>,
    pub event: Option<String>,
    pub data: Option<String>,
    pub retry: Option<u64>,
    pub comments: usize,
}

impl Block {
    fn read(text: &str) -> Block {
        let mut block = Block::default();
        for line in text.split('\n') {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match name {
                "" => block.comments += 1,
                "id" => block.id = Some(value),
                "event" => block.event = Some(value),
                "retry" => block.retry = Some(value.parse().unwrap()),
                "data" => match &mut block.data {
                    Some(data) => data.push_str(&format!("\n{value}")),
                    none => *none = Some(value),
                },
                other => panic!("{other}"),
            }
        }
        block
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.data.as_ref().unwrap()).unwrap()
    }
}

pub struct Events {
    pub stream: TcpStream,
    pub head: Reply,
    bytes: Vec<u8>,
    blocks: VecDeque<Block>,
}

impl Events {
    /// Opens a stream, or returns the answer that refused. `headers` end with CRLF each.
    pub async fn open(at: SocketAddr, query: &str, headers: &str) -> Result<Events, Reply> {
        let request = format!("GET /location/sse/connect?{query} HTTP/1.1\r\nHost: chat\r\n{headers}\r\n");
        Events::ask(at, &request).await
    }

    pub async fn ask(at: SocketAddr, request: &str) -> Result<Events, Reply> {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(within("a head", stream.read_u8()).await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut head = Reply { status, head, body: String::new() };
        if status != 200 {
            let length = head.header("content-length").map_or(0, |text| text.parse().unwrap());
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            head.body = String::from_utf8(body).unwrap();
            return Err(head);
        }
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert!(head.header("content-length").is_none() && head.header("transfer-encoding").is_none());
        Ok(Events { stream, head, bytes: Vec::new(), blocks: VecDeque::new() })
    }

    /// The next block; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Block> {
        within("a block", async {
            loop {
                if let Some(block) = self.blocks.pop_front() {
                    return Some(block);
                }
                let mut chunk = [0; 16 * 1024];
                let read = self.stream.read(&mut chunk).await.unwrap_or(0);
                if read == 0 {
                    return None;
                }
                self.bytes.extend_from_slice(&chunk[..read]);
                while let Some(end) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                    let block: Vec<u8> = self.bytes.drain(..end + 2).collect();
                    self.blocks.push_back(Block::read(std::str::from_utf8(&block[..end]).unwrap()));
                }
            }
        })
        .await
    }

    /// The next event; what carries no data is passed over.
    pub async fn event(&mut self) -> Option<Block> {
        loop {
            let block = self.next().await?;
            if block.data.is_some() {
                return Some(block);
            }
        }
    }

    /// The number of the next message.
    pub async fn seq(&mut self) -> u64 {
        let event = self.event().await.unwrap();
        assert_eq!(event.event, None, "{event:?}");
        let seq = event.json()["seq"].as_u64().unwrap();
        assert_eq!(event.id, Some(seq.to_string()));
        seq
    }
}
