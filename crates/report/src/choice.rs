//! Which value of an axis is best: a headline, a small chart of value and figure, and what to make of it.

use crate::comparison::{
    changed, difference, escaped, fewest, interval, judged, listed, percentage, points, right, value,
};
use crate::figures::counted;
use crate::matrix::value as shown;
use crate::page::{Page, Tone, columns, cut, padded};
use sonagi_verdict::compare::{
    Choice, Compared, Drifted, Edge, Figure, Judgement, RUNS_AT_LEAST, RUNS_AT_MOST, Scale, Tried, Unjudged,
};

/// Values that the headline compares with the best.
const HEADLINE: usize = 4;
/// Values that are drawn; more than a terminal shows say nothing.
const DRAWN: usize = 60;
/// Widths of the cells behind a bar: the mean, its interval, the change, the word.
const WIDTHS: [usize; 4] = [11, 17, 9, 14];
/// Widest column of values.
const LABEL: usize = 16;
/// Shortest and longest bar.
const BAR: std::ops::RangeInclusive<usize> = 12..=40;

pub(crate) fn tone(choice: &Choice) -> Tone {
    let is_sure = |tried: &Tried| {
        let compared = tried.against_best.as_ref();
        tried.unjudged.is_none()
            && compared.is_none_or(|compared| compared.judgement != Judgement::Inconclusive)
    };
    let is_good = choice.best.is_some_and(|best| !choice.tried[best].has_failed());
    if is_good && choice.tried.iter().all(is_sure) { Tone::Good } else { Tone::Doubtful }
}

/// What a headline is of: a value to take that is not the best itself, but as good, or the best.
pub(crate) fn label(choice: &Choice) -> &'static str {
    if another_to_take(choice).is_some() { "take" } else { "best" }
}

/// The value to take, where another is the best.
fn another_to_take(choice: &Choice) -> Option<usize> {
    choice.take.filter(|take| choice.best.is_some_and(|best| best != *take))
}

/// The value to take, or the best, and how the others compare with the best, in a sentence.
pub(crate) fn headline(choice: &Choice) -> String {
    let within = within(choice).map_or_else(String::new, |within| format!("{within}: "));
    let Some(figure) = &choice.figure else {
        return match choice.missing.first() {
            _ if choice.sound == 0 => format!("{within}no run can be used"),
            Some(name) => format!("{within}most runs of every value have no figure {name}"),
            None => format!("{within}the runs have no figure in common that could decide"),
        };
    };
    let Some(best) = choice.best else {
        return match choice.tried.iter().any(|tried| tried.mean.is_some()) {
            true => format!("{within}{} is neither better high nor low: no value is the best", figure.name),
            false => format!("{within}no value can be judged by {}", figure.name),
        };
    };
    let take = another_to_take(choice);
    let others = choice.tried.iter().enumerate().filter(|(at, _)| Some(*at) != take);
    let mut others: Vec<String> = others.filter_map(|(_, tried)| beside(choice, tried)).collect();
    if let Some(more) = others.len().checked_sub(HEADLINE).filter(|more| *more > 0) {
        others.truncate(HEADLINE);
        others.push(format!("{more} more below"));
    }
    let named = |at: usize| format!("{} {}", choice.axis, shown(&choice.tried[at].value));
    let mean = |at: usize| value(figure, choice.tried[at].mean.unwrap_or_default());
    let what = |at: usize| format!("{within}{} ({} {}", named(at), figure.name, mean(at));
    let first = match take {
        Some(take) => format!("{}, as good as the best, {}", what(take), named(best)),
        None => what(best),
    };
    if others.is_empty() && take.is_none() {
        others.push("no other value can be compared with it".to_owned());
    }
    format!("{})", [vec![first], others].concat().join("; "))
}

/// The values of the other axes, as `rate 10, users 100`; None where there are no others.
fn within(choice: &Choice) -> Option<String> {
    Some(crate::matrix::named(&choice.within)).filter(|named| !named.is_empty())
}

