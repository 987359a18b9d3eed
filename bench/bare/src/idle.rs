//! `bare idle`: holds many WebSockets, each of which echoes one small message now and then.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{SECOND, now};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::links::Links;
use crate::opening::Greeting;
use crate::websocket::{self, Masks};

const PAYLOAD: &[u8] = b"still here";
/// After the end, so long for the last echoes.
const DRAIN: u64 = 5 * SECOND;

struct Idle {
    masks: Masks,
    frame: Vec<u8>,
    begin: u64,
    users: u64,
    every: u64,
    wanted: u64,
    sent: u64,
    messages: u64,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let users = arguments.count("users", 10_000)?;
    let every = arguments.seconds("every", 5)?;
    let length = arguments.seconds("seconds", 20)?;
    let target = arguments.target()?;
    let called = now();
    let client = |begin| Idle {
        masks: Masks::new(),
        frame: Vec::new(),
        begin,
        users: users as u64,
        every,
        wanted: (users as u128 * u128::from(length) / u128::from(every)) as u64,
        sent: 0,
        messages: 0,
    };
    let idle = Driver::Epoll { gather: 0 }.run(&target, users, Greeting::None, client, length)?;
    let connected_after = (idle.begin - called) as f64 / 1e6;
    let messages = idle.messages;
    Ok(format!("{{\"users\":{users},\"connected_after_ms\":{connected_after:.1},\"messages\":{messages}}}"))
}

impl Idle {
    /// When message number `n` is planned: each user once per `every`, one after the other.
    fn at(&self, n: u64) -> u64 {
        self.begin + (u128::from(n) * u128::from(self.every) / u128::from(self.users)) as u64
    }
}

impl Client for Idle {
    fn next(&self) -> u64 {
        if self.sent < self.wanted { self.at(self.sent) } else { self.at(self.wanted) + DRAIN }
    }

    fn due(&mut self, links: &mut Links, now: u64) -> Result<(), Failure> {
        while self.sent < self.wanted && self.at(self.sent) <= now {
            self.masks.text(&mut self.frame, PAYLOAD);
            links.send((self.sent % self.users) as usize, &self.frame)?;
            self.sent += 1;
        }
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], _: u64) -> Result<usize, Failure> {
        websocket::each_message(links, who, bytes, |_, payload| {
            self.messages += 1;
            match payload == PAYLOAD {
                true => Ok(()),
                false => Err(Failure::peer("what came back is not what was sent")),
            }
        })
    }

    fn is_over(&self, now: u64) -> bool {
        let end = self.at(self.wanted);
        now >= end && (self.messages == self.sent || now >= end + DRAIN)
    }
}
