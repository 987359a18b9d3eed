//! The file that `--output` names: proved writable before the load starts, replaced as a whole when it is over.
//!
//! The one decision a reader would question: a path that is no plain file (a pipe, `/dev/stdout`) is written in place,
//! since it cannot be replaced.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The destination of a report.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    in_place: bool,
}

impl Destination {
    /// The destination for `--output`. In a folder, the report is named by the instant of the command (RFC 3339), as
    /// Artillery's is.
    pub(crate) fn prepare(named: &Path, now: &str) -> Result<Destination, Error> {
        Destination::called(named, now, "artillery_report", "json")
    }

    /// Of a table, likewise.
    pub(crate) fn of_table(named: &Path, now: &str) -> Result<Destination, Error> {
        Destination::called(named, now, "sonagi_seconds", "csv")
    }

    /// Of a page, likewise.
    pub(crate) fn of_page(named: &Path, now: &str) -> Result<Destination, Error> {
        Destination::called(named, now, "sonagi_report", "html")
    }

    fn called(named: &Path, now: &str, what: &str, ending: &str) -> Result<Destination, Error> {
        let cannot = |error| Error::file("write", named, error);
        let mut path = named.to_owned();
        if path.is_dir() {
            let digits: String = now.chars().filter(char::is_ascii_digit).collect();
            let (day, time) = digits.split_at(digits.len().min(8));
            path.push(format!("{what}_{day}_{time}.{ending}"));
        }
        let there = fs::metadata(&path).ok();
        let in_place = there.as_ref().is_some_and(|there| !there.is_file());
        if there.is_some() && !in_place {
            // A link stays a link.
            path = path.canonicalize().map_err(cannot)?;
        }
        let destination = Destination { path, in_place };
        if !in_place {
            let beside = destination.beside();
            File::create(&beside).and_then(|_| fs::remove_file(&beside)).map_err(cannot)?;
        }
        Ok(destination)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// At any moment, the file holds either the report before or this one.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        self.fill(|file| file.write_all(text.as_bytes()))
    }

    /// [`Destination::write`] of what is written piece by piece.
    pub(crate) fn fill(&self, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Error> {
        let written = match self.in_place {
            true => File::create(&self.path).and_then(|mut file| fill(&mut file)),
            false => self.replace(fill),
        };
        written.map_err(|error| Error::file("write", &self.path, error))
    }

    fn replace(&self, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let beside = self.beside();
        let written = File::create(&beside).and_then(|mut file| {
            fill(&mut file)?;
            file.sync_data()
        });
        let moved = written.and_then(|()| fs::rename(&beside, &self.path));
        if moved.is_err() {
            let _ = fs::remove_file(&beside);
        }
        moved
    }

    /// A path in the same folder, so that the file can be moved into place.
    fn beside(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.{}", std::process::id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-22T02:25:00Z";

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn a_report_replaces_the_one_before_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let destination = Destination::prepare(&path, NOW).unwrap();
        assert_eq!(names(folder.path()), [""; 0], "nothing is there before there is something to say");
        destination.write("one").unwrap();
        Destination::prepare(&path, NOW).unwrap().write("two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(folder.path()), ["report.json"]);
    }

    #[test]
    fn a_link_stays_a_link_and_a_folder_gets_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Destination::prepare(&link, NOW).unwrap().write("said").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "said");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let destination = Destination::prepare(folder.path(), NOW).unwrap();
        assert_eq!(destination.path(), folder.path().join("artillery_report_20261122_022500.json"));
    }

    #[test]
    fn what_is_no_file_is_written_as_it_is_and_what_cannot_be_is_said_at_once() {
        Destination::prepare(Path::new("/dev/null"), NOW).unwrap().write("gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(Destination::prepare(Path::new("/nowhere/report.json"), NOW).is_err());
    }
}