/// What a headline says of a value beside the best; None of the best itself.
fn beside(choice: &Choice, tried: &Tried) -> Option<String> {
    match &tried.against_best {
        Some(compared) => Some(other(choice, tried, compared)),
        None if tried.unjudged.is_some() => {
            Some(format!("{} {} is not judged", choice.axis, shown(&tried.value)))
        }
        None => None,
    }
}

/// `pool 2 is 8.50 × as much, sure`.
fn other(choice: &Choice, tried: &Tried, compared: &Compared) -> String {
    let name = format!("{} {}", choice.axis, shown(&tried.value));
    match compared.judgement {
        Judgement::Same => format!("{name} is the same within ±{}", margin(choice, compared)),
        judgement => {
            let sure = if judgement == Judgement::Inconclusive { "not sure" } else { "sure" };
            match compared.figure.scale {
                Scale::Ratio => format!("{name} is {} × as much, {sure}", times(compared.effect.estimate)),
                Scale::Difference => format!("{name} {}, {sure}", points(compared)),
            }
        }
    }
}

fn margin(choice: &Choice, compared: &Compared) -> String {
    match compared.figure.scale {
        Scale::Ratio => percentage(choice.margin),
        Scale::Difference => "0.1 points".to_owned(),
    }
}

/// A ratio in as many digits as a headline needs.
fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { crate::figures::figure(ratio) }
}

/// The chart, and what to make of it.
pub(crate) fn draw(page: &mut Page, choice: &Choice) {
    page.blank();
    // What the sentences say is of these values alone, too.
    if let Some(within) = within(choice) {
        page.line(&within, Tone::Plain);
    }
    if let (Some(figure), true) = (&choice.figure, choice.tried.iter().any(|tried| tried.mean.is_some())) {
        chart(page, choice, figure);
        page.blank();
    }
    for (label, sentence) in sentences(choice) {
        page.entry(label, Tone::Faint, &sentence);
    }
}

fn chart(page: &mut Page, choice: &Choice, figure: &Figure) {
    let labels: Vec<String> = choice.tried.iter().map(|tried| shown(&tried.value)).collect();
    let longest = labels.iter().chain([&choice.axis]).map(|label| columns(label)).max().unwrap_or(0);
    let room = longest.min(LABEL);
    let bar =
        page.width().saturating_sub(room + 2 + WIDTHS.iter().sum::<usize>()).clamp(*BAR.start(), *BAR.end());
    let heads = [figure.name.rsplit('.').next().unwrap_or_default(), "95 % interval", "change", ""];
    let heads: Vec<String> =
        heads.iter().zip(WIDTHS).map(|(head, width)| right(&cut(head, width - 1), width)).collect();
    page.line(
        &format!("{}  {:bar$}{}", padded(&cut(&choice.axis, room), room), "", heads.concat()),
        Tone::Faint,
    );
    let most = choice.tried.iter().filter_map(furthest).fold(0.0, f64::max);
    for (tried, label) in choice.tried.iter().zip(&labels).take(DRAWN) {
        let mut line =
            format!("{}  {}", padded(&cut(label, room), room), padded(&drawn(tried, most, bar), bar));
        let [mean, interval, change, word] = cells(tried, figure);
        for (cell, width) in [mean, interval, change].iter().zip(WIDTHS) {
            line.push_str(&right(cell, width));
        }
        line.push_str(&format!("  {word}"));
        page.line(&line, Tone::Plain);
    }
}

fn furthest(tried: &Tried) -> Option<f64> {
    tried.interval.map(|(_, high)| high).or(tried.mean)
}

