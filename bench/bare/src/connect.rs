//! `bare connect`: WebSockets one after the other: connect, upgrade, close as the protocol wants it, and again.

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
    wanted: usize,
    begun: usize,
    finished: usize,
    /// Whether each link waits for the peer's close frame, and no more for its upgrade.
    closing: Vec<bool>,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let wanted = arguments.count("count", 10_000)?;
    let concurrency = arguments.count("concurrency", 50)?.min(wanted);
    let target = arguments.target()?;
    let mut links = Links::new(target.address)?;
    let mut poller = Poller::new(&links, 0)?;
    let mut close = Vec::new();
    Masks::new().close(&mut close);
    let request = websocket::upgrade(&target);
    let mut connect = Connect {
        request,
        close,
        wanted,
        begun: concurrency,
        finished: 0,
        closing: vec![false; concurrency],
    };
    let begun = now();
    for _ in 0..concurrency {
        let who = links.open()?;
        links.send(who, &connect.request)?;
    }
    poller.run(&mut links, &mut connect, begun + LIMIT)?;
    let elapsed = seconds(now() - begun);
    Ok(format!("{{\"connections\":{wanted},\"seconds\":{elapsed:.3}}}"))
}

impl Connect {
    fn finish(&mut self, links: &mut Links, who: usize) -> Result<(), Failure> {
        self.finished += 1;
        if self.begun == self.wanted {
            links.shut(who);
            return Ok(());
        }
        self.begun += 1;
        self.closing[who] = false;
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
        if !self.closing[who] {
            let Some(head) = http::head(bytes, b"101")? else { return Ok(0) };
            self.closing[who] = true;
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
        match self.closing[who] {
            true if self.begun == self.wanted && self.finished == self.wanted => Ok(()),
            true => self.finish(links, who),
            false => Err(Failure::peer("the server closed a connection instead of upgrading it")),
        }
    }

    fn is_over(&self, _: u64) -> bool {
        self.finished == self.wanted
    }
}
