//! The plan of misbehaviour: which copies the fan-out drops, doubles, delays, holds back or leaks.
//!
//! It only decides; `rooms::fault_injection` carries a decision out and counts it once it has taken effect. A decision
//! is a pure function of the seed, the room, the sender's account, the number of the message among that connection's
//! and the receiver's account, so it does not depend on how the messages of different senders interleave.
//! The classes are defined for readers in `docs/faults.md`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Shares of copies (message × receiver) to spoil, each from 0 to 1 and together at most 1: a copy draws at most
/// one fault. The default plants nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Share never queued.
    pub drop: f64,
    /// Share queued twice in a row.
    pub duplicate: f64,
    /// Share queued late, by `delay_by`.
    pub delay: f64,
    /// How late a delayed copy is queued.
    pub delay_by: Duration,
    /// Share held until the next copy of the same sender, room and receiver has been queued.
    pub reorder: f64,
    /// Share whose message is also queued to a connection outside the room.
    pub leak: f64,
    /// The seed of all decisions.
    pub seed: u64,
    /// How long a copy is held for a later one to overtake it; then it is queued in order and not counted.
    pub hold: Duration,
    /// How long a connection must have been a member before its copies are spoilt, and how long it must have been
    /// outside a room before a message is leaked to it: keeps faults out of a ledger's settle window.
    pub settle: Duration,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            drop: 0.0,
            duplicate: 0.0,
            delay: 0.0,
            delay_by: Duration::ZERO,
            reorder: 0.0,
            leak: 0.0,
            seed: 0,
            hold: Duration::from_secs(2),
            settle: Duration::from_secs(1),
        }
    }
}

/// The fate drawn for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    Clean,
    Drop,
    Duplicate,
    Delay,
    Reorder,
    Leak,
}

/// Everything that identifies a copy, the same in every run of the same script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) room: u64,
    pub(crate) sender: u64,
    /// The number of the message among those its sender's connection has published.
    pub(crate) number: u64,
    pub(crate) receiver: u64,
}

impl Faults {
    /// True when nothing is to be spoilt; the fan-out then takes the path without faults.
    pub fn is_none(&self) -> bool {
        [self.drop, self.duplicate, self.delay, self.reorder, self.leak].iter().all(|share| *share == 0.0)
    }

    pub(crate) fn draw(&self, copy: Copy) -> Draw {
        let mut hash = self.seed;
        for part in [copy.room, copy.sender, copy.number, copy.receiver] {
            hash = mix(hash ^ part);
        }
        // 53 bits: exactly what an f64 in [0, 1) holds.
        let mut at = (hash >> 11) as f64 / (1u64 << 53) as f64;
        for (share, draw) in [
            (self.drop, Draw::Drop),
            (self.duplicate, Draw::Duplicate),
            (self.delay, Draw::Delay),
            (self.reorder, Draw::Reorder),
            (self.leak, Draw::Leak),
        ] {
            if at < share {
                return draw;
            }
            at -= share;
        }
        Draw::Clean
    }
}

/// A step of SplitMix64: every input bit moves every output bit.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Everything wrong with a text of faults, one problem a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FaultProblems(pub Vec<String>);

impl fmt::Display for FaultProblems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            writeln!(out, "{problem}")?;
        }
        write!(out, "hint: for example drop=3%,duplicate=1%,delay=50ms@5%,reorder=1%,leak=0.1%,seed=7")
    }
}

impl FromStr for Faults {
    type Err = FaultProblems;

    /// `drop=3%,duplicate=1%,delay=50ms@5%,reorder=1%,leak=0.1%,seed=7,hold=2s,settle=1s`, any subset, any order.
    fn from_str(text: &str) -> Result<Faults, FaultProblems> {
        let mut faults = Faults::default();
        let mut problems = Vec::new();
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=').map(|(n, v)| (n.trim(), v.trim())) else {
                problems.push(format!("a fault is name=value, got `{part}`"));
                continue;
            };
            if seen.contains(&name) {
                problems.push(format!("`{name}` may be given once, got it again as `{part}`"));
                continue;
            }
            seen.push(name);
            if let Err(problem) = faults.set(name, value) {
                problems.push(problem);
            }
        }
        let sum = faults.drop + faults.duplicate + faults.delay + faults.reorder + faults.leak;
        if sum > 1.0 + 1e-9 {
            problems.push(format!(
                "the shares may add up to 100 % because a copy draws one fault, got {} %",
                sum * 100.0
            ));
        }
        if problems.is_empty() { Ok(faults) } else { Err(FaultProblems(problems)) }
    }
}

