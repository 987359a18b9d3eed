//! Exit codes: a public contract, in one table behind `--help`, the man page and `docs/exit-codes.md`.

use sonagi_measure::summary::{Conclusion, Summary};
use std::process::ExitCode;

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Pass,
    Fail,
    Problems,
    Invalid,
    CouldNotRun,
    Unexpected,
    Interrupted,
    /// The script's function set `artillery.suggestedExitCode` to this.
    Suggested(u8),
}

/// The sentences under the table, for codes that have no row.
pub(crate) const SUGGESTED: &str = "Any other code was set by a function as `artillery.suggestedExitCode`, as in \
                                    Artillery: it replaces 0, 21, and a 1 that no strict threshold decided.";

/// A row of the table.
pub(crate) struct Meaning {
    pub(crate) exit: Exit,
    pub(crate) code: u8,
    pub(crate) meaning: &'static str,
}

/// All exit codes, in ascending order.
pub(crate) const CODES: [Meaning; 7] = [
    Meaning { exit: Exit::Pass, code: 0, meaning: "Every run passed; or the command succeeded." },
    Meaning {
        exit: Exit::Fail,
        code: 1,
        meaning: "A run failed: a strict threshold, a delivery, a user, or its HTTP answers (`--fail-on-status`). Like \
                  a failed `ensure` in Artillery. Of `compare --fail-on`: side B is worse, or with `inconclusive` the \
                  runs cannot tell. Of `capacity`: the lowest load does not hold, or no longer after a trial that \
                  failed.",
    },
    Meaning {
        exit: Exit::Problems,
        code: 2,
        meaning: "The script or the flags have problems, or a script cannot be read; nothing was run.",
    },
    Meaning {
        exit: Exit::Invalid,
        code: 3,
        meaning: "Results unreliable: the load generator fell behind, or ran out of ports or files. Of `compare`: the \
                  sides are not comparable. Of `capacity`: no answer was confirmed, or only that the \
                  target holds at least what the generator can do.",
    },
    Meaning {
        exit: Exit::CouldNotRun,
        code: 4,
        meaning: "Something around the run failed: a folder that cannot be written, an address in use, a process. \
                  Measured results are printed all the same.",
    },
    Meaning {
        exit: Exit::Unexpected,
        code: 21,
        meaning: "A response did not meet its `expect`, and no strict threshold or delivery failed. Like a failed \
                  `expect` in Artillery.",
    },
    Meaning {
        exit: Exit::Interrupted,
        code: 130,
        meaning: "INTERRUPTED: Ctrl-C or SIGTERM came before every run was over. k6 scripts: 105.",
    },
];

/// From the least grave to the gravest. Not the order of the codes: 21 is Artillery's choice.
const GRAVITY: [Exit; 7] = [
    Exit::Pass,
    Exit::Unexpected,
    Exit::Fail,
    Exit::Problems,
    Exit::Invalid,
    Exit::CouldNotRun,
    Exit::Interrupted,
];

impl Exit {
    /// The exit of a run.
    pub(crate) fn of(run: &Summary) -> Exit {
        match run.verdict.result {
            Conclusion::Pass => Exit::Pass,
            Conclusion::Fail if run.expectations.decisive => Exit::Unexpected,
            Conclusion::Fail => Exit::Fail,
            Conclusion::Invalid => Exit::Invalid,
            Conclusion::Interrupted => Exit::Interrupted,
        }
    }

    /// The exit with a function's suggestion (`artillery.suggestedExitCode`) taken into account: it is the script's own
    /// verdict on a run. As in Artillery, `ensure` decides last, so a failed strict threshold wins; and a run that
    /// could not be judged stays so.
    pub(crate) fn suggested(self, code: u8, run: &Summary) -> Exit {
        let is_ensured = run.thresholds.iter().all(|threshold| threshold.held || !threshold.strict);
        match self {
            Exit::Pass | Exit::Fail | Exit::Unexpected if is_ensured => Exit::Suggested(code),
            _ => self,
        }
    }

    /// The exit of several runs: the gravest, so that a later success hides no trouble.
    pub(crate) fn worst(self, other: Exit) -> Exit {
        let as_row = |exit: Exit| if let Exit::Suggested(_) = exit { Exit::Fail } else { exit };
        let gravity = |exit: Exit| GRAVITY.iter().position(|grave| *grave == as_row(exit));
        if gravity(other) > gravity(self) { other } else { self }
    }

    pub(crate) fn code(self) -> u8 {
        if let Exit::Suggested(code) = self {
            return code;
        }
        let row = CODES.iter().find(|row| row.exit == self);
        row.expect("every exit has a row in the table").code
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The table as help text.
pub(crate) fn help() -> String {
    let mut text = String::from("Exit codes:\n");
    for row in &CODES {
        text.push_str(&format!("  {:>3}  {}\n", row.code, row.meaning));
    }
    text.push_str(&format!("{SUGGESTED}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_ascending_and_the_gravest_of_several_runs_wins() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(Exit::Fail.worst(Exit::Pass), Exit::Fail);
        assert_eq!(Exit::Fail.worst(Exit::Invalid), Exit::Invalid);
        assert_eq!(Exit::Unexpected.worst(Exit::Fail), Exit::Fail);
        assert_eq!(Exit::Pass.worst(Exit::Unexpected), Exit::Unexpected);
        assert!(CODES.iter().all(|row| GRAVITY.contains(&row.exit)));
    }

    #[test]
    fn a_run_that_only_expectations_made_fail_ends_with_21() {
        use sonagi_measure::totals::{Header, Period};
        let mut run = Period::new(&Header::default()).summary();
        run.verdict.result = Conclusion::Fail;
        assert_eq!(Exit::of(&run).code(), 1);
        run.expectations.decisive = true;
        assert_eq!(Exit::of(&run).code(), 21);
        assert_eq!(Exit::of(&run).suggested(17, &run).code(), 17);
        run.verdict.result = Conclusion::Invalid;
        assert_eq!(Exit::of(&run).suggested(17, &run).code(), 3);
        run.verdict.result = Conclusion::Interrupted;
        assert_eq!(Exit::of(&run).suggested(17, &run).code(), 130);
        run.verdict.result = Conclusion::Pass;
        assert_eq!(Exit::of(&run).code(), 0);
    }
}