/// `├───●───┤`: the interval and the mean on a scale from 0.
fn drawn(tried: &Tried, most: f64, width: usize) -> String {
    let Some(mean) = tried.mean.filter(|_| most > 0.0) else { return String::new() };
    let place = |figure: f64| ((figure / most).clamp(0.0, 1.0) * (width - 1) as f64).round() as usize;
    let (low, high) = tried.interval.map_or((mean, mean), |ends| ends);
    let (low, mean, high) = (place(low), place(mean), place(high));
    let at = |column: usize| match column {
        _ if column == mean => '●',
        _ if column == low => '├',
        _ if column == high => '┤',
        _ if low < column && column < high => '─',
        _ => ' ',
    };
    (0..=high.max(mean)).map(at).collect()
}

/// The word of a value that is compared with no other.
fn word_alone(tried: &Tried) -> &'static str {
    match &tried.unjudged {
        Some(Unjudged::NotRun(_)) => "not run",
        Some(Unjudged::Unsound) => "no sound run",
        Some(Unjudged::Lacking) => "no figure",
        Some(Unjudged::WithoutRatio) => "0: no ratio",
        None if tried.has_failed() => "failed",
        None => "best",
    }
}

/// Why a value is not judged, in words.
fn why_unjudged(choice: &Choice, tried: &Tried, unjudged: &Unjudged) -> String {
    let name = choice.figure.as_ref().map_or("figure that could decide", |figure| figure.name.as_str());
    let sound = tried.runs.len() + tried.lacking;
    match unjudged {
        Unjudged::NotRun(Some(why)) => why.clone(),
        Unjudged::NotRun(None) => "it was not run".to_owned(),
        Unjudged::Unsound => "none of its runs says anything of the target".to_owned(),
        Unjudged::Lacking => format!("{} of {} have no {name}", tried.lacking, counted(sound as u64, "run")),
        Unjudged::WithoutRatio => format!("{name} is 0 in a run, and 0 has no ratio"),
    }
}

/// The mean, its interval, the change against the best, the word.
fn cells(tried: &Tried, figure: &Figure) -> [String; 4] {
    let none = || "-".to_owned();
    let mean = tried.mean.map_or_else(none, |mean| value(figure, mean));
    let ends = tried
        .interval
        .map_or_else(none, |(low, high)| format!("{}–{}", bare(figure, low), bare(figure, high)));
    let Some(compared) = &tried.against_best else {
        return [mean, ends, String::new(), word_alone(tried).to_owned()];
    };
    let word = if tried.has_failed() { "failed".to_owned() } else { judged(compared.judgement) };
    [mean, ends, changed(compared, " ×"), word]
}

/// A value without its unit, which the mean beside it has.
fn bare(figure: &Figure, value: f64) -> String {
    if figure.is_share() { format!("{:.2}", value * 100.0) } else { crate::figures::figure(value) }
}

/// What to make of it, each with its label.
pub(crate) fn sentences(choice: &Choice) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let name = |at: usize| format!("{} {}", choice.axis, shown(&choice.tried[at].value));
    if let Some(take) = choice.take {
        let why = match choice.best {
            Some(best) if best == take => "the best, and no smaller value is known to be as good".to_owned(),
            _ => "the smallest value that is as good as the best".to_owned(),
        };
        all.push(("take", format!("{}: {why}", name(take))));
    }
    // A value that is not judged says nothing of what lies beyond it.
    let judged = |tried: &Tried| tried.mean.is_some();
    all.extend(choice.edge.and_then(|edge| match edge {
        Edge::Largest => {
            let last = name(choice.tried.iter().rposition(judged)?);
            Some(("edge", format!("{last} is the largest value tried: try larger ones")))
        }
        Edge::Smallest => {
            let first = name(choice.tried.iter().position(judged)?);
            Some(("edge", format!("{first}, the smallest value tried, is as good as any: try smaller ones")))
        }
    }));
    let unjudged = |(at, tried): (usize, &Tried)| {
        let why = why_unjudged(choice, tried, tried.unjudged.as_ref()?);
        Some(("not judged", format!("{}: {why}", name(at))))
    };
    all.extend(choice.tried.iter().enumerate().filter_map(unjudged).take(DRAWN));
    let lacking = |(at, tried): (usize, &Tried)| {
        let lacking = Some(tried.lacking).filter(|lacking| *lacking > 0 && tried.mean.is_some())?;
        let of = counted((tried.runs.len() + lacking) as u64, "run");
        Some(("missing", format!("{}: {lacking} of {of} lack the figure; the others are judged", name(at))))
    };
    all.extend(choice.tried.iter().enumerate().filter_map(lacking).take(DRAWN));
    let open = |(at, tried): (usize, &Tried)| {
        let compared = tried.against_best.as_ref()?;
        (compared.judgement == Judgement::Inconclusive)
            .then(|| format!("{}: {}", name(at), undecided(compared)))
    };
    all.extend(choice.tried.iter().enumerate().filter_map(open).take(DRAWN).map(|open| ("open", open)));
    if !choice.left_out.is_empty() {
        let first = &choice.left_out[0];
        let more = choice.left_out.len() - 1;
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        all.push(("left out", format!("{}: {}{more}", first.run, first.why)));
    }
    all
}

