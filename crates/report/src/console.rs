//! A run on a terminal: verdict first, then delivery, latency, errors, the generator's health, the folder.
//!
//! Sections that have nothing to say are absent. The one decision a reader would question: counts that ought to be
//! zero (late, lost, duplicate, …) are named only when they are not, except `lost`, which a reader looks for.

mod delivery;

use crate::figures::{bytes, count, counted, duration, figure, milliseconds, percent, share, short};
use crate::page::{Page, Tone, columns, items, padded, tame};
use crate::target;
use sonagi_measure::metrics::MetricSummary;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{
    Cause, Conclusion, ErrorSummary, Generator, Health, Quantiles, Service, Summary,
};
use sonagi_measure::thresholds::Judged;

/// What is said of a run that has no end.
pub const CUT_OFF: &str =
    "Cut off: the run has no closing record; the figures end with its last second on disk.";

/// What is said of a run that has not ended yet.
pub const UNDER_WAY: &str = "Under way: the run has not ended; these are its figures so far.";

/// Errors listed one by one; the rest is counted in one line.
const ERRORS_SHOWN: usize = 12;
/// Operations listed one by one; the rest is counted in one line.
const OPERATIONS_SHOWN: usize = 40;

/// The summary for a terminal of `width` columns (at least 60 are used), with ANSI colours when `colour`.
/// Ends with a newline.
pub fn summary(run: &Summary, width: usize, colour: bool) -> String {
    under(&outcome(run), run, Page::new(width, colour))
}

/// The same of a run that goes on while its folder is read.
pub fn under_way(run: &Summary, width: usize, colour: bool) -> String {
    let unfinished = Some(Unfinished { why: UNDER_WAY, until: "so far" });
    under(&Outcome { word: "RUNNING", tone: Tone::Plain, unfinished }, run, Page::new(width, colour))
}

/// The word of a watch without a load: nothing was asked of the target, so that nothing passed.
pub const WATCHED: &str = "WATCHED";

/// The same of a watch.
pub fn watched(run: &Summary, width: usize, colour: bool) -> String {
    under(&Outcome::of(WATCHED, Tone::Plain), run, Page::new(width, colour))
}

/// What a run came to, in a word.
struct Outcome {
    word: &'static str,
    tone: Tone,
    /// None: the run has its end.
    unfinished: Option<Unfinished>,
}

/// A run without an end: what holds of it so far is no verdict.
struct Unfinished {
    /// Why it has none.
    why: &'static str,
    /// What its reasons are said to hold until.
    until: &'static str,
}

impl Outcome {
    fn of(word: &'static str, tone: Tone) -> Outcome {
        Outcome { word, tone, unfinished: None }
    }
}

/// The summary under this word.
fn under(outcome: &Outcome, run: &Summary, mut page: Page) -> String {
    verdict(&mut page, outcome, run);
    page.blank();
    users(&mut page, run);
    if let Some(delivery) = &run.delivery {
        delivery::section(&mut page, delivery);
    }
    traffic(&mut page, run);
    apdex(&mut page, run);
    latency(&mut page, run);
    metrics(&mut page, run);
    expectations(&mut page, run);
    thresholds(&mut page, run);
    errors(&mut page, &run.errors);
    page.blank();
    generator(&mut page, &run.generator);
    page.entries("target", target::lines(run).iter().map(|parts| items(parts)));
    if let Some(service) = &run.service {
        self::service(&mut page, service);
    }
    if let Some(folder) = &run.run_folder {
        page.entry("run folder", Tone::Faint, folder);
        page.entry("see it", Tone::Faint, &format!("sonagi page {folder}"));
    }
    page.finish()
}

fn outcome(run: &Summary) -> Outcome {
    if !run.complete && !run.interrupted {
        let unfinished = Some(Unfinished { why: CUT_OFF, until: "until then" });
        return Outcome { word: "CUT OFF", tone: Tone::Doubtful, unfinished };
    }
    let tone = match run.verdict.result {
        Conclusion::Pass => Tone::Good,
        Conclusion::Fail => Tone::Bad,
        Conclusion::Invalid | Conclusion::Interrupted => Tone::Doubtful,
    };
    Outcome::of(run.verdict.result.word(), tone)
}

