//! When iterations happen, and which virtual user carries them out.
