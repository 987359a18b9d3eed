//! Two sides of runs compared, on a terminal, as Markdown and for a page: the verdict first, then each figure, then
//! what would decide it.

mod paged;

pub(crate) use paged::labelled;
pub use paged::page;

use crate::figures::{count, counted, figure};
use crate::page::{Page, Tone, columns, cut, padded};
use sonagi_verdict::compare::{
    Compared, Comparison, Figure, Judgement, Mismatch, Observation, RUNS_AT_LEAST, RUNS_AT_MOST, Scale,
    WarmUp,
};
use std::collections::BTreeSet;

/// Runs that were left out and are told one by one.
const LEFT_OUT: usize = 5;

/// The text for a terminal of this width. Ends with a newline.
pub fn text(comparison: &Comparison, width: usize, colour: bool) -> String {
    let mut page = Page::new(width, colour);
    page.line(&word(comparison), tone(comparison.verdict));
    page.entry(if comparison.primary.is_some() { "primary" } else { "" }, Tone::Faint, &headline(comparison));
    page.blank();
    if comparison.primary.is_some() {
        table(&mut page, comparison);
        page.blank();
    }
    for (label, sentence) in sentences(comparison) {
        page.entry(label, Tone::Faint, &sentence);
    }
    page.finish()
}

/// The same as Markdown, for a pull request. Ends with a newline.
pub fn markdown(comparison: &Comparison) -> String {
    let [(a, _), (b, _)] = &comparison.sides;
    let mut text = format!("**{}**: {}\n", word(comparison), headline(comparison));
    if comparison.primary.is_some() {
        let (a, b) = (escaped(a), escaped(b));
        text.push_str(&format!(
            "\n| figure | {a} | {b} | {b} against {a} | 95 % interval | |\n| --- | --: | --: | --: | --: | --- |\n"
        ));
        for compared in all(comparison) {
            let name = escaped(&compared.figure.name);
            let cells = cells(compared).map(|cell| escaped(&cell));
            text.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
    }
    text + &listed(&sentences(comparison))
}

/// Sentences with their labels as a list in Markdown, behind an empty line if there are any.
pub(crate) fn listed(sentences: &[(&'static str, String)]) -> String {
    let mut text = String::from(if sentences.is_empty() { "" } else { "\n" });
    for (label, sentence) in sentences {
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        text.push_str(&format!("- {label}{}\n", escaped(sentence)));
    }
    text
}

fn all(comparison: &Comparison) -> impl Iterator<Item = &Compared> {
    comparison.primary.iter().chain(&comparison.others)
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

fn word(comparison: &Comparison) -> String {
    match comparison.verdict {
        Judgement::Same => format!("SAME WITHIN ±{}", percentage(comparison.margin)),
        other => other.word().to_owned(),
    }
}

/// A size of a change, which needs no more digits than a reader asks for: `5 %`, `2.5 %`.
pub(crate) fn percentage(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

fn tone(judgement: Judgement) -> Tone {
    match judgement {
        Judgement::Better | Judgement::Same => Tone::Good,
        Judgement::Worse => Tone::Bad,
        Judgement::Inconclusive | Judgement::NotComparable => Tone::Doubtful,
        Judgement::Higher | Judgement::Lower => Tone::Plain,
    }
}

/// The primary figure in a sentence.
fn headline(comparison: &Comparison) -> String {
    let [(a, runs_a), (b, runs_b)] = &comparison.sides;
    let undeclared: Vec<&str> =
        comparison.mismatches.iter().filter(|one| !one.is_declared).map(|one| one.what.as_str()).collect();
    if !undeclared.is_empty() {
        return format!("{a} and {b} were not run alike: {} differ", undeclared.join(", "));
    }
    let Some(primary) = &comparison.primary else {
        return match (comparison.missing.first(), comparison.without_ratio.first()) {
            _ if runs_a.min(runs_b) == &0 => "no run of one side can be used".to_owned(),
            (_, Some(name)) => format!("{name} cannot be compared: it is 0 in a run, and 0 has no ratio"),
            (Some(name), None) => format!("{name} cannot be compared"),
            (None, None) => "the runs have no figure in common that could decide".to_owned(),
        };
    };
    let runs = match runs_a == runs_b {
        true => format!("{} a side", counted(*runs_a as u64, "run")),
        false => format!("{} against {}", counted(*runs_b as u64, "run"), count(*runs_a as u64)),
    };
    format!("{}: {}, {runs}", primary.figure.name, change(primary, [a, b]))
}

/// `B is 1.230 × A (1.120–1.350)`.
fn change(compared: &Compared, [a, b]: [&str; 2]) -> String {
    let interval = compared.effect.interval.map(|_| format!(" ({})", interval(compared))).unwrap_or_default();
    match compared.figure.scale {
        Scale::Ratio => format!("{b} is {} × {a}{interval}", ratio(compared.effect.estimate)),
        Scale::Difference => format!("{b} is {a} {}{interval}", points(compared)),
    }
}

/// A difference in full.
pub(crate) fn points(compared: &Compared) -> String {
    difference(&compared.figure, compared.effect.estimate, "points")
}

pub(crate) fn ratio(value: f64) -> String {
    // A change of a thousandth is the least that anybody asks for; beyond ten nobody reads that.
    if value < 10.0 { format!("{value:.3}") } else { figure(value) }
}

pub(crate) fn difference(figure: &Figure, value: f64, points: &str) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign} {}", distance(figure, value, points))
}

/// How far apart two values are, whichever is larger; of shares in percentage points.
pub(crate) fn distance(figure: &Figure, value: f64, points: &str) -> String {
    match figure.is_share() {
        true => format!("{:.2} {points}", value.abs() * 100.0),
        false => self::figure(value.abs()),
    }
}

pub(crate) fn interval(compared: &Compared) -> String {
    let Some((low, high)) = compared.effect.interval else { return "-".to_owned() };
    let one = |value: f64| match compared.figure.scale {
        Scale::Ratio => ratio(value),
        Scale::Difference if compared.figure.is_share() => format!("{:+.2}", value * 100.0).replace('-', "−"),
        Scale::Difference => format!("{value:+.1}").replace('-', "−"),
    };
    match compared.figure.scale {
        Scale::Ratio => format!("{}–{}", one(low), one(high)),
        Scale::Difference => format!("{} to {}", one(low), one(high)),
    }
}

/// A value with its unit, as the name of the figure tells it.
pub(crate) fn value(of: &Figure, value: f64) -> String {
    let name = of.name.as_str();
    if of.is_share() {
        return format!("{:.2} %", value * 100.0);
    }
    let unit = [("_ms", " ms"), ("_bytes", " B"), ("per_s", "/s")];
    let is_of = |ending: &str| {
        name.ends_with(ending)
            || name.rsplit_once('.').is_some_and(|(distribution, _)| distribution.ends_with(ending))
    };
    let unit = unit.iter().find(|(ending, _)| is_of(ending)).map_or("", |(_, unit)| unit);
    format!("{}{unit}", figure(value))
}

/// Both sides, the change, its interval, the word.
fn cells(compared: &Compared) -> [String; 5] {
    let [a, b] = compared.means.map(|mean| value(&compared.figure, mean));
    [a, b, changed(compared, ""), interval(compared), judged(compared.judgement)]
}

/// A change in a cell; `times` stands behind a ratio.
pub(crate) fn changed(compared: &Compared, times: &str) -> String {
    match compared.figure.scale {
        Scale::Ratio => format!("{}{times}", ratio(compared.effect.estimate)),
        Scale::Difference => difference(&compared.figure, compared.effect.estimate, "pt"),
    }
}

/// A judgement in a cell.
pub(crate) fn judged(judgement: Judgement) -> String {
    match judgement {
        Judgement::Inconclusive => "open".to_owned(),
        other => other.word().to_lowercase(),
    }
}

/// Widths of the cells.
const WIDTHS: [usize; 5] = [11, 11, 12, 17, 8];

/// A line a figure, under the name of the distribution that it is of.
fn table(page: &mut Page, comparison: &Comparison) {
    let [(a, _), (b, _)] = &comparison.sides;
    let room = page.width().saturating_sub(WIDTHS.iter().sum()).min(30);
    let heads = [a.as_str(), b.as_str(), "change", "95 % interval", ""];
    let head: Vec<String> =
        heads.iter().zip(WIDTHS).map(|(head, width)| right(&cut(head, width - 1), width)).collect();
    page.line(&format!("{}{}", padded("", room), head.concat()), Tone::Faint);
    let mut over: &str = "";
    for compared in all(comparison) {
        let (path, last) = match compared.figure.name.rsplit_once('.') {
            Some((path, last)) if columns(&compared.figure.name) > room => (path, last),
            _ => ("", compared.figure.name.as_str()),
        };
        if path != over && !path.is_empty() {
            page.line(path, Tone::Plain);
        }
        over = path;
        let label = if path.is_empty() { last.to_owned() } else { format!("  {last}") };
        let cells = cells(compared);
        let mut line = padded(&cut(&label, room), room);
        for (at, (cell, width)) in cells.iter().zip(WIDTHS).enumerate() {
            line.push_str(&if at == cells.len() - 1 { format!("  {cell}") } else { right(cell, width) });
        }
        page.line(&line, tone_of_row(compared.judgement));
    }
}

fn tone_of_row(judgement: Judgement) -> Tone {
    match judgement {
        Judgement::Same | Judgement::Inconclusive => Tone::Plain,
        other => tone(other),
    }
}

pub(crate) fn right(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(columns(text));
    format!("{:blanks$}{text}", "")
}

/// What else there is to say, each with its label.
fn sentences(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut sentences = Vec::new();
    sentences.extend(comparison.mismatches.iter().map(|mismatch| ("differs", mismatched(mismatch))));
    if comparison.failed != [0, 0] {
        let [a, b] = [0, 1].map(|side| of_side(comparison, side, comparison.failed[side]));
        sentences.push(("failed", format!("{a}, {b}: what they asked for did not hold")));
    }
    let left_out = comparison.left_out.iter().map(|one| ("left out", format!("{}: {}", one.run, one.why)));
    sentences.extend(left_out.take(LEFT_OUT));
    if let Some(more) = comparison.left_out.len().checked_sub(LEFT_OUT).filter(|more| *more > 0) {
        sentences.push(("", format!("and {}", counted(more as u64, "more run"))));
    }
    sentences.extend(reports(comparison).map(|sentence| ("reports", sentence)));
    let sides = comparison.sides.iter().zip(&comparison.warm_ups);
    let warm_ups = sides.filter_map(|((side, _), found)| Some(format!("{side}: {}", found_of(found)?)));
    let warm_ups: Vec<String> = warm_ups.collect();
    if !warm_ups.is_empty() {
        sentences.push(("warm-up", warm_ups.join("; ")));
    }
    let missing = |name| ("missing", format!("most runs of a side have no figure {name}"));
    sentences.extend(comparison.missing.iter().map(missing));
    sentences.extend(lacking(comparison));
    // Without a primary figure, the headline tells of the first of them.
    let (told, others) = match comparison.without_ratio.split_first() {
        Some((first, others)) if comparison.primary.is_none() => (Some(first), others),
        _ => (None, &comparison.without_ratio[..]),
    };
    let without = |name| ("missing", format!("{name} is 0 in a run, and has no ratio: it is not compared"));
    sentences.extend(others.iter().map(without));
    if let Some(name) = told {
        let advice = "decide by a figure that is 0 in no run: --primary, e.g. a higher quantile than";
        sentences.push(("next", format!("{advice} {name}")));
    }
    if let Some(primary) = &comparison.primary {
        sentences.extend(seen(primary));
        sentences.extend(undecided(primary));
    }
    if comparison.others.len() > 1 && comparison.others.iter().any(|other| other.adjusted_p.is_some()) {
        let others = counted(comparison.others.len() as u64, "other figure");
        sentences.push(("note", format!("the {others} are judged together (Holm); the first one decides")));
    }
    sentences
}

/// So many of a side's runs.
fn of_side(comparison: &Comparison, side: usize, n: usize) -> String {
    let (label, runs) = &comparison.sides[side];
    format!("{} of {} of {label}", count(n as u64), counted(*runs as u64, "run"))
}

/// Runs that are reports, also of other tools: a reader should know how little is behind their figures.
fn reports(comparison: &Comparison) -> Option<String> {
    let tools: BTreeSet<&str> = comparison.reports.iter().map(String::as_str).collect();
    let tools = tools.into_iter().collect::<Vec<_>>().join(" and ");
    let runs = counted(comparison.sides.iter().map(|(_, runs)| *runs as u64).sum(), "run");
    match comparison.reports.len() {
        0 => None,
        1 => Some(format!(
            "1 of {runs} is a report of {tools}: single figures, without their distribution or conditions"
        )),
        many => Some(format!(
            "{many} of {runs} are reports of {tools}: single figures, without their distribution or conditions"
        )),
    }
}

/// The runs without a figure that the others of their side decide.
fn lacking(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let of = |compared: &Compared| {
        let side = |at: usize| {
            let lacking = comparison.sides[at].1.checked_sub(compared.runs[at].len());
            Some(of_side(comparison, at, lacking.filter(|lacking| *lacking > 0)?))
        };
        let sides: Vec<String> = [0, 1].into_iter().filter_map(side).collect();
        (!sides.is_empty()).then(|| {
            format!("{} is judged without {}, which lack it", compared.figure.name, sides.join(" and "))
        })
    };
    all(comparison).filter_map(of).take(LEFT_OUT).map(|sentence| ("missing", sentence)).collect()
}

/// What was left out of the begins of runs; None where nobody looked.
pub(crate) fn warm_up(observed: &[Observation]) -> Option<String> {
    found_of(&observed.iter().filter_map(|run| run.warm_up).collect::<Vec<WarmUp>>())
}

fn found_of(found: &[WarmUp]) -> Option<String> {
    let count = |of: WarmUp| found.iter().filter(|one| **one == of).count();
    let cuts = || found.iter().map(|one| one.first_second()).filter(|seconds| *seconds > 0);
    let (few, many) = (cuts().min(), cuts().max());
    let runs = counted(found.len() as u64, "run");
    let cut = few.zip(many).map(|(few, many)| {
        let seconds = if few == many { few.to_string() } else { format!("{few} to {many}") };
        format!("{seconds} s cut from {} of {runs}", cuts().count())
    });
    let (unsteady, short) = (count(WarmUp::NoSteadyState), count(WarmUp::TooShort));
    let unsteady = (unsteady > 0).then(|| format!("no steady state in {unsteady} of {runs}"));
    let short = (short > 0).then(|| format!("{short} of {runs} too short to tell"));
    let all: Vec<String> = cut.into_iter().chain(unsteady).chain(short).collect();
    match (found.is_empty(), all.is_empty()) {
        (true, _) => None,
        (_, true) => Some("nothing cut".to_owned()),
        _ => Some(all.join(", ")),
    }
}

fn mismatched(mismatch: &Mismatch) -> String {
    let side = |at: usize| match mismatch.sides[at].iter().next() {
        None => "nothing".to_owned(),
        Some(only) if mismatch.sides[at].len() == 1 => only.clone(),
        Some(_) => mismatch.sides[at].iter().cloned().collect::<Vec<_>>().join(" and "),
    };
    let what = &mismatch.what;
    let is_one = mismatch.sides.iter().all(|values| values.len() <= 1);
    let hint = match mismatch.is_declared {
        true => " (as was said)".to_owned(),
        false if is_one => format!("; if that is what was changed: --across {what}"),
        // What was changed must be one thing on each side: said or not, these are not comparable.
        false => format!("; the runs of a side must have one {what}: name only those"),
    };
    format!("{what}: {} against {}{hint}", side(0), side(1))
}

/// What so many runs could have seen.
fn seen(primary: &Compared) -> Option<(&'static str, String)> {
    let detectable = primary.effect.detectable?;
    let size = match primary.figure.scale {
        Scale::Ratio if detectable < 2.0 => format!("of {}", percentage(detectable - 1.0)),
        Scale::Ratio => format!("to {} times as much", figure(detectable)),
        Scale::Difference => format!("of {}", distance(&primary.figure, detectable, "points")),
    };
    Some(("sees", format!("runs that vary as these do show a change {size} nine times in ten")))
}

/// The fewest runs that either of the two has.
pub(crate) fn fewest(compared: &Compared) -> usize {
    compared.runs[0].len().min(compared.runs[1].len())
}

/// What would decide it.
fn undecided(primary: &Compared) -> Option<(&'static str, String)> {
    if primary.judgement != Judgement::Inconclusive {
        return None;
    }
    let fewest = fewest(primary);
    let advice = match primary.runs_needed {
        Some(needed) if needed > fewest => {
            format!("about {needed} runs a side would decide it four times in five, if they vary as these do")
        }
        // These were unlucky: so many mostly decide.
        Some(_) => "a few more runs a side would decide it".to_owned(),
        None if primary.effect.spread.is_some() => {
            format!(
                "not even {RUNS_AT_MOST} runs a side would decide it: make longer runs, or a wider --margin"
            )
        }
        None => format!(
            "one run says nothing of how runs differ: make at least {RUNS_AT_LEAST} a side, in turn; ten show a change \
             of 10 % where runs vary by 5 %"
        ),
    };
    let few = (fewest > 1 && fewest < RUNS_AT_LEAST)
        .then(|| format!("fewer than {RUNS_AT_LEAST} runs a side decide nothing; "));
    Some(("next", format!("{}{advice}", few.unwrap_or_default())))
}