fn verdict(page: &mut Page, outcome: &Outcome, run: &Summary) {
    let mut headline = run.name.clone();
    if !run.target.is_empty() {
        headline.push_str(&format!(" · {}", run.target));
    }
    headline.push_str(&format!(" · {}", duration(run.duration_s)));
    page.entry(outcome.word, outcome.tone, &headline);
    if let Some(unfinished) = &outcome.unfinished {
        page.more(unfinished.why);
    }
    for reason in &run.verdict.reasons {
        match &outcome.unfinished {
            Some(Unfinished { until, .. }) => page.more(&format!("{until}: {reason}")),
            None => page.more(reason),
        }
    }
    // A finding about the generator stands in its own section; once is enough.
    for hint in run.verdict.hints.iter().filter(|hint| !run.generator.findings.contains(hint)) {
        page.entry("      hint:", Tone::Faint, hint);
    }
}

fn users(page: &mut Page, run: &Summary) {
    let users = &run.users;
    let is_of_iterations = users.iterations && users.wanted.is_none();
    let (label, skipped) =
        if is_of_iterations { ("iterations", "dropped") } else { ("users", "skipped by maxVusers") };
    if users.planned == 0 && users.started == 0 {
        return page.entry(label, Tone::Faint, "none planned, none started");
    }
    let mut parts = vec![match users.wanted {
        // A closed run plans its users; they iterate as often as they can.
        Some(wanted) => {
            format!("{} planned · {} started", count(wanted), counted(users.started, "iteration"))
        }
        None => format!("{} started of {} planned", count(users.started), count(users.planned)),
    }];
    parts.extend(some(&[(users.missed, "missed"), (users.skipped, skipped)]));
    parts.push(format!("{} completed", count(users.completed)));
    parts.push(format!("{} failed", count(users.failed)));
    parts.extend(some(&[(users.stopped, "stopped"), (users.active, "still active")]));
    if users.peak > 0 {
        parts.push(format!("peak {} concurrent", count(users.peak)));
    }
    page.entry(label, Tone::Faint, &items(&parts));
    if users.session_ms.count > 0 {
        let [median, max] = [users.session_ms.p50, users.session_ms.max].map(session_length);
        page.more(&format!("session duration {median} median, {max} max"));
    }
    if run.scenarios.len() > 1 {
        let by_name: Vec<_> =
            run.scenarios.iter().map(|(name, n)| format!("{name}: {}", count(*n))).collect();
        page.more(&items(&by_name));
    }
}

/// Those of the counts that are not zero, with what each is of.
fn some(counts: &[(u64, &str)]) -> Vec<String> {
    counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect()
}

/// `duration` has too few digits for what is over within milliseconds.
fn session_length(ms: f64) -> String {
    if ms < 1e3 { milliseconds(ms) } else { duration(ms / 1e3) }
}

/// The script's own metrics; all of them are in run.json.
fn metrics(page: &mut Page, run: &Summary) {
    const SHOWN: usize = 20;
    if run.metrics.is_empty() {
        return;
    }
    page.blank();
    let told = run.metrics.iter().map(|(name, metric)| format!("{name}: {}", metric_told(metric)));
    page.entries("metrics", told.take(SHOWN));
    if let Some(more) = run.metrics.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        page.more(&format!("and {more} more in run.json"));
    }
}

