//! `bare connect`: WebSockets one after the other: connect, upgrade, close as the protocol wants it, and again: as many
//! as `--count` says, or for `--seconds`, whichever ends first.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{SECOND, now, seconds};
use crate::failure::Failure;
use crate::http;
use crate::links::Links;
use crate::poller::Poller;
use crate::websocket::{self, CLOSE, Masks};

/// However many are asked for.
const LIMIT: u64 = 300 * SECOND;

struct Connect {
    request: Vec<u8>,
    close: Vec<u8>,
    /// Connections to make, and until when new ones are begun.
    wanted: usize,
    until: u64,
    begun: usize,
    finished: usize,
    stages: Vec<Stage>,
}

/// What a link waits for.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Upgrade,
    /// The peer's close frame, or its end of the connection.
    Close,
    /// Nothing: every wanted connection has been begun, or time is up.
    Nothing,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let length = arguments.seconds("seconds", 0)?;
    let wanted = arguments.count("count", if length > 0 { usize::MAX } else { 10_000 })?;
    let concurrency = arguments.count("concurrency", 50)?.min(wanted);
    let target = arguments.target()?;
    let mut links = Links::new(target.address)?;
    let mut poller = Poller::new(&links, 0)?;
    let mut close = Vec::new();
    Masks::new().close(&mut close);
    let request = websocket::upgrade(&target);
    let begun = now();
    let mut connect = Connect {
        request,
        close,
        wanted,
        until: if length > 0 { begun + length } else { u64::MAX },
        begun: concurrency,
        finished: 0,
        stages: vec![Stage::Upgrade; concurrency],
    };
    for _ in 0..concurrency {
        let who = links.open()?;
        links.send(who, &connect.request)?;
    }
    poller.run(&mut links, &mut connect, begun + length + LIMIT)?;
    let elapsed = seconds(now() - begun);
    let finished = connect.finished;
    Ok(format!("{{\"connections\":{finished},\"seconds\":{elapsed:.3}}}"))
}

impl Connect {
    fn finish(&mut self, links: &mut Links, who: usize) -> Result<(), Failure> {
        self.finished += 1;
        if self.begun == self.wanted || now() >= self.until {
            self.stages[who] = Stage::Nothing;
            links.shut(who);
            return Ok(());
        }
        self.begun += 1;
        self.stages[who] = Stage::Upgrade;
        links.reopen(who)?;
        links.send(who, &self.request)
    }
}

impl Client for Connect {
    fn next(&self) -> u64 {
        u64::MAX
    }

    fn due(&mut self, _: &mut Links, _: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], _: u64) -> Result<usize, Failure> {
        let mut taken = 0;
        if self.stages[who] == Stage::Upgrade {
            let Some(head) = http::head(bytes, b"101")? else { return Ok(0) };
            self.stages[who] = Stage::Close;
            links.send(who, &self.close)?;
            taken = head;
        }
        while let Some(frame) = websocket::frame(&bytes[taken..])? {
            taken += frame.length;
            if frame.opcode == CLOSE {
                self.finish(links, who)?;
                // What may follow belongs to the closed socket, not to the new one in its place.
                return Ok(bytes.len());
            }
        }
        Ok(taken)
    }

    fn closed(&mut self, links: &mut Links, who: usize) -> Result<(), Failure> {
        match self.stages[who] {
            Stage::Upgrade => Err(Failure::peer("the server closed a connection instead of upgrading it")),
            Stage::Close => self.finish(links, who),
            Stage::Nothing => Ok(()),
        }
    }

    fn is_over(&self, _: u64) -> bool {
        // Whoever finishes begins the next, unless there shall be none.
        self.finished == self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_that_ends_after_its_close_frame_counts_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut links = Links::new(listener.local_addr().unwrap()).unwrap();
        links.open().unwrap();
        let mut connect = Connect {
            request: Vec::new(),
            close: b"bye".to_vec(),
            wanted: 1,
            until: u64::MAX,
            begun: 1,
            finished: 0,
            stages: vec![Stage::Upgrade],
        };
        let answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x88\x00";
        assert_eq!(connect.arrived(&mut links, 0, answer, 0).unwrap(), answer.len());
        assert_eq!(connect.finished, 1);
        connect.closed(&mut links, 0).unwrap();
        assert_eq!(connect.finished, 1);
    }
}
