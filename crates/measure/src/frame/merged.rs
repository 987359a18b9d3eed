//! Frames of a long run, merged to as many as a page has room for.

use super::Frame;

/// The most frames that [`Frames`] keeps: as many as a page has columns.
pub const FRAMES_MAX: usize = 1_200;

/// A frame that is shorter, as the last ones of a run are, makes no rate of its own: it belongs to the one before (s).
const SHORT_S: f64 = 0.5;

/// The frames of a run, merged in pairs whenever they become too many: each covers [`Frames::width`] seconds.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// How often they have been merged in pairs.
    merged: u32,
    frames: Vec<Frame>,
}

impl Frames {
    /// Adds the next frame.
    pub fn push(&mut self, frame: Frame) {
        self.place(frame);
        while self.frames.len() > FRAMES_MAX {
            self.merged += 1;
            for frame in std::mem::take(&mut self.frames) {
                self.place(frame);
            }
        }
    }

    /// How many seconds a frame covers.
    pub fn width(&self) -> u64 {
        1 << self.merged
    }

    /// All frames, in order.
    pub fn into_frames(self) -> Vec<Frame> {
        self.frames
    }

    fn place(&mut self, frame: Frame) {
        let width = self.width();
        match self.frames.last_mut() {
            Some(last) if last.s / width == frame.s / width || frame.span < SHORT_S => {
                last.merge(frame);
            }
            _ => self.frames.push(frame),
        }
    }
}

impl Frame {
    /// Adds the frame after this one.
    fn merge(&mut self, later: Frame) {
        self.at = later.at;
        self.span = ((self.span + later.span) * 1e3).round() / 1e3;
        self.names.extend(later.names);
        later.values.into_iter().for_each(|(number, value)| self.enter(number, value));
    }
}
