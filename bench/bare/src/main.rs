//! `bare`, the floor: what a load generator costs that has no features.
//!
//! One thread, one loop of edge-triggered epoll, framing by hand, one counter and one histogram. Load testers are
//! compared with it, Sonagi first of all; so it shares no code with Sonagi, and whatever makes it faster belongs in
//! it: a slow floor would flatter us. It deliberately has no scenarios, no TLS, no ledger, no retries: a peer that
//! answers anything but what was asked for ends the run.
//!
//! It takes loopback addresses only, and prints one line of JSON when it is done.
//!
//! Exit codes: 0 done, 1 the peer or the system failed, 2 the command is wrong, 3 the kernel forbids io_uring.

#![cfg_attr(test, allow(clippy::unwrap_used))]
#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

mod arguments;
mod client;
mod clock;
mod closed;
mod connect;
mod driver;
mod echo;
mod events;
mod failure;
mod flood;
mod histogram;
mod http;
mod idle;
mod links;
mod open;
mod opening;
mod poller;
mod room;
mod uring;
mod websocket;

use arguments::Arguments;
use failure::Failure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::ExitCode;

type Mode = fn(&mut Arguments) -> Result<String, Failure>;

/// Name, what it does and with which options, and the file that does it.
const MODES: &[(&str, &str, Mode)] = &[
    ("http", "URL --connections 50 --seconds 5", closed::run),
    ("open", "URL --rate 50000 --connections 100 --seconds 5", open::run),
    ("echo", "URL --connections 50 --seconds 5 --bytes 100", echo::run),
    ("room", "URL --users 500 --seconds 10 --bytes 86", room::run),
    ("flood", "URL --connections 1 --seconds 5", flood::run),
    ("idle", "URL --users 10000 --every 5 --seconds 20", idle::run),
    ("events", "URL --users 100 --seconds 5", events::run),
    ("connect", "URL --count 10000 --concurrency 50, or --seconds 5", connect::run),
];

const NOTES: &str = "\
echo, room and flood also take
  --gather-us 0   wait for messages only once in so long and let them gather meanwhile: fewer, fuller rounds
  --uring         receive by io_uring: multishot, provided buffers; and with it
  --batch 64      how many completions a round waits for, at most --gather-us (500)";

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("bare: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run() -> Result<String, Failure> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let mode = MODES.iter().find(|(known, ..)| *known == name);
    let (_, _, mode) = mode.ok_or_else(|| Failure::Usage(format!("no mode {name:?}\n{}", usage())))?;
    let mut arguments = Arguments::parse(words)?;
    raise_open_files();
    // Coarse by default (50 us), which would bunch what is planned.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    mode(&mut arguments)
}

fn usage() -> String {
    let modes: Vec<String> =
        MODES.iter().map(|(name, options, _)| format!("  bare {name} {options}")).collect();
    format!("{}\n{NOTES}", modes.join("\n"))
}

/// As many open files as the system lets us have; where that is too few, opening a socket says so.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
