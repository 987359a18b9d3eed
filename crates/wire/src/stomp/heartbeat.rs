//! The arithmetic of heart-beats (1.1, 1.2 Heart-beating). Times in milliseconds; sending and missing them needs a
//! clock.

use super::violation::Violation;

/// A `heart-beat` header: what its sender can do, and what it wants. 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartBeat {
    /// The least time between heart-beats it can guarantee to send, in milliseconds.
    pub can: u32,
    /// The time between heart-beats it would like to get, in milliseconds.
    pub wants: u32,
}

/// The agreed heart-beats of two ends, seen from one of them. None: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// We send something at least this often, in milliseconds.
    pub send_every: Option<u32>,
    /// The peer sends something at least this often, in milliseconds; receivers should allow a margin.
    pub receive_every: Option<u32>,
}

impl HeartBeat {
    /// Reads the header's value; none is `0,0`. Spaces around the numbers are taken, as 1.0 habits put them there.
    ///
    /// # Errors
    /// [`Violation::HeartBeat`] when it is not two numbers of at most 32 bits.
    pub fn from_header(value: Option<&str>) -> Result<HeartBeat, Violation> {
        let Some(value) = value else { return Ok(HeartBeat::default()) };
        let number = |text: &str| {
            let text = text.trim();
            // `parse` alone would take a sign.
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let pair = value.split_once(',').and_then(|(can, wants)| Some((number(can)?, number(wants)?)));
        let (can, wants) = pair.ok_or(Violation::HeartBeat)?;
        Ok(HeartBeat { can, wants })
    }

    /// The header's value.
    pub fn to_header(self) -> String {
        format!("{},{}", self.can, self.wants)
    }

    /// Combines our declaration with the peer's: in each direction the longer of what one can do and the other wants,
    /// or nothing when either said 0.
    pub fn agree(self, peer: HeartBeat) -> Agreed {
        let every = |can: u32, wants: u32| (can > 0 && wants > 0).then(|| can.max(wants));
        Agreed { send_every: every(self.can, peer.wants), receive_every: every(peer.can, self.wants) }
    }
}
