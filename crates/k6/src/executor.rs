//! When iterations happen, and which virtual user carries them out.

mod stop;

pub use stop::Stop;
