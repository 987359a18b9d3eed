//! What runs of a k6 script are asked for: one, or one for each combination of its matrix's values, in rounds where it
//! is repeated. What is wrong with any of them is found here, before the first.

use super::flags::GivenFlags;
use super::log::is_of_console;
use super::trials::unknown;
use super::{Refused, ScriptText, asked};
use crate::matrix_record::Planned;
use crate::page::Dashboard;
use crate::rounds;
use crate::runs;
use crate::target_watch::NetworkLateness;
use serde_json::Value;
use sonagi_artillery::{Combination, FIGURES_OF_COMPARISONS, nearest};
use sonagi_engine::{Level, LogLine, RunEvent};
use sonagi_k6::options::{Compare, REPEAT_MAX, Several, in_env, is_variable};
use sonagi_k6::run::{Asked, Ended, Exit, Test, load, several};
use sonagi_report::matrix::{self, MARGIN};
use std::sync::Arc;

/// Flags and keys of several runs.
const WORDS: [&str; 3] = ["matrix", "repeat", "compare"];
/// The figures of a metric.
const FIGURES: [&str; 11] =
    ["count", "min", "mean", "max", "p50", "p75", "p90", "p95", "p99", "p999", "rate"];

/// Names with their values.
type Axes = Vec<(String, Vec<Value>)>;

/// What the flags and the script ask for.
pub(super) enum Runs {
    /// One run. Of a script whose text says nothing of Sonagi that is not decided until its options are known.
    One {
        is_decided: bool,
    },
    Several(Planned),
}

/// Finds out how many runs are asked for; what is wrong with any of several is told before the first.
pub(super) fn planned(given: &GivenFlags, text: &ScriptText) -> Result<Runs, Refused> {
    let is_given = WORDS.iter().any(|flag| given.one(flag).is_some());
    let source = String::from_utf8_lossy(&text.source);
    // Only then is the script read once more than others are.
    if !is_given && given.one("config").is_none() && !source.contains("sonagi") {
        return Ok(Runs::One { is_decided: false });
    }
    let of_flags = of_flags(given)?;
    let several = match asked_for(given, text, &of_flags) {
        Ok(several) => several,
        // It is told when the test is run.
        Err(_) if !is_given && !source.contains("matrix") => return Ok(Runs::One { is_decided: false }),
        Err(refused) => return Err(refused),
    };
    let axes = narrowed(&several.matrix, of_flags, &given.many("env")).map_err(problem)?;
    let repeat = repeat(given)?.or(several.repeat).unwrap_or(1);
    if axes.is_empty() && repeat < 2 && given.one("compare").is_none() {
        return Ok(Runs::One { is_decided: true });
    }
    of_one_run(given)?;
    let count = axes.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()));
    let drawn = rounds::drawn(count.unwrap_or(usize::MAX), repeat, runs::any_seed()).map_err(problem)?;
    let combinations = Combination::all(&axes);
    let compare = compared(given, &several, &axes).map_err(problem)?;
    judge(given, text, &combinations, compare.as_ref())?;
    let runs = match drawn {
        Some(turns) => {
            turns.into_iter().map(|turn| (combinations[turn.combination].clone(), Some(turn))).collect()
        }
        None => combinations.into_iter().map(|combination| (combination, None)).collect(),
    };
    let stem = given.script.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.unwrap_or_else(|| "script".to_owned());
    Ok(Runs::Several(Planned { name, repeat, compare, runs }))
}

/// A test whose options ask for several runs, although nothing in the script's own text does.
pub(super) fn of_another_file() -> Ended {
    let why = "options.sonagi asks for several runs, and comes from a file that the script imports\nhint: say so in \
               the script's own file, e.g. in a comment: `// options.sonagi` is looked for there";
    Ended::early(Exit::Problems, why)
}

/// What the script's options say of several runs; of the other options no sense is asked yet, as they may need values
/// of the matrix.
fn asked_for(given: &GivenFlags, text: &ScriptText, of_flags: &Axes) -> Result<Several, Refused> {
    let first = |(name, values): &(String, Vec<Value>)| {
        (name.clone(), values.first().map(in_env).unwrap_or_default())
    };
    let first: Vec<(String, String)> = of_flags.iter().map(first).collect();
    let request = asked(given, text, &NetworkLateness::default(), &first)?;
    let mut said = Vec::new();
    several(&request, &mut |event| hear(&mut said, &event)).map_err(|ended| {
        let has_thrown = ended.exit == Exit::Exception;
        let (exit, why) = why(ended, &said);
        let hint = "the script is read once before the values of its matrix are known: give them defaults, as in \
                    `__ENV.POOL || '10'`";
        (exit, if has_thrown { format!("{why}\nhint: {hint}") } else { why })
    })
}

