//! `bare http`: a closed loop of keep-alive requests, each connection's next one as soon as it has its answer.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{SECOND, now, seconds};
use crate::failure::Failure;
use crate::histogram::Histogram;
use crate::http;
use crate::links::Links;
use crate::poller::Poller;

struct Closed {
    request: Vec<u8>,
    /// When each link's request was sent; none is under way at 0.
    sent: Vec<u64>,
    under_way: usize,
    end: u64,
    latency: Histogram,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let connections = arguments.count("connections", 50)?;
    let length = arguments.seconds("seconds", 5)?;
    let target = arguments.target()?;
    let mut links = Links::new(target.address)?;
    let mut poller = Poller::new(&links, 0)?;
    let begun = now();
    let end = begun + length;
    let mut closed = Closed {
        request: http::request(&target),
        sent: vec![0; connections],
        under_way: 0,
        end,
        latency: Histogram::new(),
    };
    for _ in 0..connections {
        let who = links.open()?;
        closed.send(&mut links, who, now())?;
    }
    poller.run(&mut links, &mut closed, end + 30 * SECOND)?;
    let (requests, elapsed) = (closed.latency.total(), seconds(now() - begun));
    let percentiles = closed.latency.percentiles();
    Ok(format!("{{\"requests\":{requests},\"seconds\":{elapsed:.3},{percentiles}}}"))
}

impl Closed {
    fn send(&mut self, links: &mut Links, who: usize, now: u64) -> Result<(), Failure> {
        self.sent[who] = now;
        self.under_way += 1;
        links.send(who, &self.request)
    }
}

impl Client for Closed {
    fn next(&self) -> u64 {
        self.end
    }

    fn due(&mut self, _: &mut Links, _: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], now: u64) -> Result<usize, Failure> {
        let Some(length) = http::response(bytes)? else { return Ok(0) };
        if length < bytes.len() || self.sent[who] == 0 {
            return Err(Failure::peer("the server answers more than it was asked"));
        }
        self.latency.record(now - self.sent[who]);
        self.sent[who] = 0;
        self.under_way -= 1;
        if now < self.end {
            self.send(links, who, now)?;
        }
        Ok(length)
    }

    fn is_over(&self, now: u64) -> bool {
        now >= self.end && self.under_way == 0
    }
}
