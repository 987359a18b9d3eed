//! `sonagi demo`: the reference service and two scripts against it, out of this one binary.

use super::serve;
use crate::error::Error;
use crate::exit::Exit;
use crate::load;
use crate::runs::{self, RunOptions};
use crate::service::Service;
use crate::terminal::Terminal;
use clap::{ArgMatches, Command};
use sonagi_artillery::Overrides;
use std::fs;
use std::path::{Path, PathBuf};

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
             It takes under a minute. Its scripts are in examples/demo.",
        )
        .args(runs::arguments())
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = TempFolder::create()?;
    let service = Service::start(&serve::seeded(USERS, &folder.path(CREDENTIALS)))?;
    let overrides = Overrides { target: Some(service.url()), ..Overrides::default() };
    let paths: Vec<_> = SCRIPTS.iter().map(|(name, _)| folder.path(name)).collect();
    let scripts = load::all(&paths, &overrides, &mut |_, _| {})?;
    let exit = runs::all(scripts, &RunOptions::of(matches), terminal)?;
    service.stop()?;
    Ok(exit)
}

/// A temporary folder with the scripts in it, removed when the demo is over.
struct TempFolder(PathBuf);

impl TempFolder {
    fn create() -> Result<TempFolder, Error> {
        let path = std::env::temp_dir().join(format!("sonagi-demo-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Error::file("create", &path, error))?;
        let folder = TempFolder(path);
        for (name, text) in SCRIPTS {
            let path = folder.path(name);
            fs::write(&path, text).map_err(|error| Error::file("write", &path, error))?;
        }
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A failure is ignored: the system cleans its folder for temporary files.
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}