/// The script read with these variables over its environment.
fn read(given: &GivenFlags, text: &ScriptText, over: &[(String, String)]) -> Result<Test, Refused> {
    let request = asked(given, text, &NetworkLateness::default(), over)?;
    let request = Asked { outputs: Vec::new(), ..request };
    let mut said = Vec::new();
    load(request, &Arc::default(), &mut |event| hear(&mut said, &event)).map_err(|ended| why(ended, &said))
}

/// Keeps the errors of the log, but for the script's own console: an exception is told there alone.
fn hear(said: &mut Vec<String>, event: &RunEvent<'_>) {
    if let RunEvent::Line(line) = event
        && is_error(line)
    {
        said.push(line.text.clone());
    }
}

pub(super) fn is_error(line: &LogLine) -> bool {
    line.level == Level::Error && !is_of_console(line)
}

pub(super) fn why(ended: Ended, said: &[String]) -> Refused {
    (ended.exit, ended.why.unwrap_or_else(|| said.join("\n")))
}

/// Refuses flags that say what becomes of one run.
fn of_one_run(given: &GivenFlags) -> Result<(), Refused> {
    let outs = given.outs().iter().any(|out| !Dashboard::is_one(out));
    let export = given.one("summary-export").is_some();
    for (flag, is_given) in [("out", outs), ("summary-export", export)] {
        if is_given {
            let hint = "--runs DIR writes a folder for each run; `sonagi report FOLDER` prints its summary";
            let what = format!("--{flag} is of one run, and these are several\nhint: {hint}");
            return Err((Exit::Other, what));
        }
    }
    Ok(())
}

/// The values of `--matrix NAME=VALUE,…`.
fn of_flags(given: &GivenFlags) -> Result<Axes, Refused> {
    let mut axes: Axes = Vec::new();
    for text in given.many("matrix") {
        let rule = |what: String| (Exit::Other, format!("--matrix takes NAME=VALUE,VALUE; {what}"));
        let Some((name, values)) = text.split_once('=') else { return Err(rule(format!("got `{text}`"))) };
        if !is_variable(name) {
            return Err(rule(format!("`{name}` is no name of a variable")));
        }
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if values.contains(&"") {
            return Err(rule(format!("{name} has an empty value")));
        }
        if let Some((_, twice)) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value))
        {
            return Err(rule(format!("{name} has `{twice}` twice")));
        }
        if axes.iter().any(|(known, _)| known == name) {
            return Err(rule(format!("{name} is given twice")));
        }
        axes.push((name.to_owned(), values.into_iter().map(typed).collect()));
    }
    Ok(axes)
}

/// A number where it is written as one: which of several values is the smallest is asked of numbers alone.
fn typed(text: &str) -> Value {
    let number = text.parse::<serde_json::Number>().ok().filter(|number| number.to_string() == text);
    number.map_or_else(|| text.into(), Value::Number)
}

