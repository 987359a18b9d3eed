//! A k6 test that is run several times, for a table of what its runs say together.
//!
//! What a run prints of its own is left out, k6's summary among it: the table of all runs stands in its place, as it
//! does for YAML scripts.

use super::asked_runs::{in_environment, is_error, why};
use super::flags::GivenFlags;
use super::log::TestLog;
use super::service::TestService;
use super::unattended::{Ran, Unattended, UnderWay};
use super::{Refused, ScriptText, asked};
use crate::diagnosed::Diagnosed;
use crate::error::Error;
use crate::invocation;
use crate::matrix_record::{MatrixRecord, Planned, begun};
use crate::page::Pages;
use crate::run_events::WantedSinks;
use crate::runs;
use crate::signals::StopRequests;
use crate::target_watch::NetworkLateness;
use crate::terminal::Terminal;
use sonagi_artillery::Combination;
use sonagi_engine::LogLine;
use sonagi_k6::executor::{Abort, Reason};
use sonagi_k6::run::Exit;
use sonagi_measure::summary::Summary;
use sonagi_report::figures::counted;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes the runs, and tells what they say together; returns the process's exit code.
pub(super) fn run(
    planned: Planned,
    given: &GivenFlags,
    text: &ScriptText,
    log: &mut TestLog,
    terminal: &Terminal,
) -> Result<u8, Refused> {
    Session::start(given, text, terminal)?.all(planned, log).map(Exit::code)
}

/// The runs of a command, one after another.
struct Session<'a> {
    given: &'a GivenFlags,
    text: &'a ScriptText,
    terminal: &'a Terminal,
    pages: Pages,
    under_way: UnderWay,
    stop_requests: StopRequests,
    /// The first that was not a pass.
    exit: Exit,
}

/// What came of one run.
struct Made {
    summary: Option<Summary>,
    /// Why there is none.
    error: Option<String>,
    cause: Option<String>,
    folder: Option<PathBuf>,
}

