//! Every mode of `bare` against a small server in the test, which keeps its own count.

#![allow(clippy::unwrap_used, missing_docs)]

mod modes;
mod refusals;
mod server;

use serde_json::Value;
use std::process::{Command, Output};

/// Runs `bare`, its options after the URL.
fn bare(mode: &str, url: &str, options: &str) -> Output {
    let options = options.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_bare")).arg(mode).arg(url).args(options).output().unwrap()
}

/// The one line of a run that went well.
fn line(output: &Output) -> Value {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), told.as_ref()), (Some(0), ""));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// What a run that failed exited with, and what it said.
fn refusal(output: &Output) -> (i32, String) {
    assert!(output.stdout.is_empty());
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}
