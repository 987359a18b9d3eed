//! The service of a k6 test: `options.sonagi.launch`.
//!
//! A script says nowhere where its load goes, so what is ready is asked where `ready` says; where there is a network in
//! front of the service, connections to that port are led through it, as the option `hosts` would.

use crate::error::Error;
use crate::launch::{self, Wish};
use crate::signals::StopRequests;
use crate::target_watch::NetworkLateness;
use crate::watched_service::WatchedService;
use serde_json::Value;
use sonagi_engine::RunEvent;
use sonagi_k6::run::{Ended, Exit, Test};
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
pub(super) struct TestService<'a> {
    watched: Option<Watched<'a>>,
    /// Where the test's watch finds how late the network before it is.
    network: NetworkLateness,
    /// The test's summary, once it is over.
    summary: Option<Summary>,
}

/// Whose service it is.
enum Watched<'a> {
    /// The test's own.
    Own(Box<WatchedService>),
    /// That of several tests, which outlives each of them.
    OfAll(&'a mut WatchedService),
}

impl Watched<'_> {
    fn service(&mut self) -> &mut WatchedService {
        match self {
            Watched::Own(service) => service,
            Watched::OfAll(service) => service,
        }
    }
}

impl<'a> TestService<'a> {
    /// The service of a test, if it wants one.
    pub(super) fn of_test(network: NetworkLateness) -> TestService<'a> {
        TestService { network, ..TestService::default() }
    }

    /// The service of several tests, one of which begins.
    pub(super) fn of_all(service: &'a mut WatchedService, network: NetworkLateness) -> TestService<'a> {
        service.begin_run();
        TestService { watched: Some(Watched::OfAll(service)), network, summary: None }
    }

    /// Starts the service that the test wants, unless there is one for several tests, and waits until it is ready.
    /// `folder` is the test's run folder.
    pub(super) fn start(
        &mut self,
        test: Test,
        script: &Path,
        folder: Option<&Path>,
        stop_requests: &StopRequests,
    ) -> Result<Test, Ended> {
        if let Some(watched) = &mut self.watched {
            return led(test, watched.service(), &self.network);
        }
        let Some(wish) = wish(&test, script).map_err(|error| not_run(&error))? else { return Ok(test) };
        let mut service =
            WatchedService::launch(&wish, &|| stop_requests.to_stop()).map_err(|error| not_run(&error))?;
        if let Some(folder) = folder {
            service.log_in(folder);
        }
        // Kept first: whatever goes wrong from now on, the service is ended, and what goes wrong around that is told.
        let watched = self.watched.insert(Watched::Own(Box::new(service)));
        led(test, watched.service(), &self.network)
    }

    /// Takes an event of the test into account.
    pub(super) fn note(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Second(snapshot) => {
                if let Some(watched) = &mut self.watched {
                    watched.service().second(snapshot);
                }
            }
            RunEvent::Ended(summary) if self.watched.is_some() => self.summary = Some((*summary).clone()),
            _ => {}
        }
    }

    /// Ends the service with its test; what went wrong with it, a text each. A test passed only if its service lived.
    pub(super) fn end(&mut self, ended: &mut Ended, stop_requests: &StopRequests) -> Vec<String> {
        let (used, troubles) = match self.watched.take() {
            None => return Vec::new(),
            Some(Watched::Own(service)) => {
                let (used, troubles) = service.end(&|| stop_requests.to_stop_at_once());
                let own = used.iter().flat_map(|used| used.failure().into_iter().chain(used.shortage()));
                let troubles = own.chain(troubles.iter().map(Error::bare)).collect();
                (used, troubles)
            }
            // Whoever has it says that it ended, once.
            Some(Watched::OfAll(service)) => {
                (self.summary.as_ref().and_then(|run| service.used_in_run(run)), Vec::new())
            }
        };
        if !troubles.is_empty() && ended.exit == Exit::Passed {
            ended.exit = Exit::Other;
        }
        self.summary = self.summary.take().map(|summary| match used {
            Some(used) => summary.beside(used),
            None => summary,
        });
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

/// The test with its connections led through the network in front of its service, if there is one, and that watched.
fn led(mut test: Test, watched: &WatchedService, network: &NetworkLateness) -> Result<Test, Ended> {
    if let Some(lateness) = watched.network_lateness() {
        let _ = network.set(lateness);
    }
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
    Ended::early(exit, error.bare())
}
