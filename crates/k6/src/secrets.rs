//! Values that a test knows and its log must not show: `--secret-source mock=NAME=VALUE,…` and `--secret-source
//! file=FILE`.
//!
//! A secret that a script was told is masked in every line of the log from then on, whoever says it.

use sonagi_engine::LogLine;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// The text that replaces a secret in the log.
const MASK: &str = "***SECRET_REDACTED***";

/// All sources of a test.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: Vec<Source>,
    /// Those that scripts were told.
    told: RwLock<Vec<String>>,
}

#[derive(Debug, Default)]
struct Source {
    name: String,
    is_default: bool,
    secrets: Vec<(String, String)>,
}

impl Secrets {
    /// Reads the settings of `--secret-source`, one source each. A single source is the default.
    ///
    /// # Errors
    /// When a setting cannot be read, a file cannot, or two sources have one name or are both the default.
    pub fn of(settings: &[String]) -> Result<Secrets, String> {
        let mut sources: Vec<Source> = Vec::with_capacity(settings.len());
        for setting in settings {
            let source = source(setting)?;
            if source.is_default && sources.iter().any(|other| other.is_default) {
                return Err(format!(
                    "only one source of secrets can be the default, {setting:?} is a second one"
                ));
            }
            if sources.iter().any(|other| other.name == source.name) {
                return Err(format!(
                    "there is a source of secrets {:?} already: give {setting:?} a name of its own, as name=other",
                    source.name
                ));
            }
            sources.push(source);
        }
        if let [only] = sources.as_mut_slice() {
            only.is_default = true;
        }
        Ok(Secrets { sources, told: RwLock::default() })
    }

    /// A secret of a source, or of the default one, and why there is none.
    pub(crate) fn tell(&self, source: Option<&str>, name: &str) -> Result<&str, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured\nhint: --secret-source file=FILE names a file of NAME=VALUE \
                        lines".to_owned());
        }
        let asked = source.unwrap_or("default");
        let is_it = |one: &&Source| if asked == "default" { one.is_default } else { one.name == asked };
        let found = self.sources.iter().find(is_it);
        let found = found.ok_or_else(|| format!("no secret source with name {asked:?} is configured"))?;
        let (_, secret) =
            found.secrets.iter().find(|(known, _)| known == name).ok_or_else(|| "no value".to_owned())?;
        let mut told = self.told.write().unwrap_or_else(PoisonError::into_inner);
        if !secret.is_empty() && !told.contains(secret) {
            told.push(secret.clone());
        }
        Ok(secret)
    }

    /// A line as it may be told; None: as it is.
    pub(crate) fn masked(&self, line: &LogLine) -> Option<LogLine> {
        let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
        let says = |text: &str| told.iter().any(|secret| text.contains(secret.as_str()));
        if !says(&line.text) && !line.fields.iter().any(|(_, value)| says(value)) {
            return None;
        }
        let mask = |text: &mut String| {
            for secret in told.iter() {
                *text = text.replace(secret.as_str(), MASK);
            }
        };
        let mut line = line.clone();
        mask(&mut line.text);
        line.fields.iter_mut().for_each(|(_, value)| mask(value));
        Some(line)
    }
}

/// `mock=name=NAME,default,KEY=VALUE,…` or `file=FILE,name=NAME,default`.
fn source(setting: &str) -> Result<Source, String> {
    let (kind, settings) = setting.split_once('=').unwrap_or((setting, ""));
    let mut source = Source::default();
    let mut rest = Vec::new();
    for part in settings.split(',') {
        match part.split_once('=') {
            Some(("name", name)) => name.clone_into(&mut source.name),
            None if part == "default" => source.is_default = true,
            _ => rest.push(part),
        }
    }
    source.secrets = match kind {
        "mock" => rest.into_iter().map(pair).collect::<Result<_, _>>()?,
        "file" => {
            let file = rest.first().copied().unwrap_or_default();
            let file = Path::new(file.strip_prefix("filename=").unwrap_or(file));
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            text.lines().map(pair).collect::<Result<_, _>>()?
        }
        _ => {
            return Err(format!(
                "there is no source of secrets of type {kind:?}\nhint: there are file=FILE and mock=NAME=VALUE"
            ));
        }
    };
    Ok(source)
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("a secret is NAME=VALUE, got {text:?}"))?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_engine::Level;

    fn of(settings: &[&str]) -> Result<Secrets, String> {
        Secrets::of(&settings.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_told_by_the_source_that_was_asked() {
        let alone = of(&["mock=one=first,two=b=c,name=x"]).unwrap();
        assert_eq!(alone.tell(None, "one"), Ok("first"));
        assert_eq!(alone.tell(Some("x"), "two"), Ok("b=c"));
        assert_eq!(alone.tell(None, "name"), Err("no value".to_owned()));
        let two = of(&["mock=name=other,one=1", "mock=default,one=2"]).unwrap();
        assert_eq!((two.tell(None, "one"), two.tell(Some("other"), "one")), (Ok("2"), Ok("1")));
        let none = of(&["mock=name=other,one=1", "mock=one=2"]).unwrap();
        let why = "no secret source with name \"default\" is configured".to_owned();
        assert_eq!(none.tell(None, "one"), Err(why));
    }

    #[test]
    fn a_file_has_a_secret_in_each_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secrets");
        std::fs::write(&file, "one=first secret\ntwo=a=b\n").unwrap();
        let secrets = of(&[&format!("file={},default", file.display())]).unwrap();
        assert_eq!((secrets.tell(None, "one"), secrets.tell(None, "two")), (Ok("first secret"), Ok("a=b")));
        for wrong in [
            &["file=/none"][..],
            &["foo=1"],
            &["mock=bad"],
            &["mock=a=1", "mock=b=1"],
            &["mock=default,a=1", "mock=name=x,default,a=1"],
        ] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_was_told_is_masked_in_the_log_and_nothing_else() {
        let secrets = of(&["mock=one=first,two=second"]).unwrap();
        let line = LogLine {
            fields: vec![("error", "of first".to_owned())],
            ..LogLine::new(Level::Info, "first second")
        };
        assert_eq!(secrets.masked(&line), None);
        secrets.tell(None, "one").unwrap();
        let masked = secrets.masked(&line).unwrap();
        assert_eq!(
            (masked.text, masked.fields[0].1.clone()),
            (format!("{MASK} second"), format!("of {MASK}"))
        );
    }
}
