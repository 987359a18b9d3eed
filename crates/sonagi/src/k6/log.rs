//! The log of a k6 test: in k6's two formats, for people and for files.

use super::flags::GivenFlags;
use crate::terminal::Terminal;
use serde_json::{Value, json};
use sonagi_engine::{Level, LogLine, Progress};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Duration;

/// The format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineFormat {
    /// `INFO[0001] text  source=console`, for people.
    Short,
    /// `time="…" level=info msg=text source=console`.
    Pairs,
    Json,
    /// The message alone.
    Raw,
}

enum Into {
    Nowhere,
    Stderr,
    Stdout,
    File(BufWriter<File>),
}

const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// The log's destinations.
pub(super) struct TestLog {
    form: LineFormat,
    into: Into,
    /// The destination of the script's console, if it has its own (`--console-output`).
    console: Option<BufWriter<File>>,
    least: Level,
    terminal: Terminal,
}

impl TestLog {
    pub(super) fn open(given: &GivenFlags, terminal: &Terminal) -> Result<TestLog, String> {
        let output = given.one("log-output").unwrap_or_else(|| "stderr".to_owned());
        let into = match output.as_str() {
            "none" => Into::Nowhere,
            "stderr" => Into::Stderr,
            "stdout" => Into::Stdout,
            other => match other.strip_prefix("file=") {
                Some(path) => Into::File(appended(path.split(',').next().unwrap_or_default())?),
                None => {
                    return Err(format!(
                        "--log-output takes stderr, stdout, none or file=FILE; got `{other}`"
                    ));
                }
            },
        };
        let form = match given.one("log-format").as_deref() {
            None | Some("" | "text") if terminal.is_watched() => LineFormat::Short,
            None | Some("" | "text") => LineFormat::Pairs,
            Some("json") => LineFormat::Json,
            Some("raw") => LineFormat::Raw,
            Some(other) => return Err(format!("--log-format takes text, json or raw; got `{other}`")),
        };
        let least = if given.has("verbose") { Level::Debug } else { Level::Info };
        Ok(TestLog { form, into, console: None, least, terminal: *terminal })
    }

    /// Sends the script's console to a file from now on.
    pub(super) fn write_console(&mut self, path: &str) -> Result<(), String> {
        self.console = Some(appended(path)?);
        Ok(())
    }

    pub(super) fn line(&mut self, line: &LogLine) {
        if line.level < self.least {
            return;
        }
        if let Some(file) = &mut self.console
            && is_of_console(line)
        {
            let form = if self.form == LineFormat::Short { LineFormat::Pairs } else { self.form };
            let text = written(form, &LogLine { fields: Vec::new(), ..line.clone() });
            return drop(writeln!(file, "{text}"));
        }
        let text = written(self.form, line);
        match &mut self.into {
            Into::Nowhere => {}
            Into::Stderr => self.terminal.say(&text),
            Into::Stdout => drop(self.terminal.print(&format!("{text}\n"))),
            // Ignored when the disk is full: the test goes on.
            Into::File(file) => drop(writeln!(file, "{text}")),
        }
    }

    /// Reports why nothing was run, or did not end well: to people in the form of our errors, to programs as a line
    /// like any other.
    pub(super) fn error(&mut self, why: &str) {
        match self.form {
            LineFormat::Json => self.line(&refusal(why)),
            LineFormat::Short | LineFormat::Pairs | LineFormat::Raw => {
                self.terminal.say(&format!("error: {why}"));
            }
        }
    }

    pub(super) fn progress(&mut self, progress: &Progress) {
        // Virtual users are counted every second, but a moment of the first second passed before the test began.
        let seconds = (progress.elapsed + HALF_A_SECOND).as_secs();
        if seconds == 0 || !seconds.is_multiple_of(if self.terminal.is_watched() { 1 } else { 10 }) {
            return;
        }
        let (active, there) = progress.vus;
        let (complete, interrupted) = progress.iterations;
        self.terminal.say(&format!(
            "running ({}m{:02}s), {active}/{there} VUs, {complete} complete and {interrupted} interrupted iterations",
            seconds / 60,
            seconds % 60
        ));
    }

