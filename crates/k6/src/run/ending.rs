//! How a test ends: k6's exit codes, and what is left to be shown.

use sonagi_engine::RunEvent;
use sonagi_measure::summary::Conclusion;
use std::path::Path;

use crate::executor::Reason;
use crate::options::Problems;
use crate::runtime::Thrown;
use crate::shard::{Level, LogLine};
use crate::summary::Summary;

/// k6's exit codes, as its users' pipelines know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything ran, and every threshold passed.
    Passed,
    /// A threshold was crossed.
    ThresholdsCrossed,
    /// `setup` took too long.
    SetupTimeout,
    /// `teardown` took too long.
    TeardownTimeout,
    /// Options or flags make no sense; nothing was run.
    Problems,
    /// A signal ended it.
    Interrupted,
    /// The script threw where that ends a test: in its init code, `setup` or `teardown`.
    Exception,
    /// The script asked for the end (`exec.test.abort`).
    Aborted,
    /// The script says that it failed (`exec.test.fail`).
    Failed,
    /// Something around the test failed.
    Other,
}

impl Exit {
    /// All of them, with their codes and what they mean.
    pub const CODES: [(Exit, u8, &'static str); 10] = [
        (Exit::Passed, 0, "The test ran, and every threshold passed."),
        (Exit::ThresholdsCrossed, 99, "A threshold was crossed."),
        (Exit::SetupTimeout, 100, "setup() took longer than setupTimeout."),
        (Exit::TeardownTimeout, 101, "teardown() took longer than teardownTimeout."),
        (Exit::Problems, 104, "Options or flags make no sense; nothing was run."),
        (Exit::Interrupted, 105, "A signal ended the test."),
        (Exit::Exception, 107, "The script threw in its init code, setup() or teardown()."),
        (Exit::Aborted, 108, "The script called exec.test.abort()."),
        (Exit::Failed, 110, "The script called exec.test.fail()."),
        (
            Exit::Other,
            255,
            "Something else went wrong: an unknown flag, a file, a promise rejected in init code.",
        ),
    ];

    /// The exit code of a test whose options are invalid.
    pub fn of(problems: &Problems) -> Exit {
        if problems.are_of_the_command_line() { Exit::Other } else { Exit::Problems }
    }

    /// The exit code of a test that was ended early.
    pub(super) fn of_abort(why: &Reason) -> Exit {
        match why {
            Reason::Signal | Reason::Request => Exit::Interrupted,
            Reason::Crossed(_) => Exit::ThresholdsCrossed,
            Reason::Script(_) => Exit::Aborted,
            Reason::Unread => Exit::Other,
        }
    }

    /// The exit code of the process.
    pub fn code(self) -> u8 {
        let row = Exit::CODES.iter().find(|(exit, ..)| *exit == self);
        row.map_or(255, |(_, code, _)| *code)
    }

    /// The verdict in the record of a test that ends so; INVALID in place of PASS or FAIL when its generator fell
    /// behind. None: nothing was run.
    pub fn conclusion(self) -> Option<Conclusion> {
        match self {
            Exit::Passed => Some(Conclusion::Pass),
            Exit::Interrupted | Exit::Aborted => Some(Conclusion::Interrupted),
            Exit::Problems => None,
            _ => Some(Conclusion::Fail),
        }
    }

    /// Why a test ended so, as a verdict's reason.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Exit::SetupTimeout => "setup() took longer than setupTimeout",
            Exit::TeardownTimeout => "teardown() took longer than teardownTimeout",
            Exit::Exception => "the script threw in its init code, setup() or teardown()",
            Exit::Failed => "the script called exec.test.fail()",
            Exit::ThresholdsCrossed => "a threshold was crossed",
            _ => "the test could not be carried out: its log says why",
        }
    }
}

/// Files by their names, and what they hold.
pub type Files = Vec<(String, Vec<u8>)>;

/// The output at the end of a test.
#[derive(Clone, Debug)]
pub enum End {
    /// Nothing: there was no test.
    Nothing,
    /// The summary of it.
    Summary(Box<Summary>),
    /// The files that the script made of the summary (`stdout` and `stderr` among them), with their content; and
    /// the summary.
    Handled(Files, Box<Summary>),
}

/// How a test ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// For the process.
    pub exit: Exit,
    /// For the user.
    pub end: End,
    /// Why, where it did not pass; told already where the script said it.
    pub why: Option<String>,
    /// How far the scenarios came, as k6 draws it.
    pub bars: Vec<String>,
}

impl Ended {
    /// A test that came to nothing that could be shown.
    pub(super) fn of_exit(exit: Exit) -> Ended {
        Ended { exit, end: End::Nothing, why: None, bars: Vec::new() }
    }

    /// The same for this reason, which has not been told.
    pub fn early(exit: Exit, why: impl Into<String>) -> Ended {
        Ended { why: Some(why.into()), ..Ended::of_exit(exit) }
    }

    /// The test was ended before its scenarios began.
    pub(super) fn before(why: &Reason) -> Ended {
        let text = match why {
            Reason::Signal | Reason::Request => "the test was interrupted before it began".to_owned(),
            _ => why.to_string(),
        };
        Ended::early(Exit::of_abort(why), text)
    }

    pub(super) fn problems(text: &str) -> Ended {
        Ended::early(Exit::Problems, text)
    }

    pub(super) fn of_problems(problems: &Problems) -> Ended {
        Ended::early(Exit::of(problems), problems.to_string())
    }

    /// The script threw before there was a test.
    pub(super) fn of_script(thrown: &Thrown, script: &Path, on: &mut dyn FnMut(RunEvent<'_>)) -> Ended {
        let mut line = complaint(thrown, EXCEPTION);
        if !matches!(thrown, Thrown::Error(_)) {
            line.text = format!("could not load JS test 'file://{}': {}", script.display(), line.text);
        }
        on(RunEvent::Line(&line));
        Ended::of_exit(exit_of(thrown))
    }
}

/// The hint that an exception of the script is logged with.
pub(super) const EXCEPTION: &str = "script exception";

/// The line of the log that tells it; an exception has a hint beside it.
pub(super) fn complaint(thrown: &Thrown, hint: &str) -> LogLine {
    let line = LogLine::new(Level::Error, thrown.text());
    let fields = match thrown {
        Thrown::Error(_) => vec![("hint", hint.to_owned()), ("source", "stacktrace".to_owned())],
        _ => Vec::new(),
    };
    LogLine { fields, ..line }
}

/// The exit code of the process after this exception, where an exception ends a test.
pub(super) fn exit_of(thrown: &Thrown) -> Exit {
    match thrown {
        Thrown::Interrupted => Exit::Interrupted,
        Thrown::Aborted(_) => Exit::Aborted,
        Thrown::Error(_) | Thrown::Unloaded(_) => Exit::Exception,
        Thrown::Rejected(_) | Thrown::Unusable(_) => Exit::Other,
    }
}
