//! `sonagi demo`: the reference service and two scripts against it, out of this one binary.

use super::serve;
use crate::error::Error;
use crate::exit::Exit;
use crate::launch::{self, Wish};
use crate::load;
use crate::run_options::{self, RunOptions};
use crate::runs;
use crate::temp_folder::TempFolder;
use crate::terminal::Terminal;
use crate::watched_service::WatchedService;
use clap::{ArgMatches, Command};
use sonagi_artillery::{Overrides, Serve};
use std::fs;
use std::path::Path;

pub(super) const NAME: &str = "demo";

/// The scripts of `examples/demo`.
const SCRIPTS: [(&str, &str); 2] = [
    ("chat.yml", include_str!("../../../../examples/demo/chat.yml")),
    ("room.yml", include_str!("../../../../examples/demo/room.yml")),
];
/// The scripts' file of users.
const CREDENTIALS: &str = "credentials.csv";
/// More than the arrivals of either script, so that no account is used twice.
const USERS: u32 = 200;

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Start the reference service, load it with two scenarios, print both verdicts")
        .long_about(
            "Start the reference chat service on a free port, load it with two scenarios and print both verdicts: \
             45 users that log in and talk in pairs, then one room of 100 users that each send once a second. \
             It takes half a minute, and writes a page of each run beside its folder. Its scripts are in \
             examples/demo.",
        )
        .args(run_options::arguments())
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = TempFolder::create("demo")?;
    let arguments = serve::seeded(USERS, &folder.path().join(CREDENTIALS));
    let wish = Wish::served(&Serve { arguments, ..Serve::default() }, Path::new(""));
    let wish = wish.map_err(|mistakes| Error::could_not(launch::told(&mistakes)))?;
    let service = WatchedService::launch(&wish, &|| false)?;
    let overrides = Overrides { target: service.target(), ..Overrides::default() };
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::write(&path, text).map_err(|error| Error::file("write", &path, error)).map(|()| path)
    };
    let paths = SCRIPTS.iter().map(write).collect::<Result<Vec<_>, _>>()?;
    let scripts = load::all(&paths, &overrides, &mut |_, _| {})?;
    let mut options = RunOptions::of(matches);
    // Somebody who tries it out has something to look at; a folder of runs holds their pages as well.
    options.pages.file = options.pages.file.or_else(|| options.runs.as_ref().map(|runs| runs.join("")));
    let exit = runs::all(scripts, &options, terminal)?;
    let (used, troubles) = service.end(&|| false);
    let failure = used.and_then(|used| used.failure()).map(Error::could_not);
    let mut all: Vec<Error> = failure.into_iter().chain(troubles).collect();
    let last = all.pop();
    all.iter().for_each(|trouble| terminal.say(&trouble.to_string()));
    last.map_or(Ok(exit), Err)
}
