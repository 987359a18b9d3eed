//! The flags of a k6 script, from the table that also names the option each of them sets.

use crate::page::{self, Dashboard, PageWish};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value};
use sonagi_k6::options::{FLAGS, Flag, Problems, Takes, flags_to_tier};
use sonagi_k6::run::Exit;
use std::path::{Path, PathBuf};

/// `sonagi run` for a k6 script.
pub(crate) fn run() -> Command {
    let codes: String =
        Exit::CODES.iter().map(|(_, code, meaning)| format!("  {code:>3}  {meaning}\n")).collect();
    with_flags(Command::new("run").about("Run a k6 script"))
        .bin_name("sonagi run")
        .after_help(format!("Exit codes:\n{codes}"))
        .arg(script("A k6 script: JavaScript or TypeScript; `-` is standard input"))
}

/// `sonagi check` for k6 scripts.
pub(super) fn check() -> Command {
    with_flags(Command::new("check").about("Validate scripts without running them"))
        .bin_name("sonagi check")
        .arg(script("Scripts").num_args(1..))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document"))
}

fn script(help: &'static str) -> Arg {
    Arg::new("script").value_name("SCRIPT").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

fn with_flags(command: Command) -> Command {
    command.allow_negative_numbers(true).args(FLAGS.iter().map(|flag| {
        let arg = Arg::new(flag.name).long(flag.name).help(flag.help);
        let arg = flag.short.map_or_else(|| arg.clone(), |letter| arg.clone().short(letter));
        match flag.takes {
            Takes::Switch => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
                .hide_possible_values(true),
            Takes::One(name) => arg.value_name(name).overrides_with(flag.name),
            Takes::Many(name) => arg.value_name(name).action(ArgAction::Append),
            Takes::Perhaps(name, value) => {
                arg.value_name(name).num_args(0..=1).require_equals(true).default_missing_value(value)
            }
        }
    }))
}

/// A tip on this flag for the command line of a YAML script; None when k6 has no such flag, either.
pub(crate) fn tip(given: &str) -> Option<String> {
    let given = given.split('=').next().unwrap_or_default();
    let is_given = |flag: &&Flag| {
        given.strip_prefix("--") == Some(flag.name)
            || flag.short.is_some_and(|letter| given.strip_prefix('-') == Some(letter.to_string().as_str()))
    };
    let flag = FLAGS.iter().find(is_given)?;
    let instead = match flag.name {
        "vus" | "duration" | "iterations" | "stage" | "rps" => {
            "; a YAML script says in `config.phases` how many users come, and when"
        }
        _ => "",
    };
    Some(format!("'{given}' is a flag of k6 scripts (.js, .ts){instead}"))
}

/// The given flags and arguments.
pub(super) struct GivenFlags {
    pub(super) script: PathBuf,
    flags: Vec<(&'static str, Vec<String>)>,
}

impl GivenFlags {
    /// Outputs, of the command line or else the environment.
    pub(super) fn outs(&self) -> Vec<String> {
        let given = self.many("out");
        if given.is_empty() { std::env::var("K6_OUT").into_iter().collect() } else { given }
    }

    /// The pages that are wanted: by our own flags, or as k6's web dashboard.
    pub(super) fn pages(&self) -> Result<PageWish, String> {
        let environment = |name: &str| std::env::var(name).ok();
        let dashboard = Dashboard::asked(&self.outs(), environment)?.map(|it| it.wish()).transpose()?;
        let mut wish = dashboard.unwrap_or_default();
        let (page, listen) = (self.one("page"), self.one("page-listen"));
        if let Some(when) = page.as_ref().filter(|when| !["run", "keep"].contains(&when.as_str())) {
            return Err(format!("--page takes run or keep; got `{when}`"));
        }
        if page.is_some() || listen.is_some() {
            wish.served = Some(page::address(listen.as_deref().unwrap_or(page::USUAL))?);
            wish.keep = page.is_some_and(|when| when == "keep");
        }
        wish.file = self.one("report").map(PathBuf::from).or(wish.file);
        wish.plot = self.has("plot");
        Ok(wish)
    }

    pub(super) fn of(matches: &ArgMatches) -> GivenFlags {
        let values =
            |name: &str| -> Vec<String> { matches.get_many(name).into_iter().flatten().cloned().collect() };
        let flags =
            FLAGS.iter().map(|flag| (flag.name, values(flag.name))).filter(|(_, values)| !values.is_empty());
        let script = matches.get_one::<PathBuf>("script").cloned().unwrap_or_default();
        GivenFlags { script, flags: flags.collect() }
    }

    /// The same flags for another script.
    pub(super) fn with(&self, script: &Path) -> GivenFlags {
        GivenFlags { script: script.to_owned(), flags: self.flags.clone() }
    }

    /// The values of a flag, or of its environment variable.
    pub(super) fn many(&self, name: &str) -> Vec<String> {
        if let Some((_, values)) = self.flags.iter().find(|(given, _)| *given == name) {
            return values.clone();
        }
        let variable = FLAGS.iter().find(|flag| flag.name == name).map_or("", |flag| flag.variable);
        let set = (!variable.is_empty()).then(|| std::env::var(variable).ok()).flatten();
        set.filter(|value| !value.is_empty()).into_iter().collect()
    }

    pub(super) fn one(&self, name: &str) -> Option<String> {
        self.many(name).pop()
    }

    /// Whether a switch is on.
    pub(super) fn has(&self, name: &str) -> bool {
        self.one(name).is_some_and(|value| value != "false" && value != "0")
    }

    pub(super) fn tier(&self) -> Result<Map<String, Value>, Problems> {
        flags_to_tier(&self.flags)
    }

    /// `__ENV`: the environment, unless excluded, with `-e` over it.
    pub(super) fn environment(&self, system: Vec<(String, String)>) -> Vec<(String, String)> {
        let is_wanted = self.one("include-system-env-vars").is_none_or(|value| value != "false");
        let looked_up =
            |name: &str| system.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let given: Vec<(String, String)> = self
            .many("env")
            .iter()
            .filter_map(|pair| match pair.split_once('=') {
                Some((name, value)) => Some((name.to_owned(), value.to_owned())),
                None => looked_up(pair).map(|value| (pair.clone(), value)),
            })
            .collect();
        let kept = system.iter().filter(|(name, _)| is_wanted && !given.iter().any(|(own, _)| own == name));
        let mut environment: Vec<(String, String)> = kept.cloned().collect();
        environment.extend(given);
        environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> GivenFlags {
        GivenFlags::of(&run().try_get_matches_from([&["run"], arguments].concat()).unwrap())
    }

    #[test]
    fn the_definition_is_sound() {
        run().debug_assert();
        check().debug_assert();
    }

    #[test]
    fn a_flag_of_k6_s_beside_a_yaml_script_is_told_as_that() {
        let phases = "; a YAML script says in `config.phases` how many users come, and when";
        assert_eq!(tip("--vus=3"), Some(format!("'--vus' is a flag of k6 scripts (.js, .ts){phases}")));
        assert_eq!(tip("-w").as_deref(), Some("'-w' is a flag of k6 scripts (.js, .ts)"));
        assert_eq!(tip("--vu"), None);
    }

    #[test]
    fn flags_are_read_as_k6_reads_them() {
        let given = given(&["-u", "2", "--throw", "--no-setup=false", "-e", "A=1", "-e", "B=2=3", "a.js"]);
        let tier = Value::Object(given.tier().unwrap());
        assert_eq!(tier, serde_json::json!({ "vus": "2", "throw": true, "noSetup": false }));
        let environment = given.environment(vec![("A".into(), "0".into()), ("C".into(), "4".into())]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(environment, [pair("C", "4"), pair("A", "1"), pair("B", "2=3")]);
    }
}
