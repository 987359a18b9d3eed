//! Turns an Artillery script into a plan, or into all of its problems, each with line, column and what to do about it.
//!
//! Nothing here runs, connects or prints. Of a processor (JavaScript) only the file is looked for. Where Artillery
//! itself has a known defect, the plan does what the author meant and a [`Notice`] says so.

mod awaited;
mod blocks;
mod called;
mod combinations;
mod condition;
mod config;
mod context;
mod endpoints;
mod engine;
mod engine_steps;
mod ensure;
mod environments;
mod expect;
mod expectations;
mod experiment;
mod fake_options;
mod fakes;
mod filling;
mod flow;
mod forms;
mod formula;
mod functions;
mod http;
mod inputs;
mod launch;
mod loops;
mod merge;
mod names;
mod opening;
mod operations;
mod options;
mod payload;
mod phases;
mod plugins;
mod problem;
mod pull;
mod pull_settings;
mod reader;
mod reconnect;
mod room_block;
mod scenario;
mod schema;
mod sendable;
mod serve;
mod socketio;
mod sources;
mod stomp;
mod stomp_settings;
mod tags;
mod template;
mod websocket;
mod yaml;

pub use combinations::Combination;
pub use config::RefusesWatch;
pub use experiment::{Compare, Experiment, FIGURES_OF_COMPARISONS, margin};
pub use launch::{RefusedLaunch, RefusesLaunch};
pub use problem::{Notice, Problem, Problems, nearest};
pub use serve::{RefusedArgument, Refuses, Serve, serve_options};

use crate::plan::{Plan, Template};
use crate::schedule::{Load, Spacing};
use crate::tagged::submetrics as told_apart;
use serde_json::Value;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use reader::Reader;
use template::Constants;

/// The command line's changes to the script.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `-e`: the environment laid over `config`.
    pub environment: Option<String>,
    /// `-t`: instead of `config.target`.
    pub target: Option<String>,
    /// `-v`: laid over `config.variables`; a list is picked from.
    pub variables: Vec<(String, Value)>,
    /// `--overrides`: laid over the whole script; lists are replaced.
    pub overrides: Option<Value>,
    /// `--strict`: nothing is tolerated that Artillery would go on in spite of ([`Problem::tolerated`]).
    pub strict: bool,
    /// `-k`: accept any certificate.
    pub insecure: bool,
    /// Name of the run; the script's file stem by default.
    pub name: Option<String>,
    /// Files merged over the script, in this order: `-i`, then `-c`.
    pub inputs: Vec<PathBuf>,
    /// `-c`: the last of `inputs`, beside which a processor is looked for first.
    pub config: Option<PathBuf>,
    /// `-p`: the file of the script's payload.
    pub payload: Option<PathBuf>,
    /// `--solo`: one user, once.
    pub solo: bool,
    /// `--scenario-name`: only this scenario.
    pub scenario: Option<String>,
    /// `--dotenv`: environment variables for those that are not set.
    pub dotenv: Vec<(String, String)>,
    /// `--matrix`: axes of the script's matrix and the values that are left of each; none: all.
    pub matrix: Vec<(String, Vec<String>)>,
    /// The run of a matrix; the first by default.
    pub combination: Option<Combination>,
    /// `--until`: the one threshold, in place of all the script's own.
    pub until: Option<String>,
    /// Finds the options under `serve` that `sonagi serve` does not accept; without it, they are reported when the
    /// service starts.
    pub serve: Option<Refuses>,
    /// Finds what is wrong under `config.launch`, and with the same keys under `serve`; without it, that is reported
    /// when the service starts.
    pub launch: Option<RefusesLaunch>,
    /// Finds what is wrong with a text under `config.watch`; without it, that is reported when the run starts.
    pub watch: Option<RefusesWatch>,
}

/// A script that can run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The plan. With `serve` its target is a stand-in: the service has no address before it runs.
    pub plan: Plan,
    /// Notices for its author.
    pub notices: Vec<Notice>,
    /// The run of the script's matrix.
    pub combination: Combination,
    /// The service to start first; load again with its address as [`Overrides::target`]. None when there is none to
    /// start, or a target was given in its place.
    pub serve: Option<Serve>,
    /// How often its script's runs are repeated, and what is asked of them.
    pub experiment: Experiment,
    /// What `config.launch` says of the service to start for the run, templates filled in. None when there is none, or
    /// a target was given in its place.
    pub launch: Option<Value>,
    /// The functions it calls.
    called: Vec<called::Called>,
}

