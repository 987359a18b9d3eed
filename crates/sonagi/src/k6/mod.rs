//! `sonagi run script.js`: k6's command line, exit codes and wording; and `sonagi check script.js`.
//!
//! The script's name decides whose flags are meant: `-e`, `-o` or `-i` mean one thing to Artillery's users and another
//! to k6's.

mod asked_runs;
mod check;
mod dialect;
mod flags;
mod folder;
mod log;
mod service;
mod several;
mod trials;
mod unattended;

pub(crate) use dialect::is_meant;
#[cfg(test)]
pub(crate) use flags::run as command;
pub(crate) use flags::tip;
pub(crate) use trials::{K6Asked, K6Trials};

use crate::environment::NO_COLOR;
use crate::page::Dashboard;
use crate::signals::{self, StopRequests};
use crate::target_watch::{self, NetworkLateness, TargetWatch, Whereabouts};
use crate::terminal::Terminal;
use asked_runs::Runs;
use clap::error::ErrorKind;
use flags::GivenFlags;
use folder::TestFolder;
use log::TestLog;
use service::TestService;
use sonagi_engine::{Level, LogLine, RunEvent};
use sonagi_k6::Secrets;
use sonagi_k6::executor::{Abort, Reason};
use sonagi_k6::options::{Tiers, environment};
use sonagi_k6::output::Wanted;
use sonagi_k6::run::{AS_JSON, Asked, End, Ended, Exit, Watching, load};
use sonagi_watch::probes::Target;
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether the file is a k6 script.
pub(crate) fn is_script(path: &Path) -> bool {
    dialect::is_k6(&path.to_string_lossy())
}

/// Flags that have effect for these values only.
const CHOICES: [(&str, &[&str]); 2] = [
    ("summary-mode", &["compact", "full", "disabled"]),
    ("compatibility-mode", &["base", "extended", "experimental_enhanced"]),
];

/// Flags of k6's API server.
const OF_THE_SERVER: [&str; 3] = ["address", "linger", "profiling-enabled"];

/// Runs or checks the scripts; returns the process's exit code.
pub(crate) fn main(arguments: &[OsString], terminal: &Terminal) -> u8 {
    if arguments.get(1).is_some_and(|command| command == "check") {
        return check::main(arguments, terminal);
    }
    let matches = match flags::run().try_get_matches_from(arguments.iter().skip(1)) {
        Ok(matches) => matches,
        Err(answer) if answer.use_stderr() => {
            terminal.say(answer.render().to_string().trim_end());
            if answer.kind() == ErrorKind::UnknownArgument {
                terminal.say(&format!(
                    "\nhint: these are k6's flags, because the script's name has the ending of a k6 script; {AS_JSON}"
                ));
            }
            return Exit::Other.code();
        }
        Err(help) => {
            let _ = terminal.print(&help.render().to_string());
            return Exit::Passed.code();
        }
    };
    let given = GivenFlags::of(&matches);
    let mut log = match TestLog::open(&given, terminal) {
        Ok(log) => log,
        Err(why) => {
            terminal.say(&format!("error: {why}"));
            return Exit::Other.code();
        }
    };
    let code = runs(&given, &mut log, terminal).unwrap_or_else(|(exit, why)| {
        log.error(&why);
        exit.code()
    });
    log.finish();
    code
}

/// Runs what the flags and the script ask for; the process's exit code.
fn runs(given: &GivenFlags, log: &mut TestLog, terminal: &Terminal) -> Result<u8, Refused> {
    let console = given.one("console-output").or_else(|| std::env::var("K6_CONSOLE_OUTPUT").ok());
    console.map_or(Ok(()), |path| log.write_console(&path)).map_err(other)?;
    let network = NetworkLateness::default();
    let text = script(given).map_err(other)?;
    let asked = asked(given, &text, &network, &[])?;
    let is_given = |flag: &&str| given.one(flag).is_some_and(|value| !value.is_empty());
    for flag in OF_THE_SERVER.into_iter().filter(is_given) {
        let text = format!("--{flag} is ignored: Sonagi has no API server");
        log.line(&LogLine::new(Level::Warn, text));
    }
    match asked_runs::planned(given, &text)? {
        Runs::One { is_decided } => {
            run((asked, is_decided), TestService::of_test(network), given, log, terminal)
        }
        Runs::Several(planned) => several::run(planned, given, &text, log, terminal),
    }
}

/// What went wrong around the tests.
fn other(why: String) -> Refused {
    (Exit::Other, why)
}

