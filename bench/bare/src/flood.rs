//! `bare flood`: takes what the server sends as fast as it can, and counts it.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{now, seconds};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::links::Links;
use crate::opening::Greeting;
use crate::websocket;

struct Flood {
    end: u64,
    messages: u64,
    /// Of payload.
    bytes: u64,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let connections = arguments.count("connections", 1)?;
    let length = arguments.seconds("seconds", 5)?;
    let driver = Driver::take(arguments)?;
    let target = arguments.target()?;
    let mut begun = 0;
    let client = |begin| {
        begun = begin;
        Flood { end: begin + length, messages: 0, bytes: 0 }
    };
    let flood = driver.run(&target, connections, Greeting::None, client, length)?;
    let Flood { messages, bytes, .. } = flood;
    let elapsed = seconds(now() - begun);
    Ok(format!("{{\"messages\":{messages},\"bytes\":{bytes},\"seconds\":{elapsed:.3}}}"))
}

impl Client for Flood {
    fn next(&self) -> u64 {
        self.end
    }

    fn due(&mut self, _: &mut Links, _: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], _: u64) -> Result<usize, Failure> {
        let (mut messages, mut payload_bytes) = (0, 0);
        let taken = websocket::each_message(links, who, bytes, |_, payload| {
            messages += 1;
            payload_bytes += payload.len() as u64;
            Ok(())
        })?;
        self.messages += messages;
        self.bytes += payload_bytes;
        Ok(taken)
    }

    fn is_over(&self, now: u64) -> bool {
        now >= self.end
    }
}
