//! Links the program at a fixed address, and tells it which commit it is of.
//!
//! A movable program has its tables of addresses filled in as it starts: 1 MB that every process writes, 1.4 MB that it
//! reads for that, and half of the time until `main`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    // A source archive has no commit.
    let commit =
        git(&["rev-parse", "--short=8", "HEAD"]).map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=SONAGI_COMMIT={commit}");
    // The log of what was checked out changes with every commit; a file that is not there would be changed always.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists());
    if let Some(log) = log {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// What git prints of the tree that this file is in.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}