impl Loaded {
    /// Whether it calls any function by a name that is known before the run.
    pub fn calls_functions(&self) -> bool {
        !self.called.is_empty()
    }

    /// The problems of the functions it calls, given the names that its processor exports.
    ///
    /// # Errors
    /// Names those that it does not export, each where it is called first.
    pub fn not_exported(&self, exported: &[String]) -> Result<(), Problems> {
        let problems = called::not_exported(&self.called, exported);
        if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
    }
}

/// Reads a script and everything it names (payload files, environment variables). Of a matrix that is one run:
/// [`Overrides::combination`].
///
/// # Errors
/// All problems of the script at once, in the order of its lines.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Loaded, Problems> {
    let text = text(path)?;
    if overrides.combination.is_some() {
        return read(path, &text, overrides);
    }
    let runs = combinations::runs(path, &text, overrides);
    let first = runs.combinations.first().cloned().unwrap_or_default();
    let read = read(path, &text, &Overrides { combination: Some(first), ..overrides.clone() });
    runs.judge(vec![read]).map(|mut all| all.remove(0))
}

/// Reads every run of a script: one per combination of its matrix, in the matrix's order; one without a matrix.
///
/// # Errors
/// All problems of all runs at once. What is wrong in some of them only names those.
pub fn load_each(path: &Path, overrides: &Overrides) -> Result<Vec<Loaded>, Problems> {
    let text = text(path)?;
    let runs = combinations::runs(path, &text, overrides);
    let of =
        |combination: &Combination| Overrides { combination: Some(combination.clone()), ..overrides.clone() };
    let all = runs.combinations.iter().map(|combination| read(path, &text, &of(combination))).collect();
    runs.judge(all)
}

/// Reads a script that is in no file, whose name is [`Overrides::name`]; it has no matrix.
///
/// # Errors
/// All problems of the script at once.
pub fn load_value(script: &Value, overrides: &Overrides) -> Result<Loaded, Problems> {
    let path = Path::new(overrides.name.as_deref().unwrap_or("script"));
    let nowhere = yaml::Place { line: 0, column: 0, ..yaml::START };
    let reader = Reader::new(path, constants(path, overrides));
    compiled(reader, path, Some(yaml::Node::from_value(script, nowhere)), overrides)
}

/// The script's text.
fn text(path: &Path) -> Result<String, Problems> {
    let unread = |what: String, hint: Option<String>| Problems(vec![Problem::of_file(path, what, hint)]);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| ["js", "cjs", "mjs", "ts", "cts", "mts"].contains(&extension)) {
        let what =
            "an Artillery script is YAML or JSON; this is a module of JavaScript or TypeScript".to_owned();
        let hint =
            "a k6 script is run by `sonagi run`; of an Artillery script write what it exports as JSON, e.g. \
                    `node -p 'JSON.stringify(require(\"./script.js\"))'`; functions belong in \
                    `config.processor`"
                .to_owned();
        return Err(unread(what, Some(hint)));
    }
    if path.is_dir() {
        let hint = Some("name the files in it that are to be run".to_owned());
        return Err(unread("a script is a file; this is a folder".to_owned(), hint));
    }
    let bytes =
        std::fs::read(path).map_err(|error| unread(format!("cannot read the script: {error}"), None))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let what = "a script is UTF-8 text; this line holds other bytes".to_owned();
        Problems(vec![Problem { file: path.to_owned(), line, column: 1, what, hint: None, tolerated: None }])
    })
}

/// The keys of `config.launch`, by the name of the place they stand in.
pub fn launch_keys() -> Vec<(&'static str, Vec<&'static str>)> {
    schema::launch_keys()
}

/// The table of every key, as Markdown: the reference part of `docs/scripts.md`.
pub fn reference() -> String {
    schema::reference()
}

/// A JSON Schema (draft 2020-12) of scripts, for editors.
pub fn json_schema() -> Value {
    schema::editor()
}

fn read(path: &Path, text: &str, overrides: &Overrides) -> Result<Loaded, Problems> {
    let mut reader = Reader::new(path, constants(path, overrides));
    let root = inputs::tree(&mut reader, text, overrides);
    compiled(reader, path, root, overrides)
}