/// The script's matrix with the values that flags leave; of a script without one, the flags are the matrix. A variable
/// that `-e` gives a value has that one.
fn narrowed(matrix: &[(String, Vec<Value>)], flags: Axes, env: &[String]) -> Result<Axes, String> {
    if matrix.is_empty() {
        return Ok(flags);
    }
    let mut axes = matrix.to_vec();
    for (name, value) in env.iter().filter_map(|text| text.split_once('=')) {
        let is_narrowed = flags.iter().any(|(flag, _)| flag == name);
        axes.iter_mut().filter(|(axis, _)| axis == name && !is_narrowed).for_each(|(_, values)| {
            *values = vec![typed(value)];
        });
    }
    for (name, wanted) in flags {
        let known = || matrix.iter().map(|(name, _)| name.as_str());
        let Some((_, values)) = axes.iter_mut().find(|(axis, _)| *axis == name) else {
            let hint = match nearest(&name, known()) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("its variables: {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("--matrix: the script's matrix has no {name}\nhint: {hint}"));
        };
        let texts: Vec<String> = values.iter().map(in_env).collect();
        let wanted: Vec<String> = wanted.iter().map(in_env).collect();
        if let Some(other) = wanted.iter().find(|value| !texts.contains(value)) {
            let hint = format!("its values: {}", texts.join(", "));
            return Err(format!("--matrix: {name} has no value {other}\nhint: {hint}"));
        }
        values.retain(|value| wanted.contains(&in_env(value)));
    }
    Ok(axes)
}

fn repeat(given: &GivenFlags) -> Result<Option<usize>, Refused> {
    let Some(text) = given.one("repeat") else { return Ok(None) };
    match text.parse::<u64>() {
        Ok(times) if (1..=REPEAT_MAX).contains(&times) => Ok(Some(times as usize)),
        _ => {
            let what = format!("--repeat takes a whole number from 1 to {REPEAT_MAX}; got `{text}`");
            Err((Exit::Other, what))
        }
    }
}

/// What is compared, by the flag or the script.
fn compared(
    given: &GivenFlags,
    several: &Several,
    axes: &[(String, Vec<Value>)],
) -> Result<Option<matrix::Asked>, String> {
    let flag = given.one("compare");
    let known = || axes.iter().map(|(name, _)| name.as_str());
    if let Some(across) = flag.as_ref().filter(|across| !known().any(|name| name == across.as_str())) {
        let hint = match known().collect::<Vec<_>>().as_slice() {
            [] => "e.g. --matrix POOL=2,10,50 --compare POOL".to_owned(),
            known => format!("its variables: {}", known.join(", ")),
        };
        return Err(format!("--compare: the matrix has no {across}\nhint: {hint}"));
    }
    let of_script = several.compare.clone();
    if flag.is_none() && of_script.is_none() {
        return Ok(None);
    }
    let Compare { across, primary, margin } = of_script.unwrap_or_default();
    // Read already: where the script names none, its matrix has one.
    let across = flag.or(across).or_else(|| known().next().map(str::to_owned)).unwrap_or_default();
    Ok(Some(matrix::Asked { across, primary, margin: margin.unwrap_or(MARGIN) }))
}

/// What is wrong with the figure that decides, if no run of the script has it.
fn unmeasured(primary: &str, test: &Test) -> Option<String> {
    if FIGURES_OF_COMPARISONS.contains(&primary) {
        return None;
    }
    let place = "options.sonagi.compare.primary";
    let known = test.metrics();
    let (metric, figure) = primary.split_once('.').unwrap_or((primary, ""));
    if known.iter().any(|known| known == metric) {
        let is_one = figure.is_empty() || FIGURES.contains(&figure);
        return (!is_one).then(|| {
            let all = FIGURES.join(", ");
            format!("{place}: {metric} has no `{figure}`\nhint: a metric of k6 has {all}; a counter is its own name")
        });
    }
    let what = unknown(place, primary, test)?;
    let what = what.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let close = nearest(metric, known.iter().map(String::as_str));
    Some(format!(
        "{what}\nhint: {}",
        match close {
            Some(meant) if figure.is_empty() => format!("did you mean `{meant}`?"),
            Some(meant) => format!("did you mean `{meant}.{figure}`?"),
            None => "e.g. `http_req_duration.p95`".to_owned(),
        }
    ))
}

/// Reads the script with each combination: what is wrong with any is told before the first run.
fn judge(
    given: &GivenFlags,
    text: &ScriptText,
    combinations: &[Combination],
    compare: Option<&matrix::Asked>,
) -> Result<(), Refused> {
    let mut found: Vec<(Exit, String, Vec<String>)> = Vec::new();
    for combination in combinations {
        let primary = compare.and_then(|compare| compare.primary.as_deref());
        let read = read(given, text, &in_environment(combination));
        let wrong = match &read {
            Ok(test) => primary.and_then(|primary| unmeasured(primary, test)).map(problem),
            Err(refused) => Some(refused.clone()),
        };
        let Some((exit, why)) = wrong else { continue };
        match found.iter_mut().find(|(_, known, _)| *known == why) {
            Some((_, _, with)) => with.push(combination.to_string()),
            None => found.push((exit, why, vec![combination.to_string()])),
        }
    }
    let Some(exit) = found.first().map(|(exit, _, _)| *exit) else { return Ok(()) };
    let told = |(_, why, with): &(Exit, String, Vec<String>)| match with.as_slice() {
        all if all.len() == combinations.len() => why.clone(),
        [only] => format!("with {only}: {why}"),
        [first, more @ ..] => format!("with {first}, and {} more: {why}", more.len()),
        [] => why.clone(),
    };
    Err((exit, found.iter().map(told).collect::<Vec<_>>().join("\n")))
}

pub(super) fn in_environment(Combination(axes): &Combination) -> Vec<(String, String)> {
    axes.iter().map(|(name, value)| (name.clone(), in_env(value))).collect()
}

fn problem(why: String) -> Refused {
    (Exit::Problems, why)
}
