//! Scripts into plans: the flags that change a script, and all problems of all scripts at once.

use crate::error::Error;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::{Map, Value};
use sonagi_report::figures::counted;
use sonagi_script::{Loaded, Overrides, Problems};
use std::path::{Path, PathBuf};

/// `SCRIPT…` and the flags that are merged over a script before it is read.
pub(crate) fn arguments() -> [Arg; 6] {
    [
        Arg::new("scripts")
            .value_name("SCRIPT")
            .required(true)
            .num_args(1..)
            .value_parser(value_parser!(PathBuf))
            .help("Artillery scripts (YAML or JSON); several are several runs, in order"),
        Arg::new("environment")
            .short('e')
            .long("environment")
            .value_name("NAME")
            .help("Merge this entry of config.environments over config"),
        Arg::new("target").short('t').long("target").value_name("URL").help("Replace config.target"),
        Arg::new("variables")
            .short('v')
            .long("variables")
            .value_name("JSON")
            .help("Set variables, as a JSON object; they win over config.variables"),
        Arg::new("overrides")
            .long("overrides")
            .value_name("JSON")
            .help("Merge this JSON object over the whole script; arrays are replaced"),
        Arg::new("insecure")
            .short('k')
            .long("insecure")
            .action(ArgAction::SetTrue)
            .help("Accept any TLS certificate"),
    ]
}

/// The scripts the command line names.
pub(crate) fn scripts(matches: &ArgMatches) -> Vec<PathBuf> {
    matches.get_many::<PathBuf>("scripts").into_iter().flatten().cloned().collect()
}

/// The flags that change a script.
pub(crate) fn overrides(matches: &ArgMatches) -> Result<Overrides, Error> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Ok(Overrides {
        environment: text("environment"),
        target: text("target"),
        variables: object("--variables", text("variables"))?.into_iter().flatten().collect(),
        overrides: object("--overrides", text("overrides"))?.map(Value::Object),
        insecure: matches.get_flag("insecure"),
        name: None,
    })
}

fn object(flag: &str, text: Option<String>) -> Result<Option<Map<String, Value>>, Error> {
    let Some(text) = text else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(_) => Err(Error::flag(flag, format_args!("it takes a JSON object; got `{text}`"))),
        Err(error) => Err(Error::flag(
            flag,
            format_args!(
                "it takes a JSON object; {error}\nhint: quote it for the shell: {flag} '{{\"key\": 1}}'"
            ),
        )),
    }
}

/// Every script with what came of it, in order.
pub(crate) fn each(paths: &[PathBuf], overrides: &Overrides) -> Vec<(PathBuf, Result<Loaded, Problems>)> {
    paths.iter().map(|path| (path.clone(), one(path, overrides))).collect()
}

fn one(path: &Path, overrides: &Overrides) -> Result<Loaded, Problems> {
    sonagi_script::load(path, overrides)
}

/// All plans, or all problems of all scripts.
pub(crate) fn all(paths: &[PathBuf], overrides: &Overrides) -> Result<Vec<Loaded>, Error> {
    let mut plans = Vec::with_capacity(paths.len());
    let mut problems = Vec::new();
    for (_, loaded) in each(paths, overrides) {
        match loaded {
            Ok(loaded) => plans.push(loaded),
            Err(found) => problems.push(found),
        }
    }
    if problems.is_empty() {
        return Ok(plans);
    }
    let count: usize = problems.iter().map(|found| found.0.len()).sum();
    let mut text: String = problems.iter().map(|found| format!("{found}\n")).collect();
    text.push_str(&format!("error: {}; nothing was run", counted(count as u64, "problem")));
    Err(Error::Problems(text))
}
