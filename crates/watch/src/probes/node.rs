//! Node from inside, without a change to it: SIGUSR1 has it open its inspector on this machine, which says how busy its
//! event loop is, how late, what garbage collection takes, and, when the loop is held, which function holds it.
//!
//! It costs the service a message a second, and two seconds of a profile a minute while its loop is held. When the
//! watching ends the inspector is closed again, if it was we who opened it. Deliberately not done without being asked:
//! an open inspector lets every process of this machine's users do in the service what it likes.

mod attach;
mod inspector;
mod profile;

use super::listeners::Listeners;
use super::reach::Reach;
use super::target;
use crate::machine::Local;
use crate::probe::{Probe, Readings, Unread};
use attach::Asked;
use inspector::{Call, Inspector};
use profile::Holder;
use serde_json::json;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an answer is waited for in one look.
const ANSWER: Duration = Duration::from_millis(900);
/// How long the end waits for the inspector to close.
const CLOSING: Duration = Duration::from_secs(1);
/// What an idle loop's delay reads: the resolution of the measure.
const RESOLUTION_MS: f64 = 10.0;
/// A loop that is busy for more of the time than this is held,
const BUSY: f64 = 0.9;
/// after so many looks in a row,
const BUSY_LOOKS: u32 = 3;
/// and one that is later than this at once (ms).
const LATE_MS: f64 = 100.0;
/// The length of a profile,
const PROFILE: Duration = Duration::from_secs(2);
/// and the least time from one to the next.
const PROFILED_EVERY: Duration = Duration::from_secs(60);
/// A holder of less than this is none.
const HOLDS: f64 = 0.1;

const OBSERVERS: &str = include_str!("node/observers.js");
const READ: &str = "globalThis[Symbol.for('sonagi.watch')].read()";
const END: &str = "globalThis[Symbol.for('sonagi.watch')]?.end(false)";

/// The process that is watched.
#[derive(Clone, Copy, Debug)]
enum Process {
    Pid(i32),
    /// The oldest of those that listen there.
    Port(u16),
}

/// A probe of the process that `PID` or `port:NUMBER` says.
pub(super) fn of(text: &str) -> Result<Box<dyn Probe>, String> {
    let process = match text.strip_prefix("port:") {
        Some(port) => Process::Port(target::port(port)?),
        None => Process::Pid(target::pid(text)?),
    };
    Ok(Box::new(Node {
        process,
        asked: Asked::default(),
        session: None,
        reach: Reach::default(),
        profiled_at: None,
    }))
}

struct Node {
    process: Process,
    asked: Asked,
    session: Option<Session>,
    reach: Reach,
    /// When the last profile began.
    profiled_at: Option<Instant>,
}

/// A process that is attached to.
struct Session {
    pid: i32,
    inspector: Inspector,
    /// A reading whose answer has not come yet: the loop was held.
    reading: Option<Call>,
    /// Looks in a row at which the loop was busy.
    busy_looks: u32,
    profile: Option<Profile>,
}

/// A profile under way.
#[derive(Clone, Copy, Debug)]
enum Profile {
    Runs { since: Instant },
    Ends(Call),
}

impl Probe for Node {
    fn subject(&self) -> String {
        match self.process {
            Process::Pid(pid) => format!("Node process {pid}"),
            Process::Port(port) => format!("Node at port {port}"),
        }
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        let at = match self.process {
            Process::Pid(pid) => format!("pid {pid}"),
            Process::Port(port) => format!("port {port}"),
        };
        vec![("at", at)]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let looked = self.read(readings);
        if looked.is_err() {
            self.session = None;
        }
        self.reach.took(looked, readings)
    }

    fn leave(&mut self) {
        let session = self.session.take().map(|session| session.inspector);
        // One that was lost may have left the inspector open.
        let again = || self.asked.left_open().and_then(|it| Inspector::connect(it.address, &it.path).ok());
        let Some(mut inspector) = session.or_else(again) else { return };
        let until = Instant::now() + CLOSING;
        // The answer of a closed inspector is the end of the connection; one that stays open answers.
        if let Ok(call) = inspector.call("Runtime.evaluate", json!({ "expression": END })) {
            let _ = inspector.answer(call, CLOSING);
        }
        while inspector.wait(until.saturating_duration_since(Instant::now())).is_ok_and(|came| came) {}
    }
}