impl Faults {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "drop" => self.drop = share(name, value)?,
            "duplicate" => self.duplicate = share(name, value)?,
            "reorder" => self.reorder = share(name, value)?,
            "leak" => self.leak = share(name, value)?,
            "delay" => {
                let (by, part) = value
                    .split_once('@')
                    .ok_or_else(|| format!("delay is duration@share like 50ms@5%, got `{value}`"))?;
                self.delay_by = duration(name, by)?;
                self.delay = share(name, part)?;
            }
            "seed" => {
                self.seed =
                    value.parse().map_err(|_| format!("seed is a whole number from 0, got `{value}`"))?;
            }
            "hold" => self.hold = duration(name, value)?,
            "settle" => self.settle = duration(name, value)?,
            _ => {
                return Err(format!(
                    "faults are drop, duplicate, delay, reorder, leak, seed, hold, settle; got `{name}`"
                ));
            }
        }
        Ok(())
    }
}

fn share(name: &str, text: &str) -> Result<f64, String> {
    let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    digits
        .trim()
        .parse::<f64>()
        .ok()
        .map(|value| value / scale)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("{name} is a share like 3% or 0.03, from 0 to 100 %, got `{text}`"))
}

fn duration(name: &str, text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (digits, ms) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(digits), _) => (digits, 1.0),
        (None, Some(digits)) => (digits, 1000.0),
        (None, None) => (text, f64::NAN),
    };
    digits
        .parse::<f64>()
        .ok()
        .map(|value| value * ms)
        .filter(|ms| (0.0..=3_600_000.0).contains(ms))
        .map(|ms| Duration::from_secs_f64(ms / 1000.0))
        .ok_or_else(|| format!("{name} takes a duration like 50ms or 2s, up to an hour, got `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_named_in_one_text() {
        let faults: Faults =
            "drop=3%,duplicate=1%,delay=50ms@5%,reorder=0.01,leak=0.1%,seed=7,hold=1s".parse().unwrap();
        let expected = Faults {
            drop: 0.03,
            duplicate: 0.01,
            delay: 0.05,
            delay_by: Duration::from_millis(50),
            reorder: 0.01,
            leak: 0.001,
            seed: 7,
            hold: Duration::from_secs(1),
            settle: Duration::from_secs(1),
        };
        assert_eq!(faults, expected);
        assert!("".parse::<Faults>().unwrap().is_none());
    }

    #[test]
    fn all_problems_of_a_text_are_reported_at_once() {
        let FaultProblems(problems) =
            "drop=3,dropp=1%,delay=5%,seed=-1,reorder,leak=1%,leak=2%,hold=2h".parse::<Faults>().unwrap_err();
        assert_eq!(
            problems,
            [
                "drop is a share like 3% or 0.03, from 0 to 100 %, got `3`",
                "faults are drop, duplicate, delay, reorder, leak, seed, hold, settle; got `dropp`",
                "delay is duration@share like 50ms@5%, got `5%`",
                "seed is a whole number from 0, got `-1`",
                "a fault is name=value, got `reorder`",
                "`leak` may be given once, got it again as `leak=2%`",
                "hold takes a duration like 50ms or 2s, up to an hour, got `2h`",
            ]
        );
    }

    #[test]
    fn shares_above_the_whole_are_refused() {
        let FaultProblems(problems) = "drop=60%,leak=50%".parse::<Faults>().unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("the shares may add up to 100 %"));
    }

    #[test]
    fn a_copy_draws_the_same_fault_whenever_it_is_asked_and_the_shares_hold() {
        let faults: Faults = "drop=30%,duplicate=20%,reorder=10%,seed=7".parse().unwrap();
        let mut counts = [0u32; 4];
        for number in 0..20_000 {
            let copy = Copy { room: 1, sender: 2, number, receiver: 3 };
            let draw = faults.draw(copy);
            assert_eq!(draw, faults.draw(copy));
            counts[match draw {
                Draw::Drop => 0,
                Draw::Duplicate => 1,
                Draw::Reorder => 2,
                _ => 3,
            }] += 1;
        }
        for (count, expected) in counts.iter().zip([6000, 4000, 2000, 8000]) {
            assert!(count.abs_diff(expected) < 300, "{counts:?}");
        }
    }
}