/// What a script's tree says; without one, why there is none.
fn compiled(
    mut reader: Reader,
    path: &Path,
    root: Option<yaml::Node>,
    overrides: &Overrides,
) -> Result<Loaded, Problems> {
    let plan = root.and_then(|mut root| {
        environments::try_others(&mut reader, path, &root, overrides);
        environments::overlay(&mut reader, &mut root, overrides);
        plan(&mut reader, path, &root, overrides)
    });
    let called = functions::take_called(&mut reader);
    let Reader { mut problems, mut notices, .. } = reader;
    if !overrides.strict {
        let tolerated = problems.extract_if(.., |problem| problem.tolerated.is_some());
        notices.extend(tolerated.map(Notice::from));
    }
    match plan {
        Some((plan, Services { serve, launch }, experiment)) if problems.is_empty() => {
            notices.sort_by_key(|notice| (notice.line, notice.column));
            let combination = overrides.combination.clone().unwrap_or_default();
            Ok(Loaded { plan, notices, combination, serve, launch, experiment, called })
        }
        _ => {
            problems.sort_by(|a, b| (a.line, a.column, &a.what).cmp(&(b.line, b.column, &b.what)));
            Err(Problems(problems))
        }
    }
}

fn constants(path: &Path, overrides: &Overrides) -> Constants {
    // A bare file name has an empty folder, of which no absolute path is made.
    let folder = Some(folder(path)).filter(|folder| folder.components().next().is_some());
    let folder = folder.unwrap_or_else(|| ".".into());
    let absolute = std::path::absolute(&folder).unwrap_or(folder);
    Constants {
        environment: overrides.environment.clone(),
        target: None,
        test_id: test_id(),
        dirname: absolute.display().to_string(),
        script: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string(),
        odd_names: Default::default(),
        fakes: None,
        env: |name| std::env::var(name).ok(),
        dotenv: overrides.dotenv.clone(),
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// Where a processor is looked for: beside the file of `--config`, then beside the script.
fn folders(path: &Path, overrides: &Overrides) -> Vec<PathBuf> {
    overrides.config.as_deref().into_iter().chain([path]).map(folder).collect()
}

/// A name for this run, different each time: the hasher's keys are random.
fn test_id() -> String {
    format!("t{:016x}", std::hash::RandomState::new().build_hasher().finish())
}

/// Reads the parts in the order in which they need each other: variables, then what may use them.
fn plan(
    reader: &mut Reader,
    path: &Path,
    root: &yaml::Node,
    overrides: &Overrides,
) -> Option<(Plan, Services, Experiment)> {
    if root.is_null() {
        let hint = "a script has `config:` and `scenarios:`".to_owned();
        reader.problem(root.place, "the script is empty", Some(hint));
        return None;
    }
    let script = reader.fields(root, &schema::SCRIPT)?;
    let config = config(reader, root, &script)?;
    functions::module(reader, &config, &folders(path, overrides));
    let combination = overrides.combination.clone().unwrap_or_default();
    combination.declare(reader);
    let mut variables = config::variables(reader, &config, overrides);
    let serve = serve::serve(reader, &script, overrides).filter(|_| overrides.target.is_none());
    let launch = launched(reader, &config, overrides, serve.as_ref());
    let target = config::target(reader, &config, overrides, serve.is_some());
    let payloads = payload::payloads(reader, &config, &folder(path));
    combination.join(reader, &script, &mut variables, &payloads);
    let load = phases::load(reader, &config);
    let (plugins, mut asked) = plugins::plugins(reader, &config);
    let mut settings = options::settings(reader, &config);
    asked.extended = settings.extended_metrics;
    settings.http.by_address = reader.endpoints.by_address;
    settings.expect = expectations::settings(reader, plugins.as_ref());
    settings.is_closed = matches!(load, Some(Load::Closed { .. }));
    let lost = reconnect::reconnect(reader, &config, &script);
    settings.reconnects = lost.reconnect.is_some();
    settings.resumes = lost.reconnect.is_some_and(|reconnect| reconnect.resume);
    let (rules, drain) = config::delivery(reader, &config);
    let watch = config::watch(reader, &config, overrides.watch);
    let config_uses = reader.names.take_uses();
    let before = scenario::fixed_flow(reader, &script, "before", &settings);
    let (scenarios, stamped) = scenario::scenarios(reader, &script, &settings);
    let after = scenario::fixed_flow(reader, &script, "after", &settings);
    reader.unset_anywhere(config_uses);
    without_those_to_fill(reader, &mut settings.http.headers);
    without_effect(reader, &config, stamped, lost.cursor.is_some());
    let thresholds = match &overrides.until {
        Some(text) => ensure::until(reader, text, &scenarios, stamped).into_iter().collect(),
        None => ensure::thresholds(reader, &config, plugins.as_ref(), &scenarios, stamped),
    };
    let experiment = experiment::experiment(reader, &script, &combination, &scenarios, stamped);
    let (operations, tagged) = std::mem::take(&mut reader.operations).into_parts();
    let plan = Plan {
        name: name(path, overrides, &combination),
        target,
        load: load.unwrap_or(Load::Open { phases: Vec::new(), spacing: Spacing::Even }),
        scenarios,
        before,
        after,
        variables,
        payloads,
        http: settings.http,
        websocket: settings.websocket,
        socketio: settings.socketio,
        verify_certificates: settings.verify_certificates && !overrides.insecure,
        delivery: stamped.then_some(rules),
        reconnect: lost.reconnect,
        cursor: lost.cursor,
        drain,
        watch,
        unset_fails: !reader.functions.has_module(),
        undefined: std::mem::take(&mut reader.undefined),
        plugins: std::mem::take(&mut reader.endpoints).into_plan(asked),
        processor: functions::processor(reader),
        submetrics: told_apart(&thresholds, &operations, &tagged),
        thresholds,
        operations,
        tagged,
        source: combination.source(root),
    };
    Some((plan, Services { serve, launch }, experiment))
}

/// What is started for a run.
struct Services {
    serve: Option<Serve>,
    launch: Option<Value>,
}

/// The service that `config.launch` describes, beside which there is no other.
fn launched(
    reader: &mut Reader,
    config: &reader::Fields<'_>,
    overrides: &Overrides,
    serve: Option<&Serve>,
) -> Option<Value> {
    let launch = launch::launch(reader, config, overrides.launch).filter(|_| overrides.target.is_none());
    if launch.is_some() && serve.is_some() {
        let hint = "remove `serve`, or `config.launch`".to_owned();
        reader.problem(
            config.place_of("launch"),
            "a run has one service: `serve` starts another one",
            Some(hint),
        );
    }
    launch
}

/// The script's config; without one, an empty one.
fn config<'n>(
    reader: &mut Reader,
    root: &yaml::Node,
    script: &reader::Fields<'n>,
) -> Option<reader::Fields<'n>> {
    if let Some(node) = script.get("config") {
        return reader.fields(node, &schema::CONFIG);
    }
    let hint = "add `config: {target: \"http://127.0.0.1:8080\", phases: […]}`, or name the file it is in with \
                `--config`";
    reader.missing(script, &["config"], "the script has no config", hint);
    // One problem is enough: keys missing inside are not reported.
    Some(reader::Fields::absent(&schema::CONFIG, root.place, vec!["target", "phases"]))
}

