//! A chunked body (RFC 9112 §7.1), byte by byte where it is framing and piece by piece where it is data.
//!
//! | place | what comes | next |
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
    place: Place,
    /// The size as far as it is read, then what is left of the data.
    size: u64,
    digits: u8,
    /// Bytes of extensions and trailers so far.
    overhead: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
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
        Chunks { place: Place::Start, size: 0, digits: 0, overhead: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
        self.place == Place::Over
    }

    /// Reads on and returns how many bytes it took: all, unless the body is over before.
    pub(super) fn feed(&mut self, bytes: &[u8], mut data: impl FnMut(&[u8])) -> Result<usize, Violation> {
        let mut taken = 0;
        while let Some(&byte) = bytes.get(taken) {
            if self.place == Place::Data {
                let rest = &bytes[taken..];
                let length = usize::try_from(self.size).unwrap_or(usize::MAX).min(rest.len());
                data(&rest[..length]);
                self.size -= length as u64;
                taken += length;
                if self.size == 0 {
                    self.place = Place::DataCr;
                }
                continue;
            }
            self.place = self.step(byte)?;
            taken += 1;
            if self.place == Place::Over {
                break;
            }
        }
        Ok(taken)
    }

    fn step(&mut self, byte: u8) -> Result<Place, Violation> {
        Ok(match (self.place, byte) {
            (Place::Start, _) => {
                (self.size, self.digits) = (0, 0);
                self.digit(byte)?
            }
            (Place::Size | Place::Blank, b' ' | b'\t') => self.overhead(Place::Blank)?,
            (Place::Size | Place::Blank, b';') => self.overhead(Place::Extension)?,
            (Place::Size | Place::Blank | Place::Extension, b'\r') => Place::SizeLf,
            (Place::Size, _) => self.digit(byte)?,
            (Place::Blank, _) => return Err(Violation::ChunkSize),
            (Place::Extension, b'\n') | (Place::Trailer, b'\n') => return Err(Violation::ChunkEnd),
            (Place::Extension, _) => self.overhead(Place::Extension)?,
            (Place::SizeLf, b'\n') if self.size == 0 => Place::Line,
            (Place::SizeLf, b'\n') => Place::Data,
            (Place::DataCr, b'\r') => Place::DataLf,
            (Place::DataLf, b'\n') => Place::Start,
            (Place::Line, b'\r') => Place::EndLf,
            (Place::Line, b'\n') => return Err(Violation::ChunkEnd),
            (Place::Trailer, b'\r') => Place::TrailerLf,
            (Place::Line | Place::Trailer, _) => self.overhead(Place::Trailer)?,
            (Place::TrailerLf, b'\n') => Place::Line,
            (Place::EndLf, b'\n') => Place::Over,
            // Data is taken as a whole, and nothing is read after the end.
            (Place::Data | Place::Over, _) => self.place,
            (Place::SizeLf | Place::DataCr | Place::DataLf | Place::TrailerLf | Place::EndLf, _) => {
                return Err(Violation::ChunkEnd);
            }
        })
    }

    fn digit(&mut self, byte: u8) -> Result<Place, Violation> {
        let digit = char::from(byte).to_digit(16).ok_or(Violation::ChunkSize)?;
        if self.digits == MAX_DIGITS {
            return Err(Violation::ChunkSize);
        }
        self.digits += 1;
        self.size = self.size << 4 | u64::from(digit);
        Ok(Place::Size)
    }

    fn overhead(&mut self, next: Place) -> Result<Place, Violation> {
        self.overhead += 1;
        if self.overhead > MAX_HEAD { Err(Violation::ChunkOverhead) } else { Ok(next) }
    }
}
