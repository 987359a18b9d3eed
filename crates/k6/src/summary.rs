//! The end of a test in k6's words.
