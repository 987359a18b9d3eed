//! The run folder as a sink: reserved before the run, written as it goes.
//!
//! Reserving makes the folder and proves that a file can be written in it, so that a full disk or a folder without
//! permission is an error before the load starts, not a loss after it.

use super::{Sink, SinkEvent};
use serde_json::json;
use sonagi_measure::folder::{DRAINING, Writer};
use sonagi_measure::summary::Summary;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Folders of the same name in one place: `chat`, `chat-2`, … up to this number.
const MOST_NAMESAKES: u32 = 1000;
/// Bytes that must fit on the disk before a run may start.
const PROBE_BYTES: usize = 64 * 1024;

/// Writes a run folder.
pub struct Folder {
    path: PathBuf,
    writer: Option<Writer>,
}

impl Folder {
    /// Makes a folder of this name in `runs` (or `name-2`, … when it is taken) and proves that it can be written.
    pub fn reserve(runs: &Path, name: &str) -> io::Result<Folder> {
        fs::create_dir_all(runs)?;
        let path = make(runs, name)?;
        if let Err(error) = probe(&path) {
            let _ = fs::remove_dir(&path);
            return Err(error);
        }
        Ok(Folder { path, writer: None })
    }

    /// Where the run is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn writer(&mut self) -> io::Result<&mut Writer> {
        self.writer.as_mut().ok_or_else(|| io::Error::other("it could not be opened when the run began"))
    }
}

fn make(runs: &Path, name: &str) -> io::Result<PathBuf> {
    for namesake in 1..=MOST_NAMESAKES {
        let path = match namesake {
            1 => runs.join(name),
            n => runs.join(format!("{name}-{n}")),
        };
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{MOST_NAMESAKES} folders are named {name}")))
}

fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(".probe");
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&[b' '; PROBE_BYTES])?;
        file.sync_data()
    });
    let removed = fs::remove_file(&path);
    written.and(removed)
}

impl Sink for Folder {
    fn name(&self) -> &str {
        "the run folder"
    }
    fn is_record(&self) -> bool {
        true
    }
    fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
        match event {
            SinkEvent::Began(header) => {
                self.writer = Some(Writer::create(&self.path, header)?);
                Ok(())
            }
            SinkEvent::Second(snapshot) => self.writer()?.snapshot(snapshot),
            SinkEvent::Phase { at, name } => self.writer()?.event(*at, "phase", json!({ "name": &**name })),
            SinkEvent::Line { at, user, text, .. } => {
                self.writer()?.event(*at, "log", json!({ "user": user, "text": &**text }))
            }
            SinkEvent::Noted { at, kind, detail } => self.writer()?.event(*at, kind, detail.clone()),
            SinkEvent::Draining { at } => self.writer()?.event(*at, DRAINING, json!({})),
            SinkEvent::Ended(summary) => match self.writer.take() {
                Some(writer) => {
                    let run_folder = Some(self.path.display().to_string());
                    writer.finish(&Summary { run_folder, ..Summary::clone(summary) })
                }
                None => self.writer().map(drop),
            },
        }
    }
}
