//! The push decoder: WebSocket messages (or any pieces of a stream) in, frames and heart-beats out.
//!
//! | half read | where it is kept | what comes next |
//! |---|---|---|
//! | nothing | nowhere | a frame, or an end of line: the fast path, borrowed from the input |
//! | the CR of an end of line between frames | a flag | its LF |
//! | a frame | `Partial`: its bytes and how far they were read | the rest of it |

use memchr::memchr;

use super::frame::{Command, Frame};
use super::scan::{Limits, Scan, ScanRules};
use super::side::Side;
use super::version::{Version, Versions};
use super::violation::Violation;

/// A decoded frame or heart-beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole frame.
    Frame(Frame<'a>),
    /// An end of line between frames. It may be one that its sender puts behind each frame, as the grammar allows; both
    /// are signs of life.
    HeartBeat,
}

/// Decodes one direction of one connection. 32 bytes, and nothing on the heap, between frames.
pub struct Decoder {
    partial: Option<Box<Partial>>,
    limits: Limits,
    side: Side,
    versions: Versions,
    version: Option<Version>,
    after_cr: bool,
    failed: bool,
}

/// A frame that began in an earlier piece.
struct Partial {
    bytes: Vec<u8>,
    scan: Scan,
}

impl Decoder {
    /// `side` is ours; `versions` are those we speak: a server takes the highest the client's CONNECT shares with them,
    /// a client refuses a CONNECTED outside them.
    pub fn new(side: Side, versions: Versions, limits: Limits) -> Decoder {
        Decoder { partial: None, limits, side, versions, version: None, after_cr: false, failed: false }
    }

    /// Decodes `input` and calls `on` for each event in order. After a violation further input is ignored.
    ///
    /// # Errors
    /// The first [`Violation`], after the events that came before it. Neither depends on how the stream was cut.
    #[inline]
    pub fn feed(&mut self, input: &[u8], mut on: impl FnMut(Event<'_>)) -> Result<(), Violation> {
        let mut at = 0;
        while at < input.len() && !self.failed {
            match self.step(&input[at..], &mut on) {
                Ok(taken) => at += taken,
                Err(violation) => {
                    self.failed = true;
                    self.partial = None;
                    return Err(violation);
                }
            }
        }
        Ok(())
    }

    /// The session's version, once CONNECT (or CONNECTED) settled it. None after a CONNECT that shares none with us:
    /// the server answers with ERROR and its own versions.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// True when no frame is half read: a connection that ends here ended between frames. False after a violation.
    pub fn is_idle(&self) -> bool {
        self.partial.is_none() && !self.after_cr && !self.failed
    }

    /// Takes at least one byte from `input`: a whole frame when that is possible.
    #[inline]
    fn step(&mut self, input: &[u8], on: &mut impl FnMut(Event<'_>)) -> Result<usize, Violation> {
        if self.partial.is_some() {
            return self.step_in_pieces(input, on);
        }
        if self.after_cr || matches!(input[0], b'\n' | b'\r') {
            return self.end_of_line(input[0], on);
        }
        let mut scan = Scan::default();
        match scan.run(input, self.rules())? {
            Some(size) => {
                self.hand_over(&scan, input, size, on)?;
                Ok(size)
            }
            None => {
                self.partial = Some(Box::new(Partial { bytes: input.to_vec(), scan }));
                Ok(input.len())
            }
        }
    }

    #[inline(never)]
    fn end_of_line(&mut self, byte: u8, on: &mut impl FnMut(Event<'_>)) -> Result<usize, Violation> {
        match byte {
            b'\n' => {
                self.after_cr = false;
                on(Event::HeartBeat);
            }
            b'\r' if !self.after_cr && self.rules().allows_crlf() => self.after_cr = true,
            _ => return Err(Violation::CarriageReturn),
        }
        Ok(1)
    }

    #[inline(never)]
    fn step_in_pieces(&mut self, input: &[u8], on: &mut impl FnMut(Event<'_>)) -> Result<usize, Violation> {
        let Some(mut partial) = self.partial.take() else { return Ok(0) };
        // Never more than the frame: what follows it is decoded where it lies.
        let taken = match partial.scan.missing(partial.bytes.len()) {
            Some(missing) => missing.min(input.len()),
            None => memchr(0, input).map_or(input.len(), |nul| nul + 1),
        };
        partial.bytes.extend_from_slice(&input[..taken]);
        match partial.scan.run(&partial.bytes, self.rules())? {
            Some(size) => self.hand_over(&partial.scan, &partial.bytes, size, on)?,
            None => self.partial = Some(partial),
        }
        Ok(taken)
    }

    #[inline]
    fn hand_over(
        &mut self,
        scan: &Scan,
        bytes: &[u8],
        size: usize,
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Violation> {
        let Some(mut frame) = scan.frame(bytes, size, self.version.unwrap_or(Version::V1_0)) else {
            return Ok(());
        };
        match self.version {
            None => self.settle(&mut frame)?,
            Some(version) if version == Version::V1_0 && frame.command == Command::Nack => {
                return Err(Violation::CommandVersion { command: frame.command, version });
            }
            Some(_) => {}
        }
        on(Event::Frame(frame));
        Ok(())
    }

    /// The frames that may come before a version is settled, and what they settle.
    #[cold]
    fn settle(&mut self, frame: &mut Frame<'_>) -> Result<(), Violation> {
        match frame.command {
            Command::Connect | Command::Stomp => {
                let accepted = Versions::accepted(frame.header("accept-version")?.as_deref());
                self.version = self.versions.highest_common(accepted);
            }
            Command::Connected => {
                let named = frame.header("version")?;
                let version = named.map_or(Some(Version::V1_0), |name| Version::from_name(&name));
                self.version = version.filter(|version| self.versions.has(*version));
                self.version.ok_or(Violation::Version)?;
            }
            Command::Error => {}
            command => return Err(Violation::NotConnected { command }),
        }
        frame.version = self.version.unwrap_or(Version::V1_0);
        Ok(())
    }

    fn rules(&self) -> ScanRules {
        ScanRules { side: self.side, version: self.version, limits: self.limits }
    }
}