impl<'a> Session<'a> {
    fn start(
        given: &'a GivenFlags,
        text: &'a ScriptText,
        terminal: &'a Terminal,
    ) -> Result<Session<'a>, Refused> {
        let wish = given.pages().map_err(super::other)?;
        let under_way = UnderWay::default();
        // As of one test; what was written of the runs before stays.
        let at_once = || std::process::exit(i32::from(Exit::Interrupted.code()));
        let stop_requests = under_way.listen(terminal, at_once).map_err(other)?;
        let pages = Pages::start(wish, given.one("runs").map(PathBuf::from), terminal).map_err(other)?;
        Ok(Session { given, text, terminal, pages, under_way, stop_requests, exit: Exit::Passed })
    }

    fn all(mut self, planned: Planned, log: &mut TestLog) -> Result<Exit, Refused> {
        let runs = planned.runs.clone();
        let is_alone = runs.len() == 1;
        let mut record = MatrixRecord::begin(self.pages.runs(), planned).map_err(other)?;
        for (at, (combination, turn)) in runs.iter().enumerate() {
            // First: a signal that comes between the two is seen by the second.
            let abort = self.under_way.renew();
            if self.stop_requests.to_stop() {
                self.terminal.say(&format!("not run: {}", counted((runs.len() - at) as u64, "run")));
                break;
            }
            let name = record.folder_name(combination, *turn);
            let mut run = begun(combination, *turn);
            let label = Some(run.label()).filter(|_| !combination.0.is_empty());
            let label = label.unwrap_or_else(|| format!("{}, {}", record.matrix.name, run.label()));
            self.say(&format!("{}/{} {label}", at + 1, runs.len()));
            if let Some(trouble) = run.before.and_then(|before| before.trouble()) {
                self.say(&format!("notice: {label} begins on a busy machine: {trouble}"));
            }
            let place = record.folder.clone().map(|parent| (parent, name));
            let made = self.one(combination, &abort, place, log).unwrap_or_else(|(exit, why)| {
                self.take(exit);
                Made { summary: None, error: Some(why), cause: None, folder: None }
            });
            if let Some(why) = made.error.as_ref().filter(|_| !self.stop_requests.to_stop()) {
                log.error(&format!("{label}: {why}"));
            }
            (run.summary, run.error, run.cause) = (made.summary, made.error, made.cause);
            let cause = run.cause.as_ref().map(|cause| format!("; {cause}")).unwrap_or_default();
            if let Some(summary) = &run.summary {
                self.say(&format!("{label}: {}{cause}", summary.verdict.result.word()));
            }
            let folder = made.folder.as_deref();
            if let Some(plot) = folder.and_then(|folder| self.pages.plot(folder)) {
                self.terminal.print(&format!("{label}\n{plot}\n")).map_err(other)?;
            }
            let written = folder.map_or(Ok(()), |folder| self.pages.write(folder, is_alone));
            for error in [written, record.enter(run, folder)].into_iter().filter_map(Result::err) {
                self.failed(&error);
            }
        }
        if let Err(error) = record.write_page(&self.pages, true) {
            self.failed(&error);
        }
        self.tell(&record)?;
        if self.stop_requests.to_stop() {
            self.exit = Exit::Interrupted;
        }
        let exit = self.exit;
        self.pages.finish(&self.stop_requests);
        Ok(exit)
    }

    /// Makes one run, into the folder of this name there.
    fn one(
        &mut self,
        combination: &Combination,
        abort: &Arc<Abort>,
        place: Option<(PathBuf, String)>,
        log: &mut TestLog,
    ) -> Result<Made, Refused> {
        let network = NetworkLateness::default();
        let mut request = asked(self.given, self.text, &network, &in_environment(combination))?;
        (request.no_summary, request.outputs) = (true, Vec::new());
        let file = invocation::script(&self.given.script, &request.source);
        let folder = place.map(|(parent, name)| runs::reserve(&parent, &name)).transpose().map_err(other)?;
        let diagnosed = Diagnosed::new();
        if let Some(folder) = &folder {
            let under_way = self.under_way.clone();
            self.pages.begin(folder.path(), move || under_way.ask(Reason::Request));
        }
        let unattended = Unattended {
            asked: request,
            file,
            wanted: WantedSinks { folder, diagnosed: Some(diagnosed.clone()) },
            service: TestService::of_test(network),
            combination: combination.0.iter().cloned().collect(),
        };
        let mut said = Vec::new();
        let mut on_line = |line: &LogLine| {
            log.line(line);
            said.extend(is_error(line).then(|| line.text.clone()));
        };
        let ran = unattended.run(abort, &self.stop_requests, self.terminal, &mut on_line);
        self.pages.over();
        self.pages.settle();
        let Ran { ended, summary, folder, is_recorded } = ran.map_err(other)?;
        self.take(if is_recorded || ended.exit != Exit::Passed { ended.exit } else { Exit::Other });
        let error = summary.is_none().then(|| why(ended, &said).1);
        let own = folder.as_deref().filter(|_| !self.pages.is_temporary()).map(told);
        let summary = summary.map(|summary| Summary { run_folder: own, ..summary });
        Ok(Made { summary, error, cause: diagnosed.cause(), folder })
    }

    /// Takes a run's exit into account.
    fn take(&mut self, exit: Exit) {
        if self.exit == Exit::Passed {
            self.exit = exit;
        }
    }

    /// Prints what the runs say together.
    fn tell(&self, record: &MatrixRecord) -> Result<(), Refused> {
        if self.is_quiet() {
            return Ok(());
        }
        let is_coloured = self.terminal.colour && !self.given.has("no-color");
        let text = record.console(&self.pages, self.terminal.columns, is_coloured);
        self.terminal.print(&text).map_err(other)
    }

    fn is_quiet(&self) -> bool {
        self.given.has("quiet")
    }

    fn say(&self, text: &str) {
        if !self.is_quiet() {
            self.terminal.say(text);
        }
    }

    fn failed(&mut self, error: &Error) {
        self.terminal.say(&error.to_string());
        self.take(Exit::Other);
    }
}

fn told(folder: &Path) -> String {
    folder.display().to_string()
}

/// What went wrong around the runs.
fn other(error: Error) -> Refused {
    super::other(error.bare())
}