fn metric_told(metric: &MetricSummary) -> String {
    if let Some(values) = &metric.values {
        let [p50, p95, max] = [values.p50, values.p95, values.max].map(figure);
        return format!("{}, {p50} median, {p95} p95, {max} max", counted(metric.count, "value"));
    }
    match metric {
        MetricSummary { sum: Some(sum), .. } => format!("{sum}"),
        MetricSummary { per_second: Some(rate), .. } => format!("{} ({rate:.1}/s)", count(metric.count)),
        MetricSummary { ratio: Some(ratio), .. } => {
            format!("{:.2} % of {}", ratio * 100.0, count(metric.count))
        }
        MetricSummary { level: Some(level), .. } => {
            let [value, min, max] = [level.value, level.min, level.max].map(figure);
            format!("{value} (from {min} to {max})")
        }
        _ => count(metric.count),
    }
}

/// The script's expectations of responses; failed ones with the first example.
fn expectations(page: &mut Page, run: &Summary) {
    let all = &run.expectations;
    if all.kinds.is_empty() {
        return;
    }
    page.blank();
    let tone = if all.failed == 0 { Tone::Good } else { Tone::Bad };
    let expected = counted(all.ok + all.failed, "expectation");
    page.entry("expect", tone, &format!("{} of {expected} met", count(all.ok)));
    for (kind, expected) in all.kinds.iter().filter(|(_, expected)| expected.failed > 0).take(10) {
        page.more(&format!("{kind}: {} not met; {}", count(expected.failed), expected.example));
    }
}

fn traffic(page: &mut Page, run: &Summary) {
    let traffic = &run.traffic;
    // A rate of less than a second would be a guess.
    let rate = |n: u64| match run.duration_s {
        seconds if seconds >= 1.0 => format!(" ({}/s)", figure(n as f64 / seconds)),
        _ => String::new(),
    };
    let [out, back] = [Counter::MessagesSent, Counter::MessagesReceived].map(|counter| traffic[counter]);
    let requests = traffic[Counter::HttpRequests];
    if out + back + requests > 0 {
        page.blank();
    }
    if out + back > 0 {
        let [sent, received] =
            [Counter::BytesSent, Counter::BytesReceived].map(|counter| bytes(traffic[counter]));
        let messages = format!("{} out{} · {} in{}", count(out), rate(out), count(back), rate(back));
        page.entry("messages", Tone::Faint, &format!("{messages} · {sent} out, {received} in"));
    }
    if requests > 0 {
        let all: u64 = run.http_codes.values().sum();
        let codes = run.http_codes.iter().map(|(code, n)| match code {
            // A few errors among many answers are overlooked without their share.
            400.. if *n < all => format!("{code}: {} ({})", count(*n), share(*n, all)),
            _ => format!("{code}: {}", count(*n)),
        });
        let codes: Vec<_> = codes.collect();
        let codes = if codes.is_empty() { "no response".to_string() } else { codes.join(", ") };
        let (sent, rate) = (counted(requests, "request"), rate(requests));
        let received = bytes(traffic[Counter::HttpBytesReceived]);
        page.entry("http", Tone::Faint, &format!("{sent}{rate} · {codes} · {received} in"));
    }
}

fn apdex(page: &mut Page, run: &Summary) {
    let Some(apdex) = &run.plugins.apdex else { return };
    let Some((score, ranking)) = apdex.score.zip(apdex.ranking()) else { return };
    let [satisfied, tolerated, slower] = [apdex.satisfied, apdex.tolerated, apdex.frustrated].map(count);
    let [limit, four_times] = [apdex.threshold_ms, 4.0 * apdex.threshold_ms].map(milliseconds);
    let served = format!("{satisfied} within {limit}, {tolerated} within {four_times}, {slower} slower");
    page.entry("apdex", Tone::Faint, &format!("{score:.2} ({ranking}) · {served}"));
}