fn run(
    (asked, is_decided): (Asked, bool),
    mut service: TestService<'_>,
    given: &GivenFlags,
    log: &mut TestLog,
    terminal: &Terminal,
) -> Result<u8, Refused> {
    let abort = Arc::new(Abort::default());
    let asks = Arc::clone(&abort);
    let says = *terminal;
    let first = move || asks.ask(Reason::Signal);
    let second = move || {
        says.say("stopping at once");
        std::process::exit(i32::from(Exit::Interrupted.code()));
    };
    let stop_requests = signals::listen(*terminal, first, second);
    let stop_requests = stop_requests.map_err(|error| other(error.to_string()))?;
    let is_quiet = given.has("quiet");
    let asks = Arc::clone(&abort);
    let stop = move || asks.ask(Reason::Request);
    let mut folder = TestFolder::wanted(given, &asked.source, terminal, stop).map_err(other)?;
    let followers = (&mut *log, &mut folder, &mut service);
    let mut ended = carried_out((asked, is_decided), given, &abort, followers, &stop_requests, terminal);
    for trouble in service.end(&mut ended, &stop_requests) {
        log.error(&trouble);
    }
    let is_recorded = folder.finish(is_quiet);
    if let Some(Err(error)) = service.summary().map(|summary| folder.amend(summary)) {
        log.error(&format!(
            "the run folder: {error}; the CPU and memory of the test's service are missing in it"
        ));
    }
    let bars = ended.bars.clone();
    if let Some(why) = &ended.why {
        log.error(why);
    }
    // The first failure decides the exit code.
    let mut exit = if is_recorded || ended.exit != Exit::Passed { ended.exit } else { Exit::Other };
    if let Err(why) = shown(ended, given, log, terminal) {
        log.error(&why);
        exit = Exit::Other;
    }
    log.finish();
    if !is_quiet && !bars.is_empty() {
        let _ = terminal.print(&format!("\n\n{}\n", bars.join("\n")));
    }
    if let Some(diagnosis) = folder.diagnosis() {
        // Not with k6's own summary, which programs may read.
        terminal.say(&format!("\n{}", diagnosis.trim_end()));
    }
    if let Some(plot) = folder.plot() {
        let _ = terminal.print(&format!("\n{plot}"));
    }
    folder.close(&stop_requests);
    Ok(exit.code())
}

