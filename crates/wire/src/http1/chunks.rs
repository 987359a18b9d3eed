//! A chunked body (RFC 9112 §7.1), byte by byte where it is framing and piece by piece where it is data.
//!
//! | state | what comes | next |
//! |---|---|---|
//! | `Start` | a hexadecimal digit | `Size` |
//! | `Size` | digits; blank; `;`; CR | `Size`; `Blank`; `Extension`; `SizeLf` |
//! | `Blank` | blanks; `;`; CR | `Blank`; `Extension`; `SizeLf` |
//! | `Extension` | anything but LF; CR | `Extension`; `SizeLf` |
//! | `SizeLf` | LF | `Data`, or `Line` after a size of 0 |
//! | `Data` | so many bytes | `DataCr` |
//! | `DataCr`, `DataLf` | CR, LF | `Start` |
//! | `Line` | CR; else a trailer | `EndLf`; `Trailer` |
//! | `Trailer` | anything but LF; CR | `Trailer`; `TrailerLf` |
//! | `TrailerLf` | LF | `Line` |
//! | `EndLf` | LF | the end |

use super::{MAX_HEAD, Violation};

/// The most digits of a size: what fits 64 bits.
const MAX_DIGITS: u8 = 16;

#[derive(Debug)]
pub(super) struct Chunks {
    state: ChunkState,
    /// The size as far as it is read, then what is left of the data.
    size: u64,
    digits: u8,
    /// Bytes of extensions and trailers so far.
    overhead: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    Start,
    Size,
    Blank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Line,
    Trailer,
    TrailerLf,
    EndLf,
    Over,
}

impl Chunks {
    pub(super) fn new() -> Chunks {
        Chunks { state: ChunkState::Start, size: 0, digits: 0, overhead: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == ChunkState::Over
    }

    /// Reads on and returns how many bytes it took: all, unless the body is over before.
    pub(super) fn feed(&mut self, bytes: &[u8], mut data: impl FnMut(&[u8])) -> Result<usize, Violation> {
        let mut taken = 0;
        while let Some(&byte) = bytes.get(taken) {
            if self.state == ChunkState::Data {
                let rest = &bytes[taken..];
                let length = usize::try_from(self.size).unwrap_or(usize::MAX).min(rest.len());
                data(&rest[..length]);
                self.size -= length as u64;
                taken += length;
                if self.size == 0 {
                    self.state = ChunkState::DataCr;
                }
                continue;
            }
            self.state = self.step(byte)?;
            taken += 1;
            if self.state == ChunkState::Over {
                break;
            }
        }
        Ok(taken)
    }

    fn step(&mut self, byte: u8) -> Result<ChunkState, Violation> {
        Ok(match (self.state, byte) {
            (ChunkState::Start, _) => {
                (self.size, self.digits) = (0, 0);
                self.digit(byte)?
            }
            (ChunkState::Size | ChunkState::Blank, b' ' | b'\t') => self.overhead(ChunkState::Blank)?,
            (ChunkState::Size | ChunkState::Blank, b';') => self.overhead(ChunkState::Extension)?,
            (ChunkState::Size | ChunkState::Blank | ChunkState::Extension, b'\r') => ChunkState::SizeLf,
            (ChunkState::Size, _) => self.digit(byte)?,
            (ChunkState::Blank, _) => return Err(Violation::ChunkSize),
            (ChunkState::Extension, b'\n') | (ChunkState::Trailer, b'\n') => return Err(Violation::ChunkEnd),
            (ChunkState::Extension, _) => self.overhead(ChunkState::Extension)?,
            (ChunkState::SizeLf, b'\n') if self.size == 0 => ChunkState::Line,
            (ChunkState::SizeLf, b'\n') => ChunkState::Data,
            (ChunkState::DataCr, b'\r') => ChunkState::DataLf,
            (ChunkState::DataLf, b'\n') => ChunkState::Start,
            (ChunkState::Line, b'\r') => ChunkState::EndLf,
            (ChunkState::Line, b'\n') => return Err(Violation::ChunkEnd),
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerLf,
            (ChunkState::Line | ChunkState::Trailer, _) => self.overhead(ChunkState::Trailer)?,
            (ChunkState::TrailerLf, b'\n') => ChunkState::Line,
            (ChunkState::EndLf, b'\n') => ChunkState::Over,
            // Data is taken as a whole, and nothing is read after the end.
            (ChunkState::Data | ChunkState::Over, _) => self.state,
            (
                ChunkState::SizeLf
                | ChunkState::DataCr
                | ChunkState::DataLf
                | ChunkState::TrailerLf
                | ChunkState::EndLf,
                _,
            ) => {
                return Err(Violation::ChunkEnd);
            }
        })
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkState, Violation> {
        let digit = char::from(byte).to_digit(16).ok_or(Violation::ChunkSize)?;
        if self.digits == MAX_DIGITS {
            return Err(Violation::ChunkSize);
        }
        self.digits += 1;
        self.size = self.size << 4 | u64::from(digit);
        Ok(ChunkState::Size)
    }

    fn overhead(&mut self, next: ChunkState) -> Result<ChunkState, Violation> {
        self.overhead += 1;
        if self.overhead > MAX_HEAD { Err(Violation::ChunkOverhead) } else { Ok(next) }
    }
}