/// What would decide it.
fn undecided(compared: &Compared) -> String {
    let fewest = fewest(compared);
    let interval = compared.effect.interval.map(|_| format!(" ({})", interval(compared))).unwrap_or_default();
    let few = match fewest < RUNS_AT_LEAST {
        true => format!("{} of each decide nothing; ", counted(fewest as u64, "run")),
        false => String::new(),
    };
    let advice = match compared.runs_needed {
        Some(needed) if needed > fewest => {
            format!(
                "about {needed} runs of each would decide it four times in five, if they vary as these do"
            )
        }
        Some(_) => "a few more runs of each would decide it".to_owned(),
        None if fewest < RUNS_AT_LEAST => format!("make at least {RUNS_AT_LEAST}"),
        None => format!("not even {RUNS_AT_MOST} runs of each would decide it: make longer ones"),
    };
    format!("{few}{advice}{interval}")
}

/// What the machine did while the matrix was run.
pub(crate) fn drift(drifted: &Drifted) -> String {
    let size = match drifted.drift.scale {
        Scale::Ratio => {
            let change = drifted.drift.estimate - 1.0;
            let size = percentage(change.abs());
            let sign = match change < 0.0 {
                // What rounds to nothing has no direction.
                _ if size == percentage(0.0) => "±",
                true => "−",
                false => "+",
            };
            format!("{sign} {size}")
        }
        Scale::Difference => difference(&drifted.figure, drifted.drift.estimate, "points"),
    };
    let name = &drifted.figure.name;
    let said =
        format!("the first combination, run once more at the end, has {name} {size} against its other runs");
    let which = match drifted.is_worse() {
        Some(true) => "got slower",
        Some(false) => "got faster",
        None => "changed",
    };
    match (drifted.drift.is_seen(), drifted.drift.expected) {
        (true, _) => format!("the machine {which} meanwhile: {said}, more than these differ"),
        (_, Some(_)) => format!("none to be seen: {said}, no more than these differ"),
        (_, None) => said,
    }
}

/// A part of a Markdown page for each choice. Each ends with a newline.
pub(crate) fn markdown(choices: &[Choice]) -> Vec<String> {
    choices.iter().map(page).collect()
}

fn page(choice: &Choice) -> String {
    let label = if another_to_take(choice).is_some() { "Take" } else { "Best" };
    let mut text = format!("**{label}: {}**\n", escaped(&headline(choice)));
    if let Some(figure) = &choice.figure {
        let head =
            format!("| {} | {} | 95 % interval | change | |", escaped(&choice.axis), escaped(&figure.name));
        text.push_str(&format!("\n{head}\n| --- | --: | --: | --: | --- |\n"));
        for tried in &choice.tried {
            let cells = cells(tried, figure).map(|cell| escaped(&cell));
            text.push_str(&format!("| {} | {} |\n", escaped(&shown(&tried.value)), cells.join(" | ")));
        }
    }
    text + &listed(&sentences(choice))
}