/// Carries a test out, from its script to its end. Whether it is known that the script asks for one run is decided
/// beforehand where its text says anything of Sonagi.
fn carried_out(
    (asked, is_decided): (Asked, bool),
    given: &GivenFlags,
    abort: &Arc<Abort>,
    (log, folder, service): (&mut TestLog, &mut TestFolder, &mut TestService<'_>),
    stop_requests: &StopRequests,
    terminal: &Terminal,
) -> Ended {
    let is_quiet = given.has("quiet");
    let (script, path) = (asked.script.clone(), folder.path().map(Path::to_owned));
    let mut follow = |event: RunEvent<'_>, service: &mut TestService<'_>| match event {
        RunEvent::Line(line) => log.line(line),
        RunEvent::Progress(progress) if !is_quiet => log.progress(progress),
        RunEvent::Progress(_) => {}
        event => {
            service.note(&event);
            folder.note(&event);
        }
    };
    let test = match load(asked, abort, &mut |event| follow(event, service)) {
        Ok(test) => test,
        Err(ended) => return ended,
    };
    let several = &test.options().sonagi.several;
    if !is_decided && (!several.matrix.is_empty() || several.repeat.is_some_and(|times| times > 1)) {
        return asked_runs::of_another_file();
    }
    if !is_quiet {
        let _ = terminal.print(&introduced(&test.plan(), given));
    }
    match service.start(test, &script, path.as_deref(), stop_requests) {
        Ok(test) => test.run(abort, &mut |event| follow(event, service)),
        Err(ended) => ended,
    }
}

/// The lines before a run.
fn introduced(plan: &[String], given: &GivenFlags) -> String {
    let outs = given.many("out");
    let output = if outs.is_empty() { "-".to_owned() } else { outs.join(", ") };
    format!(
        "\n     execution: local\n        script: {}\n        output: {output}\n\n     {}\n\n",
        given.script.display(),
        plan.join("\n              ")
    )
}

/// The summary, or the text the script made of it.
fn shown(ended: Ended, given: &GivenFlags, log: &mut TestLog, terminal: &Terminal) -> Result<(), String> {
    let print = |text: &str| terminal.print(text).map_err(|error| error.to_string());
    let is_left_out = given.has("no-summary") || given.one("summary-mode").as_deref() == Some("disabled");
    let (files, summary) = match ended.end {
        End::Nothing => return Ok(()),
        End::Summary(summary) => (None, summary),
        End::Handled(files, summary) => (Some(files), summary),
    };
    let mut missed = Vec::new();
    let mut write = |name: &str, written: std::io::Result<()>| {
        missed.extend(written.err().map(|error| format!("could not open '{name}': {error}")));
    };
    if let Some(path) = given.one("summary-export") {
        let text = serde_json::to_string_pretty(&summary.export()).unwrap_or_default();
        write(&path, std::fs::write(&path, text));
    }
    match files {
        None if is_left_out => {}
        None => print(&format!("\n{}\n", summary.text(terminal.colour && !given.has("no-color"))))?,
        Some(files) => {
            for (name, text) in files {
                match name.as_str() {
                    "stdout" => print(&String::from_utf8_lossy(&text))?,
                    "stderr" => write("stderr", std::io::stderr().write_all(&text)),
                    path => write(path, std::fs::write(path, text)),
                }
            }
        }
    }
    if !missed.is_empty() {
        // The test itself is not to blame, so its exit code stays.
        let told = format!("Could not save some summary information:\n\t- {}", missed.join("\n\t- "));
        let fields = vec![("error", told)];
        log.line(&LogLine {
            fields,
            ..LogLine::new(Level::Error, "failed to handle the end-of-test summary")
        });
    }
    Ok(())
}

/// The library's inputs, from flags, environment and files, with these variables laid over `__ENV`.
fn asked(
    given: &GivenFlags,
    text: &ScriptText,
    network: &NetworkLateness,
    over: &[(String, String)],
) -> Result<Asked, Refused> {
    let variables = variables_of_process();
    let config_file = match given.one("config") {
        None => serde_json::Map::new(),
        Some(path) => config(&path).map_err(|why| (Exit::Problems, why))?,
    };
    for (flag, values) in CHOICES {
        let wrong = given.one(flag).filter(|given| !values.contains(&given.as_str()));
        if let Some(wrong) = wrong {
            return Err((Exit::Other, format!("--{flag} takes {}; got `{wrong}`", values.join(", "))));
        }
    }
    let secrets = Secrets::of(&given.many("secret-source")).map_err(other)?;
    let flags = given.tier().map_err(|problems| (Exit::of(&problems), problems.to_string()))?;
    let tiers =
        Tiers { config_file, script: serde_json::Map::new(), environment: environment(&variables), flags };
    let lookup =
        |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let outputs = given.outs().into_iter().filter(|out| !Dashboard::is_one(out));
    let outputs = outputs.map(|out| Wanted::parse(&out, lookup)).collect::<Result<Vec<_>, _>>();
    let outputs = outputs.map_err(|why| other(why.to_string()))?;
    let watched = given.many("watch");
    target_watch::judge(&watched).map_err(|why| other(format!("--watch: {why}")))?;
    Ok(Asked {
        script: text.path.clone(),
        source: text.source.clone(),
        environment: laid_over(given.environment(variables.clone()), over),
        tiers,
        shards: std::thread::available_parallelism().map_or(1, usize::from),
        no_thresholds: given.has("no-thresholds"),
        full_summary: given.one("summary-mode").as_deref() == Some("full"),
        no_summary: given.one("summary-mode").as_deref() == Some("disabled") || given.has("no-summary"),
        terminal: [
            given.has("no-color") || NO_COLOR.get().is_some(),
            std::io::stdout().is_terminal(),
            std::io::stderr().is_terminal(),
        ],
        without_global: given.one("compatibility-mode").as_deref() == Some("base"),
        secrets: Arc::new(secrets),
        outputs,
        standard_output: || Box::new(std::io::stdout()),
        watch: watching(watched, !given.has("no-watch"), Some(network.clone())),
        launch: service::mistakes,
    })
}

/// The environment of the process, as far as it is text.
fn variables_of_process() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn laid_over(mut environment: Vec<(String, String)>, over: &[(String, String)]) -> Vec<(String, String)> {
    environment.retain(|(name, _)| over.iter().all(|(laid, _)| laid != name));
    environment.extend(over.iter().cloned());
    environment
}

/// Whoever looks at the target, and at what the texts and the script name: a script does not say where the target is,
/// but its connections do.
fn watching(texts: Vec<String>, is_automatic: bool, network: Option<NetworkLateness>) -> Watching {
    Watching::by(move |of_script| {
        let own = is_automatic.then_some(Whereabouts::Here(Target::Peer));
        let texts: Vec<String> = texts.iter().chain(of_script).cloned().collect();
        Ok(TargetWatch::of(&texts, own, network.clone())?.map(|watch| watch as _))
    })
}

/// Why nothing is run: the process's exit, and what to say.
type Refused = (Exit, String);

/// A script as it was read, once: what is run is what was judged.
struct ScriptText {
    path: PathBuf,
    source: Vec<u8>,
}

/// The script by its absolute path; `-` is the standard input, in the current folder.
fn script(given: &GivenFlags) -> Result<ScriptText, String> {
    let here = std::env::current_dir().map_err(|error| format!("there is no current folder: {error}"))?;
    if given.script == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin()
            .read_to_end(&mut text)
            .map_err(|error| format!("cannot read the script: {error}"))?;
        if dialect::is_artillery(&String::from_utf8_lossy(&text)) {
            let rule = "`-` takes a k6 script from standard input; this one is YAML or JSON";
            return Err(format!("{rule}\nhint: write it to a file, and pass the file's name"));
        }
        return Ok(ScriptText { path: here.join("-.js"), source: text });
    }
    let path = here.join(&given.script);
    let path = path.canonicalize().unwrap_or(path);
    if path.is_dir() {
        return Err(format!("a script is a file; {} is a folder", path.display()));
    }
    let source = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(ScriptText { path, source })
}

fn config(path: &str) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path} must be a JSON object of options: {error}"))
}
