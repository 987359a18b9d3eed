//! `sonagi quick`: some users, some requests or messages each, without a script.

use crate::error::Error;
use crate::exit::Exit;
use crate::load;
use crate::run_options::{self, RunOptions};
use crate::runs;
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use sonagi_artillery::Overrides;

pub(super) const NAME: &str = "quick";

/// The text that users send over a WebSocket.
const GREETING: &str = "hello from Sonagi";

pub(super) fn define() -> Command {
    let number = |name: &'static str, short, help: &'static str| {
        Arg::new(name)
            .short(short)
            .long(name)
            .value_name("N")
            .default_value("10")
            .value_parser(value_parser!(u64).range(1..=10_000_000))
            .help(help)
    };
    Command::new(NAME)
        .about("Load-test a URL without a script")
        .long_about(
            "Load-test a URL without a script: --count users arrive within a second, and each sends --num GET requests \
             to an \
             http:// or https:// address, or --num messages over one connection to a ws:// or wss:// address, each as \
             soon as the previous one is answered or sent.",
        )
        .arg(Arg::new("url").value_name("URL").required(true).help("Target URL"))
        .arg(number("count", 'c', "Users"))
        .arg(number("num", 'n', "Requests or messages per user"))
        .arg(
            Arg::new("insecure")
                .short('k')
                .long("insecure")
                .action(ArgAction::SetTrue)
                .help("Accept any TLS certificate"),
        )
        .args(run_options::arguments())
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let url = matches.get_one::<String>("url").expect("clap requires it");
    let number = |name: &str| *matches.get_one::<u64>(name).expect("it has a default");
    let script = script(url, number("count"), number("num"))?;
    let overrides = Overrides {
        name: Some(NAME.to_owned()),
        insecure: matches.get_flag("insecure"),
        ..Overrides::default()
    };
    runs::all(vec![load::unwritten(&script, &overrides)?], &RunOptions::of(matches), terminal)
}

/// The script equivalent to the flags.
fn script(url: &str, users: u64, times: u64) -> Result<Value, Error> {
    let wrong = |what: String| Error::Problems(format!("error: {what}"));
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(wrong(format!(
            "an address begins with http://, https://, ws:// or wss://; got `{url}`\nhint: did you mean `http://{url}`?"
        )));
    };
    // Braces would be taken for template expressions.
    let url = url.replace('{', "%7B").replace('}', "%7D");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (engine, target, step) = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => ("http", format!("{scheme}://{authority}"), json!({ "get": { "url": url } })),
        // The whole address: a WebSocket is opened at the target itself.
        "ws" | "wss" => ("ws", url, json!({ "send": GREETING })),
        _ => {
            return Err(wrong(format!(
                "{scheme}:// is not loaded by this command; http://, https://, ws:// and wss:// are"
            )));
        }
    };
    let step = if times > 1 { json!({ "loop": [step], "count": times }) } else { step };
    Ok(json!({
        "config": { "target": target, "phases": [{ "duration": 1, "arrivalCount": users }] },
        "scenarios": [{ "engine": engine, "flow": [step] }],
    }))
}
