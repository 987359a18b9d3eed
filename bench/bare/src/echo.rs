//! `bare echo`: a ping-pong of text messages on each WebSocket.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{now, seconds};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::histogram::Histogram;
use crate::links::Links;
use crate::opening::Greeting;
use crate::websocket::{self, Masks};

struct Echo {
    payload: Vec<u8>,
    masks: Masks,
    frame: Vec<u8>,
    /// When each link's message was sent.
    sent: Vec<u64>,
    begun: bool,
    under_way: usize,
    end: u64,
    latency: Histogram,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let connections = arguments.count("connections", 50)?;
    let length = arguments.seconds("seconds", 5)?;
    let bytes = arguments.count("bytes", 100)?;
    let driver = Driver::take(arguments)?;
    let target = arguments.target()?;
    let mut begun = 0;
    let client = |begin| {
        begun = begin;
        Echo {
            payload: vec![b'x'; bytes],
            masks: Masks::new(),
            frame: Vec::new(),
            sent: vec![0; connections],
            begun: false,
            under_way: 0,
            end: begin + length,
            latency: Histogram::new(),
        }
    };
    let echo = driver.run(&target, connections, Greeting::None, client, length)?;
    let (messages, elapsed) = (echo.latency.total(), seconds(now() - begun));
    let percentiles = echo.latency.percentiles();
    Ok(format!("{{\"messages\":{messages},\"seconds\":{elapsed:.3},{percentiles}}}"))
}

impl Echo {
    #[inline]
    fn send(&mut self, links: &mut Links, who: usize, now: u64) -> Result<(), Failure> {
        self.sent[who] = now;
        self.under_way += 1;
        self.masks.text(&mut self.frame, &self.payload);
        links.send(who, &self.frame)
    }
}

impl Client for Echo {
    fn next(&self) -> u64 {
        self.end
    }

    fn due(&mut self, links: &mut Links, now: u64) -> Result<(), Failure> {
        if !self.begun {
            self.begun = true;
            (0..links.len()).try_for_each(|who| self.send(links, who, now))?;
        }
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], now: u64) -> Result<usize, Failure> {
        websocket::each_message(links, who, bytes, |links, payload| {
            if payload.len() != self.payload.len() || self.sent[who] == 0 {
                return Err(Failure::peer("what came back is not what was sent"));
            }
            self.latency.record(now - self.sent[who]);
            self.sent[who] = 0;
            self.under_way -= 1;
            match now < self.end {
                true => self.send(links, who, now),
                false => Ok(()),
            }
        })
    }

    fn is_over(&self, now: u64) -> bool {
        now >= self.end && self.under_way == 0
    }
}