    pub(super) fn finish(&mut self) {
        let own = if let Into::File(file) = &mut self.into { Some(file) } else { None };
        for file in own.into_iter().chain(&mut self.console) {
            let _ = file.flush();
        }
    }
}

/// Whether the script's own console says it.
pub(super) fn is_of_console(line: &LogLine) -> bool {
    line.fields.iter().any(|(name, value)| (*name, value.as_str()) == ("source", "console"))
}

/// An error as a line; its hint, if any, is a field of its own as in k6.
fn refusal(why: &str) -> LogLine {
    let mut parts = why.split("hint: ");
    match (parts.next(), parts.next(), parts.next()) {
        (Some(text), Some(hint), None) => LogLine {
            fields: vec![("hint", hint.trim_end().to_owned())],
            ..LogLine::new(Level::Error, text.trim_end())
        },
        _ => LogLine::new(Level::Error, why),
    }
}

fn appended(path: &str) -> Result<BufWriter<File>, String> {
    let file = File::options().create(true).append(true).open(path);
    Ok(BufWriter::new(file.map_err(|error| format!("cannot write {path}: {error}"))?))
}

fn written(form: LineFormat, line: &LogLine) -> String {
    let level = match line.level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    };
    let pair = |(name, value): &(&str, String)| format!(" {name}={}", quoted(value));
    let fields = || line.fields.iter().map(pair).collect::<String>();
    let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    match form {
        LineFormat::Raw => line.text.clone(),
        LineFormat::Short => {
            let name = &level.to_uppercase()[..4];
            let seconds = line.at.0.max(0) / 1_000_000_000;
            format!("{name}[{seconds:04}] {:<44}{}", line.text, fields()).trim_end().to_owned()
        }
        LineFormat::Pairs => {
            let text = Some(&line.text).filter(|text| !text.is_empty());
            let text = text.map(|text| format!(" msg={}", quoted(text))).unwrap_or_default();
            format!("time={now:?} level={level}{text}{}", fields())
        }
        LineFormat::Json => {
            let mut object = json!({ "level": level, "msg": line.text, "time": now });
            for (name, value) in &line.fields {
                object[*name] = Value::from(value.as_str());
            }
            object.to_string()
        }
    }
}

/// Plain if possible, else in quotes.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/@^+".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_line_with_its_hint_beside_it() {
        let json = |why| serde_json::from_str::<Value>(&written(LineFormat::Json, &refusal(why))).unwrap();
        let one = json("no exported functions in script\nhint: export one");
        assert_eq!(
            (&one["level"], &one["msg"]),
            (&json!("error"), &json!("no exported functions in script"))
        );
        assert_eq!(one["hint"], "export one");
        // The hint's problem would be lost.
        let two = json("a: is wrong\n    hint: b\nc: is wrong\n    hint: d");
        assert_eq!(two["msg"], "a: is wrong\n    hint: b\nc: is wrong\n    hint: d");
    }

    #[test]
    fn a_line_is_written_as_who_reads_it_wants_it() {
        let line = LogLine {
            fields: vec![("source", "console".to_owned())],
            ..LogLine::new(Level::Info, "a \"b\"")
        };
        assert_eq!(written(LineFormat::Raw, &line), "a \"b\"");
        let pairs = written(LineFormat::Pairs, &line);
        assert!(pairs.ends_with(r#"level=info msg="a \"b\"" source=console"#), "{pairs}");
        assert_eq!(written(LineFormat::Short, &line), format!("INFO[0000] {:<44} source=console", "a \"b\""));
        assert_eq!(
            serde_json::from_str::<Value>(&written(LineFormat::Json, &line)).unwrap()["source"],
            "console"
        );
    }
}