impl Node {
    fn read(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.attach()?,
        };
        let pid = session.pid;
        let lost = |error: io::Error| match Path::new(&format!("/proc/{pid}")).exists() {
            true => Unread::because(format_args!("its inspector failed: {error}")),
            false => Unread::because(format_args!("process {pid} ended")),
        };
        let is_held = session.read(readings).map_err(lost)?;
        let may_profile = self.profiled_at.is_none_or(|at| at.elapsed() >= PROFILED_EVERY);
        if session.profile.is_none() && is_held && may_profile {
            session.begin_profile().map_err(lost)?;
            self.profiled_at = Some(Instant::now());
        }
        match session.end_profile() {
            Ok(Some(Holder { who, share, seconds })) if share >= HOLDS => {
                let percent = share * 100.0;
                let said = format!("the event loop is held by {who}: {percent:.0} % of {seconds:.0} s");
                readings.happened(said);
            }
            Ok(Some(_)) => readings.not_measured(
                "what holds the event loop is",
                &Unread::because("no function took 10 % of the profile"),
            ),
            Ok(None) => {}
            Err(error) => {
                readings.not_measured("what holds the event loop is", &Unread::because(error));
                session.profile = None;
            }
        }
        self.session = Some(session);
        Ok(())
    }

    fn attach(&mut self) -> Result<Session, Unread> {
        let pid = match self.process {
            Process::Pid(pid) => pid,
            Process::Port(port) => {
                let found =
                    Listeners::default().find(&mut Local, port, Instant::now()).map_err(Unread::because)?;
                *found.iter().min().ok_or_else(|| {
                    Unread::because(format_args!("no process that we may look at listens at port {port}"))
                })?
            }
        };
        let door = self.asked.door(pid)?;
        let failed = |error| Unread::because(format_args!("its inspector failed: {error}"));
        let mut inspector = Inspector::connect(door.address, &door.path).map_err(failed)?;
        let begin = format!("({OBSERVERS})({})", door.is_ours);
        // Older than 20.16, Node knows built-in modules by `require` alone, which the console's own names have.
        let begin = json!({ "expression": begin, "includeCommandLineAPI": true, "silent": true });
        let call = inspector.call("Runtime.evaluate", begin).map_err(failed)?;
        // While the loop is held it comes later, in the order of the calls.
        inspector.answer(call, ANSWER).map_err(failed)?;
        Ok(Session { pid, inspector, reading: None, busy_looks: 0, profile: None })
    }
}

impl Session {
    /// Reads the measures; whether the loop is held.
    fn read(&mut self, readings: &mut Readings<'_>) -> io::Result<bool> {
        let call = match self.reading.take() {
            Some(call) => call,
            None => {
                let read = json!({ "expression": READ, "returnByValue": true, "silent": true });
                self.inspector.call("Runtime.evaluate", read)?
            }
        };
        let Some(seen) = self.inspector.answer(call, ANSWER)? else {
            // The next look waits on: what was read is not lost.
            self.reading = Some(call);
            return Ok(true);
        };
        let seen = &seen["result"]["value"];
        let of = |name: &str| seen[name].as_f64();
        let utilisation = of("utilisation").unwrap_or(0.0);
        let lag = of("delay").map(|delay| (delay - RESOLUTION_MS).max(0.0));
        for (metric, value) in [
            ("runtime.loop_utilisation", of("utilisation")),
            ("runtime.loop_lag", lag),
            ("runtime.gc", of("garbage")),
            ("runtime.heap", of("heap")),
            ("runtime.heap.limit", of("limit")),
        ] {
            if let Some(value) = value {
                readings.level(metric, &[], value);
            }
        }
        self.busy_looks = if utilisation > BUSY { self.busy_looks + 1 } else { 0 };
        Ok(self.busy_looks >= BUSY_LOOKS || lag.is_some_and(|lag| lag > LATE_MS))
    }

    fn begin_profile(&mut self) -> io::Result<()> {
        self.inspector.call("Profiler.enable", json!({}))?;
        self.inspector.call("Profiler.start", json!({}))?;
        self.profile = Some(Profile::Runs { since: Instant::now() });
        Ok(())
    }

    /// Ends the profile when it is long enough; who holds the loop by it, once its answer is there.
    fn end_profile(&mut self) -> io::Result<Option<Holder>> {
        let call = match self.profile {
            Some(Profile::Runs { since }) if since.elapsed() >= PROFILE => {
                let call = self.inspector.call("Profiler.stop", json!({}))?;
                self.profile = Some(Profile::Ends(call));
                call
            }
            Some(Profile::Ends(call)) => call,
            _ => return Ok(None),
        };
        let Some(answer) = self.inspector.answer(call, ANSWER)? else { return Ok(None) };
        self.profile = None;
        self.inspector.call("Profiler.disable", json!({}))?;
        let home = std::fs::read_link(format!("/proc/{}/cwd", self.pid)).unwrap_or_default();
        Ok(profile::holder(&answer["profile"], &home.to_string_lossy()))
    }
}
