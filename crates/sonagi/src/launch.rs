//! The service that a script launches: what it says of it judged and started, and the two processes of this binary that
//! stand between us and a service.

use crate::error::Error;
use crate::terminal::Terminal;
use serde_json::Value;
use sonagi_artillery::RefusedLaunch;
use sonagi_lab::{KEEPER, Launch, LaunchError, Launched, Mistake, Remark, STARTER};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Does what this process is for when it is the keeper or the starter of a service; None: it is neither.
pub(crate) fn in_its_service(arguments: &[OsString]) -> Option<ExitCode> {
    let first = arguments.get(1)?.to_str()?;
    if first == KEEPER {
        return Some(ExitCode::from(sonagi_lab::keep(io::stdin(), io::stdout())));
    }
    (first == STARTER).then(|| {
        let (code, why) = sonagi_lab::start(&arguments[2..]);
        // This is the service's standard error, which its log is made of.
        let _ = writeln!(io::stderr(), "{why}");
        ExitCode::from(code)
    })
}

/// What is wrong with what a script says of its service.
pub(crate) fn refused(value: &Value) -> Vec<RefusedLaunch> {
    let mistakes = sonagi_lab::read(value).err().unwrap_or_default();
    mistakes
        .into_iter()
        .map(|Mistake { pointer, is_key, what, hint }| RefusedLaunch { pointer, is_key, what, hint })
        .collect()
}

/// A service that a script wants for a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wish {
    /// What the script says of it, read once.
    launch: Launch,
    /// Where the load goes.
    target: Option<String>,
    /// The script's folder.
    folder: PathBuf,
}

impl Wish {
    /// The wish of a script in this file whose load goes to `target`; None: the script does not say where.
    ///
    /// # Errors
    /// The mistakes in what is said.
    pub(crate) fn of(said: &Value, target: Option<&str>, script: &Path) -> Result<Wish, Vec<Mistake>> {
        let folder = script.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Wish { launch: sonagi_lab::read(said)?, target: target.map(str::to_owned), folder })
    }

    /// The command, as the script has it.
    pub(crate) fn command(&self) -> &str {
        &self.launch.command.shown
    }

    /// The cores that the service may use, if it may not use all.
    pub(crate) fn cores(&self) -> Option<f64> {
        self.launch.limits.cpu
    }

    /// Where the load goes.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The target with this address in place of its own.
    pub(crate) fn target_at(&self, address: std::net::SocketAddr) -> Option<String> {
        let mut url = url::Url::parse(self.target.as_deref()?).ok()?;
        url.set_ip_host(address.ip()).ok()?;
        url.set_port(Some(address.port())).ok()?;
        let text = url.to_string();
        // A target is what paths are put behind.
        Some(text.strip_suffix('/').unwrap_or(&text).to_owned())
    }

    /// Starts the service and waits until it is ready, or somebody asks to stop.
    pub(crate) fn start(&self, is_stopped: &dyn Fn() -> bool) -> Result<Launched, Error> {
        let target = self.target.as_deref().and_then(host_and_port);
        let launched = Launched::start(&self.launch, target, &self.folder, say, is_stopped);
        launched.map_err(|error| match error {
            LaunchError::Failed(why) => Error::could_not(why),
            LaunchError::Stopped => Error::Interrupted("stopped before the service was ready".to_owned()),
        })
    }
}

/// Says on stderr, quiet or not, why a start takes longer, and what nobody asked for who left by another error.
fn say(remark: Remark) {
    let text = match remark {
        Remark::Waiting(why) => format!("notice: {why}"),
        Remark::Trouble(trouble) => Error::could_not(trouble).to_string(),
    };
    Terminal::from_environment().say(&text);
}

/// Mistakes, a line each, hints on lines of their own.
pub(crate) fn told(mistakes: &[Mistake]) -> String {
    let line = |Mistake { what, hint, .. }: &Mistake| {
        let hint = hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("launch: {what}{hint}")
    };
    mistakes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn host_and_port(address: &str) -> Option<(String, u16)> {
    let url = url::Url::parse(address).ok()?;
    let port = url.port().or(match url.scheme() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    })?;
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_of_the_reference_are_those_that_are_read() {
        let documented = sonagi_artillery::launch_keys();
        let read: Vec<_> = sonagi_lab::KEYS.iter().map(|(place, keys)| (*place, keys.to_vec())).collect();
        assert_eq!(documented, read);
    }

    #[test]
    fn a_target_keeps_its_path_at_another_address() {
        let at = "127.0.0.1:4000".parse().unwrap();
        for (target, expected) in [
            ("http://localhost:3000", "http://127.0.0.1:4000"),
            ("ws://127.0.0.1/chat?a=1", "ws://127.0.0.1:4000/chat?a=1"),
        ] {
            let said = json!({ "command": "node main.js", "limits": { "cpu": 0.5 } });
            let wish = Wish::of(&said, Some(target), Path::new("a/b.yml")).unwrap();
            assert_eq!(wish.target_at(at).as_deref(), Some(expected));
            assert_eq!((wish.command(), wish.cores()), ("node main.js", Some(0.5)));
        }
        assert_eq!(host_and_port("wss://[::1]/x"), Some(("::1".to_owned(), 443)));
    }

    #[test]
    fn a_wish_with_mistakes_is_none() {
        let mistakes = Wish::of(&json!({ "command": 7 }), None, Path::new("a/b.yml")).unwrap_err();
        assert!(told(&mistakes).starts_with("launch: "), "{mistakes:?}");
    }
}
