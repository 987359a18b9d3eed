//! The service of a k6 test: `options.sonagi.launch`.
//!
//! A script says nowhere where its load goes, so what is ready is asked where `ready` says; where there is a network in
//! front of the service, connections to that port are led through it, as the option `hosts` would.

use crate::error::Error;
use crate::launch::{self, Wish};
use crate::signals::StopRequests;
use crate::watched_service::WatchedService;
use serde_json::Value;
use sonagi_engine::RunEvent;
use sonagi_k6::run::{End, Ended, Exit, Test};
use sonagi_measure::summary::Summary;
use std::path::Path;

/// The names of this machine that a script may call its service by.
const HOSTS: [&str; 2] = ["127.0.0.1", "localhost"];

/// What is wrong with what a script says of its service: a text for each mistake, hints on lines of their own.
pub(super) fn mistakes(said: &Value) -> Vec<String> {
    let mistakes = sonagi_lab::read(said).err().unwrap_or_default();
    let text = |mistake: sonagi_lab::Mistake| {
        let hint = mistake.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("sonagi.launch{}: {}{hint}", mistake.pointer.replace('/', "."), mistake.what)
    };
    mistakes.into_iter().map(text).collect()
}

/// The service of a test, if it has one.
#[derive(Default)]
pub(super) struct TestService {
    watched: Option<WatchedService>,
    /// The test's summary, once it is over.
    summary: Option<Summary>,
}

impl TestService {
    /// Starts the service that the test wants and waits until it is ready. `folder` is the test's run folder.
    pub(super) fn start(
        &mut self,
        test: Test,
        script: &Path,
        folder: Option<&Path>,
        stop_requests: &StopRequests,
    ) -> Result<Test, Ended> {
        let Some(wish) = wish(&test, script).map_err(|error| not_run(&error))? else { return Ok(test) };
        let mut watched =
            WatchedService::launch(&wish, &|| stop_requests.to_stop()).map_err(|error| not_run(&error))?;
        let test = led(test, &watched)?;
        if let Some(folder) = folder {
            watched.log_in(folder);
        }
        self.watched = Some(watched);
        Ok(test)
    }

    /// Takes an event of the test into account.
    pub(super) fn note(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Second(snapshot) => {
                if let Some(watched) = &mut self.watched {
                    watched.second(snapshot);
                }
            }
            RunEvent::Ended(summary) if self.watched.is_some() => self.summary = Some((*summary).clone()),
            _ => {}
        }
    }

    /// Ends the service with its test; what went wrong with it, a text each. A test passed only if its service lived.
    pub(super) fn end(&mut self, ended: &mut Ended, stop_requests: &StopRequests) -> Vec<String> {
        let Some(watched) = self.watched.take() else { return Vec::new() };
        let (used, troubles) = watched.end(&|| stop_requests.to_stop_at_once());
        let mut troubles: Vec<String> = troubles.iter().map(bare).collect();
        if let Some(how) = &used.ended {
            troubles.insert(0, format!("the service ended during the run: {how}"));
        }
        if !troubles.is_empty() && ended.exit == Exit::Passed {
            ended.exit = Exit::Other;
        }
        self.summary = self.summary.take().map(|summary| summary.beside(used));
        troubles
    }

    /// The test's summary with what the service used, if the test had one.
    pub(super) fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }
}

/// The service that the options of a test ask for.
///
/// # Errors
/// The mistakes in what they say.
pub(super) fn wish(test: &Test, script: &Path) -> Result<Option<Wish>, Error> {
    let said = test.options().sonagi.launch.as_ref();
    let wish = said.map(|said| Wish::of(said, None, script)).transpose();
    wish.map_err(|mistakes| Error::Problems(launch::told(&mistakes)))
}

/// The test with its connections led through the network in front of its service, if there is one.
pub(super) fn led(mut test: Test, watched: &WatchedService) -> Result<Test, Ended> {
    if let Some((port, proxy)) = watched.proxy()
        && !test.lead(&HOSTS, port, proxy)
    {
        return Err(not_run(&Error::could_not("the network in front of the service cannot be put there")));
    }
    Ok(test)
}

/// A test that was not run.
fn not_run(error: &Error) -> Ended {
    let exit = match error {
        Error::Interrupted(_) => Exit::Interrupted,
        Error::Problems(_) => Exit::Problems,
        Error::CouldNotRun(_) => Exit::Other,
    };
    Ended { exit, end: End::Nothing, why: Some(bare(error)), bars: Vec::new() }
}

/// An error without the word that says it is one, which the log puts before it.
fn bare(error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}