/// Leaves of the default headers those that every user can fill from its start; the others are in the steps that can
/// fill them (`http::set_by_now`).
fn without_those_to_fill(reader: &Reader, headers: &mut Vec<(String, Template)>) {
    let filled =
        |value: &Template| http::variables(value).into_iter().all(|name| reader.names.is_global(name));
    headers.retain(|(_, value)| filled(value));
}

/// Notices of what was written and does nothing.
fn without_effect(reader: &mut Reader, config: &reader::Fields<'_>, stamped: bool, has_cursor: bool) {
    if !stamped && let Some(node) = config.get("delivery") {
        reader.notice(node.place, "delivery has no effect: no message holds {{ $stamp }}");
    }
    if !has_cursor && let Some(place) = reader.names.first_cursor() {
        let text = "$cursor is always empty: `config.reconnect` does not say which member of messages it is (`cursor: \
                    seq`)";
        reader.notice(place, text);
    }
}

/// The run's name: the script's, and of a matrix its values.
fn name(path: &Path, overrides: &Overrides, combination: &Combination) -> String {
    let stem = path.file_stem().map_or_else(|| "script".into(), |stem| stem.to_string_lossy().into_owned());
    let name = overrides.name.clone().unwrap_or(stem);
    if combination.0.is_empty() { name } else { format!("{name}-{}", combination.slug()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_bare_file_name_is_the_current_one() {
        let here = std::env::current_dir().unwrap();
        let dirname = |path: &str| constants(Path::new(path), &Overrides::default()).dirname;
        assert_eq!(dirname("s.yml"), here.display().to_string());
        assert_eq!(dirname("sub/s.yml"), here.join("sub").display().to_string());
        assert_eq!(dirname("/tmp/s.yml"), "/tmp");
    }
}