type Column = (&'static str, fn(&Quantiles) -> f64);
/// Columns of the latency table.
const QUANTILES: [Column; 6] = [
    ("p50", |q| q.p50),
    ("p90", |q| q.p90),
    ("p95", |q| q.p95),
    ("p99", |q| q.p99),
    ("p99.9", |q| q.p999),
    ("max", |q| q.max),
];
/// At least: a longer count makes the column wider.
const COUNT_COLUMN: usize = 10;
const QUANTILE_COLUMN: usize = 7;
const LATENCY_TITLE: &str = "latency (ms)";

fn latency(page: &mut Page, run: &Summary) {
    let delivered = run.delivery.iter().flat_map(|d| {
        [("end to end (delivery)", &d.latency_ms), ("end to end (replayed)", &d.replay_latency_ms)]
    });
    let operations = run.operations.iter().map(|o| (o.name.as_str(), &o.response_ms));
    let timed = delivered.chain(operations).filter(|(_, quantiles)| quantiles.count > 0);
    let rows: Vec<_> = timed.map(|(name, quantiles)| (tame(name), quantiles)).collect();
    if rows.is_empty() {
        return;
    }
    page.blank();
    let longest_count = rows.iter().map(|(_, quantiles)| count(quantiles.count).len()).max().unwrap_or(0);
    let count_column = COUNT_COLUMN.max(longest_count + 1);
    let room = page.width() - count_column - QUANTILES.len() * QUANTILE_COLUMN;
    let longest = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
    let name_column = longest.max(LATENCY_TITLE.len()).min(room);
    let title = fitting(page, LATENCY_TITLE, name_column, Tone::Faint);
    let mut head = format!("{}{:>count_column$}", padded(title, name_column), "count");
    for (title, _) in QUANTILES {
        head.push_str(&format!("{title:>QUANTILE_COLUMN$}"));
    }
    page.line(&head, Tone::Faint);
    for (name, quantiles) in rows.iter().take(OPERATIONS_SHOWN) {
        let name = fitting(page, name, name_column, Tone::Plain);
        let mut row = format!("{}{:>count_column$}", padded(name, name_column), count(quantiles.count));
        for (_, of) in QUANTILES {
            row.push_str(&format!("{:>QUANTILE_COLUMN$}", cell(of(quantiles))));
        }
        page.line(&row, Tone::Plain);
    }
    if let Some(more) = rows.len().checked_sub(OPERATIONS_SHOWN).filter(|n| *n > 0) {
        let more = counted(more as u64, "operation");
        page.line(&format!("… and {more} more, in the run folder"), Tone::Faint);
    }
}

/// A name that fits its column; of one that does not, nothing, for it has a line of its own above.
fn fitting<'n>(page: &mut Page, name: &'n str, column: usize, tone: Tone) -> &'n str {
    if columns(name) <= column {
        return name;
    }
    page.line(name, tone);
    ""
}

/// A figure of at most six characters: from 100 s on, thousands of milliseconds.
fn cell(ms: f64) -> String {
    if ms < 99_999.5 { figure(ms) } else { short(ms as u64) }
}

fn thresholds(page: &mut Page, run: &Summary) {
    if run.thresholds.is_empty() {
        return;
    }
    page.blank();
    let held = run.thresholds.iter().filter(|threshold| threshold.held).count();
    page.entry("thresholds", Tone::Faint, &format!("{held} of {} passed", run.thresholds.len()));
    for threshold in &run.thresholds {
        let (mark, tone) = match (threshold.held, threshold.strict) {
            (true, _) => ("passed", Tone::Good),
            (false, true) => ("FAILED", Tone::Bad),
            (false, false) => ("missed", Tone::Doubtful),
        };
        let Judged { expression, evidence, .. } = threshold;
        let seen = if evidence.is_empty() { String::new() } else { format!("  ({evidence})") };
        page.entry(&format!("    {mark}"), tone, &format!("{expression}{seen}"));
    }
}

