//! Rules over made-up runs.
