//! The service that a script launches: what it says of it judged and started, and the two processes of this binary that
//! stand between us and a service.
//!
//! The reference service (`serve`) is launched as any other: this same binary, on a port that it finds itself and
//! tells, for one that was looked for beforehand may be somebody else's by then. It is a process of its own, as a
//! service that shared its generator's threads would be measured by its own load.

use crate::error::Error;
use crate::terminal::Terminal;
use crate::values;
use serde_json::Value;
use sonagi_artillery::{RefusedLaunch, Serve};
use sonagi_lab::{KEEPER, Launch, LaunchError, Launched, Mistake, Ready, Remark, STARTER, Stop, StopBy};
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The text before the address in the first line of `sonagi serve`.
pub(crate) const LISTENING: &str = "listening on http://";
/// What messages call the reference service's command.
const SERVE: &str = "sonagi serve";
/// The command on a free port, to be ended by the end of its standard input, upon which it drains.
const SERVE_ARGUMENTS: [&str; 4] = ["serve", "--listen", "127.0.0.1:0", "--stop-on-eof"];
/// The time limit for it to be ready: creating a million users takes a few seconds.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// The time limit for its end after its grace period; then it is killed.
const END_PATIENCE: Duration = Duration::from_secs(30);

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
    /// The options of the reference service; None: it is one of the script's own.
    options: Option<Vec<String>>,
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
        let (launch, target) = (sonagi_lab::read(said)?, target.map(str::to_owned));
        Ok(Wish { launch, options: None, target, folder: folder_of(script) })
    }

    /// The wish of a script in this file for the reference service, which is the target.
    ///
    /// # Errors
    /// The mistakes in what is said of it beside its options.
    pub(crate) fn served(serve: &Serve, script: &Path) -> Result<Wish, Vec<Mistake>> {
        let mut said = serve.launch.as_object().cloned().unwrap_or_default();
        said.insert("command".to_owned(), Value::from(command_of(&serve.arguments)));
        let ready = Ready::Listening { before: LISTENING.to_owned(), path: "/healthz".to_owned() };
        let mut launch = Launch {
            key: "serve",
            ready: Some(ready),
            patience: START_PATIENCE,
            stop: Stop { by: StopBy::Eof, grace: END_PATIENCE + grace(&serve.arguments) },
            ..sonagi_lab::read(&Value::Object(said))?
        };
        // By itself it would count the cores of a quota, rounded down, at the moment it starts.
        if let Some(limit) = launch.limits.cpu.filter(|_| !has(&serve.arguments, "--workers")) {
            let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
            launch.command.words.push(format!("--workers={}", limit.min(cores).ceil().max(1.0)));
        }
        // Its options may hold a password.
        launch.command.shown = SERVE.to_owned();
        Ok(Wish { launch, options: Some(serve.arguments.clone()), target: None, folder: folder_of(script) })
    }

    /// The same wish, once it is known that the service listens there.
    pub(crate) fn at(self, address: SocketAddr) -> Wish {
        Wish { target: Some(format!("http://{address}")), ..self }
    }

    /// The options of the reference service; None: it is one of the script's own.
    pub(crate) fn options(&self) -> Option<&[String]> {
        self.options.as_deref()
    }

    /// Whether there is to be a network before the service.
    pub(crate) fn has_network(&self) -> bool {
        self.launch.network.is_some()
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
    pub(crate) fn target_at(&self, address: SocketAddr) -> Option<String> {
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

fn folder_of(script: &Path) -> PathBuf {
    script.parent().map(Path::to_owned).unwrap_or_default()
}

/// This same binary as the reference service with these options, which drains for no time if they do not say for how
/// long.
fn command_of(options: &[String]) -> Vec<String> {
    let own = std::env::current_exe().map(|path| path.display().to_string());
    let mut words = vec![own.unwrap_or_else(|_| "/proc/self/exe".to_owned())];
    words.extend(SERVE_ARGUMENTS.map(str::to_owned));
    if !has(options, "--grace") {
        words.push("--grace=0s".to_owned());
    }
    words.extend(options.iter().cloned());
    words
}

fn has(options: &[String], name: &str) -> bool {
    options.iter().any(|option| option.starts_with(name))
}

/// The value of `--grace=TIME`.
fn grace(options: &[String]) -> Duration {
    let given = options.iter().find_map(|option| option.strip_prefix("--grace="));
    given.and_then(|time| values::duration(time).ok()).unwrap_or_default()
}

/// Says on stderr, quiet or not, why a start takes longer, and what nobody asked for who left by another error.
fn say(remark: Remark) {
    let text = match remark {
        Remark::Notice(why) => format!("notice: {why}"),
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
            assert_eq!((wish.options(), wish.has_network()), (None, false));
        }
        assert_eq!(host_and_port("wss://[::1]/x"), Some(("::1".to_owned(), 443)));
    }

    #[test]
    fn a_wish_with_mistakes_is_none() {
        let mistakes = Wish::of(&json!({ "command": 7 }), None, Path::new("a/b.yml")).unwrap_err();
        assert!(told(&mistakes).starts_with("launch: "), "{mistakes:?}");
    }

    #[test]
    fn the_reference_service_is_this_binary_on_a_port_that_it_tells() {
        let of = |arguments: &[&str], launch: Value| {
            let arguments = arguments.iter().map(|text| (*text).to_owned()).collect();
            Wish::served(&Serve { arguments, launch }, Path::new("a/b.yml"))
        };
        let said = json!({ "limits": { "cpu": 0.5, "network": { "latency": "20ms" } }, "before": "./a.sh" });
        let wish = of(&["--workers=1", "--grace=500ms"], said).unwrap();
        let words = wish.launch.command.words[1..].join(" ");
        assert_eq!(words, "serve --listen 127.0.0.1:0 --stop-on-eof --workers=1 --grace=500ms");
        assert_eq!(wish.launch.stop, Stop { by: StopBy::Eof, grace: Duration::from_millis(30_500) });
        assert_eq!((wish.command(), wish.cores(), wish.has_network()), ("sonagi serve", Some(0.5), true));
        assert_eq!((wish.launch.before.as_ref().unwrap().shown.as_str(), wish.target()), ("./a.sh", None));
        assert_eq!(wish.at("127.0.0.1:4000".parse().unwrap()).target(), Some("http://127.0.0.1:4000"));
        let plain = of(&[], Value::Null).unwrap();
        assert_eq!(plain.launch.command.words.last().map(String::as_str), Some("--grace=0s"));
        let limited = of(&[], json!({ "limits": { "cpu": 0.5 } })).unwrap();
        assert_eq!(limited.launch.command.words.last().map(String::as_str), Some("--workers=1"));
        let mistakes = of(&[], json!({ "limits": { "cpu": "much" } })).unwrap_err();
        assert_eq!((mistakes.len(), mistakes[0].pointer.as_str()), (1, "/limits/cpu"));
    }
}
