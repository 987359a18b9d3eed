//! The lines of one run, made once for all who watch it.
//!
//! A thread of low priority follows the run's folder and appends each line, as the event of the stream that it will be,
//! to a temporary file without a name: so a run of a day costs the process an offset a second, and whoever comes late
//! or comes back is sent the very same bytes. A summary replaces the one before: only the last one is kept, in memory.
//!
//! A line's id names its feed as well (`NONCE-NUMBER`): who comes back to another feed, of a server started anew or of
//! a run whose feed was given up meanwhile, is told to begin anew. What a feed cannot do it says, and ends.

use super::file::forget_folder;
use crate::languages::LANGUAGES;
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use sonagi_measure::folder::{RUN, RunState};
use sonagi_report::html;
use sonagi_report::lines::{Line, LineReader};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// What is known of a run's folder before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    /// The run need not have begun: this process will write it.
    pub(super) is_awaited: bool,
    /// The folder is gone when somebody looks for it.
    pub(super) is_temporary: bool,
}

/// The lines of a run.
pub(crate) struct Feed {
    /// Tells this feed's ids from those of others.
    nonce: u32,
    kept: Mutex<Kept>,
    is_awaited: AtomicBool,
    is_temporary: bool,
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
    /// Why no more lines come, though the run may not be over.
    failure: Option<String>,
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
    /// Why no more will come, if something went wrong; all there is was sent.
    pub(super) failure: Option<String>,
}

impl Feed {
    /// Follows the run in this folder.
    pub(super) fn start(folder: &Path, id: &str, expected: Expected) -> io::Result<Arc<Feed>> {
        let feed = Arc::new(Feed::new(expected)?);
        let (weak, folder, id) = (Arc::downgrade(&feed), folder.to_owned(), id.to_owned());
        std::thread::Builder::new().name("page feed".to_owned()).spawn(move || {
            yield_to_load();
            follow(&weak, &folder, &id);
        })?;
        Ok(feed)
    }

    fn new(expected: Expected) -> io::Result<Feed> {
        let kept = Kept {
            spool: nameless()?,
            lines: Vec::new(),
            end: 0,
            summary: None,
            is_over: false,
            failure: None,
        };
        Ok(Feed {
            nonce: getrandom::u32().map_err(io::Error::other)?,
            kept: Mutex::new(kept),
            is_awaited: AtomicBool::new(expected.is_awaited),
            is_temporary: expected.is_temporary,
            news: watch::Sender::new(0),
        })
    }

    /// Whatever there will be in the folder is there, or being written.
    pub(crate) fn expect_no_run(&self) {
        self.is_awaited.store(false, Ordering::Release);
    }

    /// Tells when there is news.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Whether no more lines will come.
    pub(crate) fn is_done(&self) -> bool {
        let kept = self.kept();
        kept.is_over || kept.failure.is_some()
    }

    /// Whether it ended before all of the run was there.
    pub(super) fn has_failed(&self) -> bool {
        self.kept().failure.is_some()
    }

    /// The number of the line with this id; None: it is of another feed.
    pub(super) fn number(&self, id: &str) -> Option<usize> {
        let (nonce, number) = id.split_once('-')?;
        let is_ours = u32::from_str_radix(nonce, 16) == Ok(self.nonce);
        number.parse().ok().filter(|number| is_ours && *number <= self.kept().lines.len())
    }

    /// The events behind the line of this number, as far as they are there.
    ///
    /// # Errors
    /// The file for the lines cannot be read.
    pub(super) fn behind(&self, mut seen: usize) -> io::Result<Chunk> {
        let kept = self.kept();
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
        let failure = kept.failure.clone().filter(|_| !has_more);
        Ok(Chunk { bytes, seen, has_more, is_last: kept.is_over && !has_more, failure })
    }

    fn push(&self, mut line: Line) -> io::Result<()> {
        if self.is_temporary {
            forget_folder(&mut line);
        }
        let mut kept = self.kept();
        let number = kept.lines.len() + 1;
        let mut event = format!("id: {:08x}-{number}\ndata: ", self.nonce).into_bytes();
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

    fn fail(&self, why: String) {
        self.kept().failure = Some(why);
        // As news, though there is no line.
        self.news.send_modify(|_| {});
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
    // In this order: a run that can be opened is locked by its writer, or over.
    let is_finished =
        LineReader::open(folder, &LANGUAGES).is_ok() && RunState::of(folder) != RunState::Running;
    let followed = match is_finished {
        true => finished(feed, folder, id),
        false => growing(feed, folder, id),
    };
    if let (Err(why), Some(feed)) = (followed, feed.upgrade()) {
        feed.fail(why);
    }
}

fn finished(feed: &Weak<Feed>, folder: &Path, id: &str) -> Result<(), String> {
    let lines = html::lines(folder, id, &LANGUAGES).map_err(unread)?;
    if let Some(feed) = feed.upgrade() {
        lines.into_iter().try_for_each(|line| feed.push(line)).map_err(unkept)?;
        feed.tell();
    }
    Ok(())
}

fn growing(feed: &Weak<Feed>, folder: &Path, id: &str) -> Result<(), String> {
    let Some(mut reader) = opened(feed, folder)? else { return Ok(()) };
    let mut summed = None::<Instant>;
    if let Some(feed) = feed.upgrade() {
        feed.push(reader.head(id, &LANGUAGES)).map_err(unkept)?;
    }
    while let Some(feed) = feed.upgrade() {
        let (mut written, mut has_news) = (Ok(()), false);
        let state = reader.advance(&mut |line| {
            has_news = true;
            if written.is_ok() {
                written = feed.push(line);
            }
        });
        written.map_err(unkept)?;
        let is_running = state.map_err(unread)? == RunState::Running;
        if is_running && has_news && summed.is_none_or(|at| at.elapsed() >= SUMMED_EVERY) {
            feed.push(reader.summary()).map_err(unkept)?;
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

/// The reader of a folder, as soon as there is a run in it; None: nobody holds the feed any more.
fn opened(feed: &Weak<Feed>, folder: &Path) -> Result<Option<LineReader>, String> {
    loop {
        // In this order: what comes between two of them is seen by the later one.
        let Some(may_come) = feed.upgrade().map(|feed| feed.is_awaited.load(Ordering::Acquire)) else {
            return Ok(None);
        };
        let is_there = folder.join(RUN).is_file();
        match LineReader::open(folder, &LANGUAGES) {
            Ok(reader) => return Ok(Some(reader)),
            Err(_) if may_come && !is_there => std::thread::sleep(LOOKED_EVERY),
            // It is written in one step: what cannot be read now never will be.
            Err(error) => return Err(unread(error)),
        }
    }
}

fn unread(error: impl std::fmt::Display) -> String {
    format!("this run cannot be read: {error}").replace("\nhint: ", "; hint: ")
}

/// The sentence for lines that cannot be kept for their viewers.
pub(super) fn unkept(error: impl std::fmt::Display) -> String {
    let folder = std::env::temp_dir();
    format!(
        "the lines of this run cannot be kept in the folder for temporary files, {}: {error}; hint: make room there, \
         or name another in TMPDIR",
        folder.display()
    )
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