fn errors(page: &mut Page, errors: &[ErrorSummary]) {
    if errors.is_empty() {
        return;
    }
    let total: u64 = errors.iter().map(|error| error.count).sum();
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
    page.blank();
    page.entry("errors", Tone::Bad, &counted(total, "error"));
    for error in errors.iter().take(ERRORS_SHOWN) {
        let place = error.operation.as_deref().map(|name| format!(" in {name}")).unwrap_or_default();
        let told = format!("{}{place}, first at {}", error.code, duration(error.first_at_s));
        page.entry(&format!("{:>10}", count(error.count)), Tone::Plain, &told);
        if !error.example.is_empty() {
            page.more(&format!("e.g. {}", error.example));
        }
    }
    if let Some(more) = errors.len().checked_sub(ERRORS_SHOWN).filter(|n| *n > 0) {
        page.more(&format!("… and {} more, in the run folder", counted(more as u64, "class")));
    }
}

fn generator(page: &mut Page, generator: &Generator) {
    let (state, tone) = match (generator.state, generator.cause) {
        (Health::Ok, _) => ("ok", Tone::Faint),
        (Health::Warn, Some(Cause::Starved)) => ("warning (starved)", Tone::Doubtful),
        (Health::Warn, _) => ("warning", Tone::Doubtful),
        (Health::Invalid, Some(Cause::Starved)) => ("starved", Tone::Doubtful),
        (Health::Invalid, Some(Cause::Overloaded)) => ("overloaded", Tone::Doubtful),
        (Health::Invalid, Some(Cause::Exhausted)) => ("exhausted", Tone::Doubtful),
        (Health::Invalid, _) => ("fell behind", Tone::Doubtful),
    };
    let mut parts = vec![state.to_string()];
    if generator.send_lag_ms.count > 0 {
        parts.push(format!("scheduling delay p99 {}", milliseconds(generator.send_lag_ms.p99)));
    }
    parts.push(format!("busiest core {}", percent(generator.busiest_core)));
    parts.push(format!("{} CPU", duration(generator.cpu_s)));
    parts.push(format!("{} MB resident", figure(generator.resident_peak_mb)));
    if generator.open_files_limit > 0 {
        let [peak, limit] = [generator.open_files_peak, generator.open_files_limit].map(count);
        parts.push(format!("{peak}/{limit} file descriptors"));
    }
    parts.push(counted(generator.shards as u64, "shard"));
    page.entry("generator", tone, &items(&parts));
    for finding in &generator.findings {
        page.more(finding);
    }
}

fn service(page: &mut Page, service: &Service) {
    let mut parts = vec![
        format!("{} CPU", duration(service.cpu_s)),
        format!("peak {} of {} busy", figure(service.busiest_cores), counted(service.workers, "worker")),
        format!("{} MB resident", figure(service.resident_peak_mb)),
    ];
    if let Some(how) = &service.ended {
        parts.insert(0, format!("ended during the run: {how}"));
    }
    if service.is_saturated() {
        parts.push(format!("saturated for {}", counted(service.full_s, "second")));
    }
    if service.memory_kills > 0 {
        parts.push(format!("{} killed by its memory limit", count(service.memory_kills)));
    }
    let tone = if service.failure().is_some() { Tone::Bad } else { Tone::Faint };
    page.entry("service", tone, &items(&parts));
    if service.is_machine_saturated() {
        let (seconds, cores) = (counted(service.machine_full_s, "second"), service.machine_cores);
        page.more(&format!(
            "generator and service together filled the machine's {cores} cores for {seconds}"
        ));
    }
}

/// A line per run, for the end of several: verdict, name, share delivered, p99 end to end.
pub fn verdicts(runs: &[Summary], width: usize, colour: bool) -> String {
    let mut page = Page::new(width, colour);
    for run in runs {
        let mut parts = vec![run.name.clone()];
        if let Some(delivery) = &run.delivery {
            parts.push(match delivery.counts.owed {
                0 => "nothing owed".to_owned(),
                owed => format!("{} of {} delivered", percent(delivery.ratio), count(owed)),
            });
            if delivery.latency_ms.count > 0 {
                parts.push(format!("p99 {}", milliseconds(delivery.latency_ms.p99)));
            }
        }
        let outcome = outcome(run);
        page.entry(outcome.word, outcome.tone, &items(&parts));
    }
    page.finish()
}
