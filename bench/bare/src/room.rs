//! `bare room`: each of N users sends once a second, evenly spread, and everyone receives everything.
//!
//! The planned instant of the send is the first sixteen bytes of the message, so a delivery's latency needs no table
//! and includes whatever made the send late.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::SECOND;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::histogram::Histogram;
use crate::links::Links;
use crate::opening::Greeting;
use crate::websocket::{self, Masks};

/// The planned instant in hexadecimal.
const STAMP: usize = 16;
/// After the last planned send, so long for deliveries; what is missing then shows as `received` < `expected`.
const DRAIN: u64 = 5 * SECOND;

struct Room {
    payload: Vec<u8>,
    masks: Masks,
    frame: Vec<u8>,
    begin: u64,
    users: u64,
    wanted: u64,
    sent: u64,
    latency: Histogram,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let users = arguments.count("users", 500)?;
    let length = arguments.seconds("seconds", 10)?;
    let bytes = arguments.count("bytes", 86)?;
    if bytes < STAMP {
        return Err(Failure::Usage(format!("--bytes wants at least {STAMP} in a room, got {bytes}")));
    }
    let driver = Driver::take(arguments)?;
    let target = arguments.target()?;
    let client = |begin| Room {
        payload: vec![b'x'; bytes],
        masks: Masks::new(),
        frame: Vec::new(),
        begin,
        users: users as u64,
        wanted: (users as u128 * u128::from(length) / u128::from(SECOND)) as u64,
        sent: 0,
        latency: Histogram::new(),
    };
    let room = driver.run(&target, users, Greeting::Joined, client, length)?;
    let (sent, expected, received) = (room.sent, room.expected(), room.latency.total());
    let percentiles = room.latency.percentiles();
    Ok(format!("{{\"sent\":{sent},\"expected\":{expected},\"received\":{received},{percentiles}}}"))
}

impl Room {
    /// When message number `n` is planned: each user once a second, one after the other.
    fn at(&self, n: u64) -> u64 {
        self.begin + (u128::from(n) * u128::from(SECOND) / u128::from(self.users)) as u64
    }

    fn expected(&self) -> u64 {
        self.sent * self.users
    }
}

impl Client for Room {
    fn next(&self) -> u64 {
        if self.sent < self.wanted { self.at(self.sent) } else { self.at(self.wanted) + DRAIN }
    }

    fn due(&mut self, links: &mut Links, now: u64) -> Result<(), Failure> {
        while self.sent < self.wanted && self.at(self.sent) <= now {
            let planned = self.at(self.sent);
            write_stamp(&mut self.payload, planned);
            self.masks.text(&mut self.frame, &self.payload);
            links.send((self.sent % self.users) as usize, &self.frame)?;
            self.sent += 1;
        }
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], now: u64) -> Result<usize, Failure> {
        websocket::each_message(links, who, bytes, |_, payload| {
            let planned = read_stamp(payload).filter(|planned| *planned <= now);
            let planned = planned.ok_or_else(|| Failure::peer("a message that nobody in this room sent"))?;
            self.latency.record(now - planned);
            Ok(())
        })
    }

    fn is_over(&self, now: u64) -> bool {
        let all_sent = self.sent == self.wanted;
        all_sent && (self.latency.total() >= self.expected() || now >= self.at(self.wanted) + DRAIN)
    }
}

fn write_stamp(payload: &mut [u8], instant: u64) {
    for (at, byte) in payload[..STAMP].iter_mut().enumerate() {
        *byte = b"0123456789abcdef"[(instant >> (60 - 4 * at)) as usize & 15];
    }
}

#[inline]
fn read_stamp(payload: &[u8]) -> Option<u64> {
    let digits = payload.first_chunk::<STAMP>()?;
    digits.iter().try_fold(0, |instant, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(instant << 4 | u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planned_instant_survives_its_text() {
        for instant in [0, 1, 0xfedc_ba98_7654_3210, u64::MAX] {
            let mut payload = vec![b'x'; 20];
            write_stamp(&mut payload, instant);
            assert_eq!(read_stamp(&payload), Some(instant));
            assert_eq!(&payload[16..], b"xxxx");
        }
        assert_eq!(read_stamp(b"joined"), None);
        assert_eq!(read_stamp(b"000000000000000g"), None);
    }
}
