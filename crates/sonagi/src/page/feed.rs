//! The lines of one run, made once for all who watch it.
//!
//! A thread of low priority follows the run's folder and appends each line, as the event of the stream that it will be,
//! to a temporary file without a name: so a run of a day costs the process an offset a second, and whoever comes late
//! or comes back is sent the very same bytes. A summary replaces the one before: only the last one is kept, in memory.

use crate::languages::LANGUAGES;
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use sonagi_measure::folder::RunState;
use sonagi_report::html;
use sonagi_report::lines::{Line, LineReader};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a run's folder is looked at.
const LOOKED_EVERY: Duration = Duration::from_millis(200);
/// How often the run so far is summed up, at most.
const SUMMED_EVERY: Duration = Duration::from_secs(2);
/// Bytes that a viewer is sent at once: what waits for a slow one.
const CHUNK: usize = 256 << 10;
/// The priority of threads that serve pages: the load goes first.
const NICE: i32 = 10;

/// Takes the current thread's priority back.
pub(super) fn yield_to_load() {
    // Refused: it is served at the usual priority.
    let _ = setpriority_process(Some(gettid()), NICE);
}

/// The lines of a run.
pub(crate) struct Feed {
    kept: Mutex<Kept>,
    /// How many lines there are; the number changes when there is news.
    news: watch::Sender<u64>,
}

struct Kept {
    /// Events one behind the other.
    spool: File,
    lines: Vec<Place>,
    end: u64,
    /// The last summary, with its place in `lines`.
    summary: Option<(usize, Vec<u8>)>,
    is_over: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Spooled { at: u64, length: u32 },
    Summary,
}

/// What a viewer is sent next.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// The number of the line to go on behind.
    pub(super) seen: usize,
    /// Whether there is more already.
    pub(super) has_more: bool,
    /// Whether it was the last one.
    pub(super) is_last: bool,
}

impl Feed {
    /// Follows the run in this folder, which need not have begun.
    pub(crate) fn start(folder: &Path, id: &str) -> io::Result<Arc<Feed>> {
        let kept = Kept { spool: nameless()?, lines: Vec::new(), end: 0, summary: None, is_over: false };
        let feed = Arc::new(Feed { kept: Mutex::new(kept), news: watch::Sender::new(0) });
        let (weak, folder, id) = (Arc::downgrade(&feed), folder.to_owned(), id.to_owned());
        std::thread::Builder::new().name("page feed".to_owned()).spawn(move || {
            yield_to_load();
            follow(&weak, &folder, &id);
        })?;
        Ok(feed)
    }

    /// Tells when there is news.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Whether all of the run is there.
    pub(crate) fn is_over(&self) -> bool {
        self.kept().is_over
    }

    /// The events behind the line of this number, as far as they are there.
    pub(super) fn behind(&self, seen: usize) -> io::Result<Chunk> {
        let kept = self.kept();
        // A number that this feed never told is of another one: from the start.
        let mut seen = if seen > kept.lines.len() { 0 } else { seen };
        let mut bytes = Vec::new();
        while seen < kept.lines.len() && bytes.len() < CHUNK {
            match kept.lines[seen] {
                Place::Spooled { at, length } => {
                    let before = bytes.len();
                    bytes.resize(before + length as usize, 0);
                    kept.spool.read_exact_at(&mut bytes[before..], at)?;
                }
                Place::Summary => {
                    let last = kept.summary.as_ref().filter(|(place, _)| *place == seen);
                    bytes.extend(last.iter().flat_map(|(_, event)| event));
                }
            }
            seen += 1;
        }
        let has_more = seen < kept.lines.len();
        Ok(Chunk { bytes, seen, has_more, is_last: kept.is_over && !has_more })
    }

    fn push(&self, line: &Line) -> io::Result<()> {
        let mut kept = self.kept();
        let number = kept.lines.len() + 1;
        let mut event = format!("id: {number}\ndata: ").into_bytes();
        event.extend(line.to_json());
        event.extend(b"\n\n");
        if matches!(line, Line::Summary(_)) {
            kept.summary = Some((number - 1, event));
            kept.lines.push(Place::Summary);
        } else {
            let (at, length) = (kept.end, event.len() as u32);
            kept.spool.write_all_at(&event, at)?;
            kept.end += u64::from(length);
            kept.lines.push(Place::Spooled { at, length });
        }
        kept.is_over = matches!(line, Line::End(_));
        Ok(())
    }

    fn tell(&self) {
        let count = self.kept().lines.len() as u64;
        self.news.send_if_modified(|known| std::mem::replace(known, count) != count);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fills a feed until the run is over, or nobody holds the feed any more.
fn follow(feed: &Weak<Feed>, folder: &Path, id: &str) {
    // A disk for temporary files that is full: the viewers have what there is.
    // In this order: a run that can be opened is locked by its writer, or over.
    let is_finished =
        LineReader::open(folder, &LANGUAGES).is_ok() && RunState::of(folder) != RunState::Running;
    let _ = match is_finished {
        true => finished(feed, folder, id),
        false => growing(feed, folder, id),
    };
}

fn finished(feed: &Weak<Feed>, folder: &Path, id: &str) -> io::Result<()> {
    let lines = html::lines(folder, id, &LANGUAGES).unwrap_or_default();
    if let Some(feed) = feed.upgrade() {
        lines.iter().try_for_each(|line| feed.push(line))?;
        feed.tell();
    }
    Ok(())
}

fn growing(feed: &Weak<Feed>, folder: &Path, id: &str) -> io::Result<()> {
    let mut reader = loop {
        match LineReader::open(folder, &LANGUAGES) {
            Ok(reader) => break reader,
            Err(_) if feed.strong_count() == 0 => return Ok(()),
            Err(_) => std::thread::sleep(LOOKED_EVERY),
        }
    };
    let mut summed = None::<Instant>;
    if let Some(feed) = feed.upgrade() {
        feed.push(&reader.head(id, &LANGUAGES))?;
    }
    while let Some(feed) = feed.upgrade() {
        let (mut written, mut has_news) = (Ok(()), false);
        let state = reader.advance(&mut |line| {
            has_news = true;
            if written.is_ok() {
                written = feed.push(&line);
            }
        });
        written?;
        let is_running = matches!(state, Ok(RunState::Running));
        if is_running && has_news && summed.is_none_or(|at| at.elapsed() >= SUMMED_EVERY) {
            feed.push(&reader.summary())?;
            summed = Some(Instant::now());
        }
        feed.tell();
        drop(feed);
        if !is_running {
            break;
        }
        std::thread::sleep(LOOKED_EVERY);
    }
    Ok(())
}

/// A file that is gone when it is closed.
fn nameless() -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path: PathBuf = std::env::temp_dir().join(format!("sonagi-page-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
