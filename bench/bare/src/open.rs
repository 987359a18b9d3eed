//! `bare open`: requests planned at a fixed rate, whatever the answers do. A latency begins at the planned instant,
//! so a request that finds no free connection pays for its wait.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{SECOND, now};
use crate::failure::Failure;
use crate::histogram::Histogram;
use crate::http;
use crate::links::Links;
use crate::poller::Poller;

/// After the last planned request, so long for answers; what is missing then shows as `completed` < `planned`.
const DRAIN: u64 = 5 * SECOND;
/// Before the first planned request: the connections are opened in this time.
const LEAD: u64 = SECOND / 5;

struct Open {
    request: Vec<u8>,
    begin: u64,
    rate: u64,
    wanted: u64,
    sent: u64,
    /// Links without a request under way; the one used last is used next.
    free: Vec<usize>,
    planned: Vec<u64>,
    latency: Histogram,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let rate = arguments.count("rate", 50_000)? as u64;
    let connections = arguments.count("connections", 100)?;
    let length = arguments.seconds("seconds", 5)?;
    let target = arguments.target()?;
    let mut links = Links::new(target.address)?;
    let mut poller = Poller::new(&links, 0)?;
    for _ in 0..connections {
        links.open()?;
    }
    let begin = now() + LEAD;
    let mut open = Open {
        request: http::request(&target),
        begin,
        rate,
        wanted: (u128::from(rate) * u128::from(length) / u128::from(SECOND)) as u64,
        sent: 0,
        free: (0..connections).collect(),
        planned: vec![0; connections],
        latency: Histogram::new(),
    };
    poller.run(&mut links, &mut open, begin + length + DRAIN + SECOND)?;
    let (planned, completed) = (open.wanted, open.latency.total());
    let percentiles = open.latency.percentiles();
    Ok(format!("{{\"planned\":{planned},\"completed\":{completed},{percentiles}}}"))
}

impl Open {
    /// When request number `n` is planned.
    fn at(&self, n: u64) -> u64 {
        self.begin + (u128::from(n) * u128::from(SECOND) / u128::from(self.rate)) as u64
    }
}

impl Client for Open {
    fn next(&self) -> u64 {
        match self.sent < self.wanted {
            true if self.free.is_empty() => u64::MAX,
            true => self.at(self.sent),
            false => self.at(self.wanted) + DRAIN,
        }
    }

    fn due(&mut self, links: &mut Links, now: u64) -> Result<(), Failure> {
        while self.sent < self.wanted && self.at(self.sent) <= now {
            let Some(who) = self.free.pop() else { break };
            self.planned[who] = self.at(self.sent);
            self.sent += 1;
            links.send(who, &self.request)?;
        }
        Ok(())
    }

    fn arrived(&mut self, _: &mut Links, who: usize, bytes: &[u8], now: u64) -> Result<usize, Failure> {
        let Some(length) = http::response(bytes)? else { return Ok(0) };
        if length < bytes.len() || self.planned[who] == 0 {
            return Err(Failure::peer("the server answers more than it was asked"));
        }
        self.latency.record(now - self.planned[who]);
        self.planned[who] = 0;
        self.free.push(who);
        Ok(length)
    }

    fn is_over(&self, now: u64) -> bool {
        self.latency.total() == self.wanted || now >= self.at(self.wanted) + DRAIN
    }
}
