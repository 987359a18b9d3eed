//! The signs of life of transports that bring their own: an event stream's comments, STOMP's heart-beats, SockJS's `h`.
//!
//! Beside a WebSocket's pings (`Deadlines`), which go on beneath STOMP. Like those there is no timer for each: the
//! sweep looks.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;

/// The heartbeat's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Signal {
    /// An event stream's comment.
    #[default]
    Comment,
    SockJs,
    Stomp,
    StompInSockJs,
}

impl Signal {
    const ALL: [Signal; 4] = [Signal::Comment, Signal::SockJs, Signal::Stomp, Signal::StompInSockJs];

    /// A whole frame.
    pub(crate) fn frame(self) -> Bytes {
        match self {
            Signal::Comment => Bytes::from_static(b":\n\n"),
            Signal::SockJs => Bytes::from_static(b"\x81\x01h"),
            Signal::Stomp => Bytes::from_static(b"\x81\x01\n"),
            Signal::StompInSockJs => Bytes::from_static(b"\x81\x07a[\"\\n\"]"),
        }
    }
}

/// Times are milliseconds of the service's clock; 0 is none.
#[derive(Default)]
pub(crate) struct Heartbeat {
    say_at: AtomicU64,
    /// When a silent client counts as dead.
    dead_at: AtomicU64,
    /// When the connection has lasted long enough.
    over_at: AtomicU64,
    say_every: AtomicU32,
    /// How long a client may be silent.
    silence: AtomicU32,
    word: AtomicU8,
}

/// The sweep's next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Say(Bytes),
    Dead,
    Over,
}

impl Heartbeat {
    /// From now on `word` is said this often; never when it is zero.
    pub(crate) fn say(&self, word: Signal, every: Duration, now: u64) {
        let every = every.as_millis().min(u128::from(u32::MAX)) as u32;
        self.word.store(word as u8, Relaxed);
        self.say_every.store(every, Relaxed);
        self.say_at.store(if every > 0 { now + u64::from(every) } else { 0 }, Relaxed);
    }

    /// From now on the client may be silent for so long.
    pub(crate) fn expect(&self, within: Duration, now: u64) {
        self.silence.store(within.as_millis().min(u128::from(u32::MAX)) as u32, Relaxed);
        self.heard(now);
    }

    /// The client said something.
    pub(crate) fn heard(&self, now: u64) {
        let silence = self.silence.load(Relaxed);
        if silence > 0 {
            self.dead_at.store(now + u64::from(silence), Relaxed);
        }
    }

    /// The connection is over then, or 0: not by time.
    pub(crate) fn over_at(&self, at: u64) {
        self.over_at.store(at, Relaxed);
    }

    /// Deadlines within `tick`, after which it is asked again, count as reached.
    pub(crate) fn check(&self, now: u64, tick: u64) -> Due {
        let soon = now + tick;
        let reached = |at: &AtomicU64| {
            let at = at.load(Relaxed);
            at != 0 && soon >= at
        };
        if reached(&self.dead_at) {
            return Due::Dead;
        }
        if reached(&self.over_at) {
            return Due::Over;
        }
        if reached(&self.say_at) {
            let every = u64::from(self.say_every.load(Relaxed));
            // From now, not from when it was due: after a long stall of ours one is enough.
            self.say_at.store(now + every, Relaxed);
            let word = Signal::ALL.get(usize::from(self.word.load(Relaxed))).copied().unwrap_or_default();
            return Due::Say(word.frame());
        }
        Due::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_said_as_often_as_agreed_and_silence_is_borne_as_long() {
        let ms = Duration::from_millis;
        let beat = Heartbeat::default();
        assert_eq!(beat.check(u64::MAX, 0), Due::Nothing, "nothing was agreed");
        beat.heard(5);
        assert_eq!(beat.check(u64::MAX, 0), Due::Nothing);
        beat.say(Signal::Stomp, ms(100), 10);
        beat.expect(ms(250), 10);
        let said = |at| beat.check(at, 0) == Due::Say(Bytes::from_static(b"\x81\x01\n"));
        assert!(!said(109) && said(110) && !said(209) && said(210));
        beat.heard(220);
        assert!(said(310) && said(410) && beat.check(469, 0) == Due::Nothing);
        assert_eq!(beat.check(470, 0), Due::Dead);
        beat.heard(470);
        beat.say(Signal::Stomp, Duration::ZERO, 470);
        assert_eq!(beat.check(719, 0), Due::Nothing);
        beat.over_at(600);
        assert_eq!((beat.check(599, 0), beat.check(600, 0)), (Due::Nothing, Due::Over));
        beat.over_at(0);
        assert_eq!(beat.check(600, 0), Due::Nothing);
    }

    #[test]
    fn a_word_is_said_early_rather_than_late() {
        let beat = Heartbeat::default();
        beat.say(Signal::Stomp, Duration::from_millis(1000), 10);
        let said: Vec<u64> =
            (0..5000).step_by(300).filter(|now| matches!(beat.check(*now, 300), Due::Say(_))).collect();
        assert_eq!(said, [900, 1800, 2700, 3600, 4500]);
    }

    #[test]
    fn each_transport_has_its_own_word() {
        for (word, frame) in [
            (Signal::Comment, &b":\n\n"[..]),
            (Signal::SockJs, b"\x81\x01h"),
            (Signal::Stomp, b"\x81\x01\n"),
            (Signal::StompInSockJs, b"\x81\x07a[\"\\n\"]"),
        ] {
            let beat = Heartbeat::default();
            beat.say(word, Duration::from_millis(1), 0);
            assert_eq!(beat.check(1, 0), Due::Say(Bytes::from_static(frame)));
        }
    }
}
