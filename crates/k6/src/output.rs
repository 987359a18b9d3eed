//! Samples as they happen, in k6's file formats: `--out json=FILE`, `--out csv=FILE`.
//!
//! An output writes every single sample of the intervals it is given. It is a sink: the engine has a thread for it, and
//! leaves out what comes faster than it can be written. Samplers keep single samples only when they are told to
//! ([`crate::metrics::Sampler::new`]). A name that ends with `.gz` makes a compressed file, `-` writes to the standard
//! output.

mod csv;
mod json;
#[cfg(test)]
mod tests;

use crate::metrics::{MetricStore, Sample, SystemTags};
use flate2::{Compression, write::GzEncoder};
use sonagi_engine::SinkThread;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::SystemTime;

/// Samples that may wait for an output that is written more slowly than they come.
const MOST_WAITING: u64 = 1_000_000;

/// An output a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    form: Form,
    /// None: the standard output.
    path: Option<String>,
    /// Samples that may wait for it; what comes beyond is left out.
    most_waiting: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    /// With instants as this of [`TIME_FORMATS`] tells them.
    Csv(usize),
}

/// How CSV files tell instants: an option's value, and the text of nanoseconds since 1970.
type TimeFormat = (&'static str, fn(i128) -> String);

const TIME_FORMATS: [TimeFormat; 6] = [
    ("unix", |ns| ns.div_euclid(1_000_000_000).to_string()),
    ("unix_milli", |ns| ns.div_euclid(1_000_000).to_string()),
    ("unix_micro", |ns| ns.div_euclid(1_000).to_string()),
    ("unix_nano", |ns| ns.to_string()),
    ("rfc3339", |ns| rfc3339(ns - ns.rem_euclid(1_000_000_000), false)),
    ("rfc3339_nano", |ns| rfc3339(ns, true)),
];

/// Why there is no such output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its type is unknown.
    #[error(
        "there is no output of type '{0}'\nhint: there are json and csv, as in --out json=samples.json.gz"
    )]
    Type(String),
    /// One of its settings is.
    #[error(
        "the csv output has no setting '{0}'\nhint: it has fileName and timeFormat, as in --out \
         csv=fileName=samples.csv,timeFormat=rfc3339"
    )]
    Setting(String),
    /// The format of its times is.
    #[error(
        "'{0}' is no format for times\nhint: there are unix, unix_milli, unix_micro, unix_nano, rfc3339 and \
         rfc3339_nano"
    )]
    Time(String),
}

impl Wanted {
    /// Reads an `--out`: `json`, `json=FILE`, `csv`, `csv=FILE`, `csv=fileName=FILE,timeFormat=rfc3339`. The
    /// environment has `K6_CSV_FILENAME` and `K6_CSV_TIME_FORMAT`.
    ///
    /// # Errors
    /// When the type, a setting or the format of times is unknown.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Wanted, Refused> {
        let (kind, argument) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "json" => {
                let path = path(if argument.is_empty() { "-" } else { argument });
                Ok(Wanted { form: Form::Json, path, most_waiting: MOST_WAITING })
            }
            "csv" => csv_wanted(argument, environment),
            _ => Err(Refused::Type(kind.to_owned())),
        }
    }

    /// The same with room for so many samples.
    #[cfg(test)]
    pub(crate) fn with_room_for(self, most_waiting: u64) -> Wanted {
        Wanted { most_waiting, ..self }
    }
}

fn path(name: &str) -> Option<String> {
    (name != "-").then(|| name.to_owned())
}

fn csv_wanted(argument: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Wanted, Refused> {
    let mut name = environment("K6_CSV_FILENAME").unwrap_or_else(|| "file.csv".to_owned());
    let mut time = environment("K6_CSV_TIME_FORMAT").unwrap_or_else(|| "unix".to_owned());
    if !argument.is_empty() && !argument.contains('=') {
        argument.clone_into(&mut name);
    }
    for setting in argument.split(',').filter(|_| argument.contains('=')) {
        match setting.split_once('=') {
            Some(("fileName", value)) => value.clone_into(&mut name),
            Some(("timeFormat", value)) => value.clone_into(&mut time),
            Some(("saveInterval", _)) => {} // it is saved once a second, whatever it says
            _ => return Err(Refused::Setting(setting.split('=').next().unwrap_or_default().to_owned())),
        }
    }
    let format = TIME_FORMATS.iter().position(|(known, _)| *known == time);
    let format = format.ok_or(Refused::Time(time))?;
    Ok(Wanted { form: Form::Csv(format), path: path(&name), most_waiting: MOST_WAITING })
}

/// The samples of an interval; all outputs share them.
pub type Samples = Arc<Vec<Sample>>;

impl Wanted {
    /// Opens it, on a thread of its own. `started` is the wall clock at the test's start, the store knows the
    /// thresholds and must have been told all of them. Samples can be read before the end, unless they are compressed.
    /// It fails when the disk is full, or whoever reads has gone.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn open(
        &self,
        store: &MetricStore,
        tags: SystemTags,
        started: SystemTime,
        standard: Box<dyn Write + Send>,
    ) -> io::Result<SinkThread<Samples>> {
        let into = Into::open(self.path.as_deref(), standard)?;
        let started = match started.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => since.as_nanos() as i128,
            Err(before) => -(before.duration().as_nanos() as i128),
        };
        match self.form {
            Form::Json => {
                let lines = json::Lines::new(into, store, tags, started);
                SinkThread::start("output", self.most_waiting, lines)
            }
            Form::Csv(format) => {
                let (_, time) = TIME_FORMATS[format];
                let rows = csv::Rows::new(into, store.registry().clone(), tags, started, time)?;
                SinkThread::start("output", self.most_waiting, rows)
            }
        }
    }
}

/// The destination of an output.
enum Into {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Compressed(GzEncoder<BufWriter<File>>),
}

impl Into {
    fn open(path: Option<&str>, standard: Box<dyn Write + Send>) -> io::Result<Into> {
        const BUFFER: usize = 1 << 16;
        let Some(path) = path else { return Ok(Into::Plain(BufWriter::new(standard))) };
        let file = File::create(path)?;
        Ok(if path.ends_with(".gz") {
            Into::Compressed(GzEncoder::new(BufWriter::with_capacity(BUFFER, file), Compression::fast()))
        } else {
            Into::Plain(BufWriter::with_capacity(BUFFER, Box::new(file)))
        })
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Into::Plain(mut plain) => plain.flush(),
            Into::Compressed(compressed) => compressed.finish()?.flush(),
        }
    }
}

impl Write for Into {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Into::Plain(plain) => plain.write(bytes),
            Into::Compressed(compressed) => compressed.write(bytes),
        }
    }
    /// Compressed text is not flushed: it would be larger for it.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Into::Plain(plain) => plain.flush(),
            Into::Compressed(_) => Ok(()),
        }
    }
}

/// An instant of the wall clock, nanoseconds since 1970, as RFC 3339 has it, in UTC.
fn rfc3339(ns: i128, fraction: bool) -> String {
    match jiff::Timestamp::from_nanosecond(ns) {
        Ok(at) if fraction => at.to_string(),
        Ok(at) => format!("{at:.0}"),
        Err(_) => String::new(),
    }
}
