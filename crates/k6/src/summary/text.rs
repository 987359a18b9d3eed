//! The summary as text.
//!
//! A part (the whole test, a scenario, a group) is a block of check counts, the list of checks, and its metrics in
//! sections; each block ends with an empty line. Within a part, names have one width, each statistic of trends has one,
//! and each figure of others.

use super::figures::{self, percent};
use super::{Check, Measured, Part, Summary, TimeUnit, delivery};
use crate::metrics::{self, Kind, builtin};
use sonagi_measure::verdict::{Delivered, all_arrived, nothing_owed};

/// A section's title, and whose it is.
type Section = (&'static str, fn(&str) -> bool);

/// Sections in k6's order; a metric is in the first that takes it, and the script's own come first of all.
const SECTIONS: [Section; 7] = [
    ("HTTP", |name| http().any(|known| known == name)),
    ("EXECUTION", |name| EXECUTION.contains(&name) || name.starts_with("vus")),
    ("NETWORK", |name| matches!(name, "data_sent" | "data_received")),
    ("BROWSER", |name| name.starts_with("browser_") && !name.starts_with(WEB_VITAL)),
    ("WEB_VITALS", |name| name.starts_with(WEB_VITAL)),
    ("GRPC", |name| name.starts_with("grpc_")),
    ("WEBSOCKET", |name| name.starts_with("ws_")),
];
const WEB_VITAL: &str = "browser_web_vital_";
const EXECUTION: [&str; 3] = ["iterations", "iteration_duration", "dropped_iterations"];
/// The first of [`http`] are shown when not everything is: the parts of a request's time come behind them.
const COMPACT_HTTP: usize = 3;

const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";
const WHITE: &str = "37";
const FAINT_CYAN: &str = "2;36";
const FAINT_WHITE: &str = "2;37";

impl Summary {
    /// The text k6 prints, with ANSI colours or without.
    pub fn text(&self, color: bool) -> String {
        let facts = &self.facts;
        let mut page = Page {
            text: String::from("\n"),
            color,
            unit: facts.time_unit,
            full: facts.full,
            elapsed: facts.elapsed.as_secs_f64(),
        };
        page.overload(&facts.overload, &facts.advice);
        page.outputs(self.missing_in_outputs());
        page.delivery(self);
        page.thresholds(&self.total.metrics);
        let whole = Part { groups: Vec::new(), ..self.total.clone() };
        for part in std::iter::once(&whole).chain(&self.total.groups).chain(&self.scenarios) {
            page.title(&part.title);
            page.part(part, 4);
        }
        page.text.push_str("\n\n");
        page.text
    }
}

struct Page {
    text: String,
    color: bool,
    unit: Option<TimeUnit>,
    full: bool,
    elapsed: f64,
}

/// The figures after a metric's name: each statistic of a trend, or a value and what else is said.
struct Figures {
    is_trend: bool,
    cells: Vec<Cell>,
}

/// A figure, and what stands before it.
struct Cell {
    label: String,
    color: &'static str,
    text: String,
}

impl Figures {
    fn other(value: String, extra: impl IntoIterator<Item = String>) -> Figures {
        let cell = |color, text| Cell { label: String::new(), color, text };
        let extra = extra.into_iter().map(|extra| cell(FAINT_CYAN, extra));
        Figures { is_trend: false, cells: std::iter::once(cell(CYAN, value)).chain(extra).collect() }
    }
}

impl Page {
    fn paint(&self, color: &str, text: &str) -> String {
        if self.color { format!("\x1b[{color}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn painted(&mut self, indent: usize, color: &str, text: &str) {
        let line = self.paint(color, text);
        self.line(indent, &line);
    }

    fn title(&mut self, title: &str) {
        let title = self.paint(BOLD, title);
        self.text.push('\n');
        self.line(2, &format!("█ {title} \n"));
    }

    /// Why the figures are worth nothing, where they are not.
    fn overload(&mut self, findings: &[String], advice: &str) {
        if findings.is_empty() {
            return;
        }
        self.title("GENERATOR");
        for finding in findings {
            self.painted(4, RED, &format!("✗ {finding}"));
        }
        self.line(6, advice);
        self.text.push('\n');
    }

    /// What outputs lack, where they lack something.
    fn outputs(&mut self, missing: Option<String>) {
        let Some(missing) = missing else { return };
        self.title("OUTPUTS");
        self.painted(4, RED, &format!("✗ {missing}"));
        self.text.push('\n');
    }

    /// The fate of stamped messages, said before all else: only a threshold makes it a failure.
    fn delivery(&mut self, summary: &Summary) {
        let mut own: Vec<&Measured> = delivery::metrics(&summary.total.metrics).collect();
        if own.is_empty() && summary.facts.drawn == 0 {
            return;
        }
        self.title("DELIVERY");
        let Delivered { faults, hints } = delivery::said(summary);
        let counts = delivery::counted(summary);
        if let Some(praise) = all_arrived(&counts) {
            self.painted(4, GREEN, &format!("✓ {praise}"));
        }
        if let Some(why) = nothing_owed(&counts) {
            self.line(4, &format!("• {why}"));
            // A share of nothing is no figure.
            own.retain(|one| one.kind != Kind::Rate);
        }
        for fault in faults {
            self.painted(4, RED, &format!("✗ {}", fault.reason));
        }
        for hint in hints {
            self.line(4, &format!("• {hint}"));
        }
        self.text.push('\n');
        own.sort_by_key(|one| metrics::delivery::all().position(|(name, ..)| one.name.starts_with(name)));
        let rows: Vec<(String, Figures)> =
            own.into_iter().map(|one| (shown_name(&one.name), self.figures(one))).collect();
        self.rows(&rows, 4);
    }

    fn thresholds(&mut self, metrics: &[Measured]) {
        let limited = |name: &str| metrics.iter().any(|one| one.name == name && !one.thresholds.is_empty());
        if metrics.iter().all(|one| one.thresholds.is_empty()) {
            return;
        }
        self.title("THRESHOLDS");
        for one in metrics.iter().filter(|one| !one.thresholds.is_empty()) {
            // A sub-metric stands below its metric, when that has thresholds of its own.
            let (indent, name) = match one.name.find('{').filter(|at| limited(&one.name[..*at])) {
                Some(at) => (6, &one.name[at..]),
                None => (4, one.name.as_str()),
            };
            self.line(indent, name);
            for judged in &one.thresholds {
                let mark = if judged.ok { self.paint(GREEN, "✓") } else { self.paint(RED, "✗") };
                let source = self.paint(WHITE, &format!("'{}'", judged.source.trim()));
                let seen = judged.seen.as_ref().map_or_else(String::new, |(method, value)| {
                    let value = self.figure(one, method, *value);
                    format!(" {}={}", self.paint(WHITE, method), self.paint(CYAN, &value))
                });
                self.line(indent, &format!("{mark} {source}{seen}"));
            }
            self.text.push('\n');
        }
    }

    /// The text of one value of a metric.
    fn figure(&self, one: &Measured, of: &str, value: f64) -> String {
        match (one.kind, of) {
            (Kind::Rate, _) => percent(value),
            (Kind::Trend, "count") => figures::plain(value),
            (Kind::Counter, "rate") => format!("{}/s", figures::value(value, one.unit, self.unit)),
            _ => figures::value(value, one.unit, self.unit),
        }
    }

    fn part(&mut self, part: &Part, indent: usize) {
        self.checks(part, indent);
        self.metrics(part, indent);
        for group in &part.groups {
            let title = self.paint(BOLD, &group.title);
            self.line(indent, &format!("↳ {title} \n"));
            self.part(group, indent + 2);
        }
    }

    fn checks(&mut self, part: &Part, indent: usize) {
        let Some(all) = part.metrics.iter().find(|one| one.name == "checks") else { return };
        let (passes, fails) = (all.value("passes").unwrap_or(0.0), all.value("fails").unwrap_or(0.0));
        let total = passes + fails;
        let share = |count: f64| if total == 0.0 { 0.0 } else { count / total };
        let rate = if self.elapsed == 0.0 { 0.0 } else { total / self.elapsed };
        let rows = [
            ("checks_total", figures::plain(total), format!("{}/s", figures::plain(rate))),
            ("checks_succeeded", percent(share(passes)), format!("{passes} out of {total}")),
            ("checks_failed", percent(share(fails)), format!("{fails} out of {total}")),
        ]
        .map(|(name, value, extra)| (name.to_owned(), Figures::other(value, [extra])));
        self.rows(&rows, indent);
        for check in &part.checks {
            self.check(check, indent);
        }
        self.text.push('\n');
    }

    fn check(&mut self, check: &Check, indent: usize) {
        let Check { name, passes, fails, .. } = check;
        if *fails == 0 {
            return self.painted(indent, GREEN, &format!("✓ {name}"));
        }
        self.painted(indent, RED, &format!("✗ {name}"));
        let share = passes * 100 / (passes + fails);
        // Twice as deep as the check, less two: so k6 does it.
        self.painted(2 * indent - 2, RED, &format!("↳  {share}% — ✓ {passes} / ✗ {fails}"));
    }

    fn metrics(&mut self, part: &Part, indent: usize) {
        let mut rows: Vec<(Option<usize>, (String, Figures))> = Vec::new();
        for one in &part.metrics {
            let parent = one.name.split('{').next().unwrap_or_default();
            if !self.shows(parent) {
                continue;
            }
            let section = SECTIONS.iter().position(|(_, takes)| takes(parent));
            rows.push((section, (shown_name(&one.name), self.figures(one))));
        }
        rows.sort_by_key(|(section, _)| *section);
        let widths = Widths::of(rows.iter().map(|(_, row)| row));
        for group in rows.chunk_by(|one, other| one.0 == other.0) {
            let title = group[0].0.map_or("CUSTOM", |section| SECTIONS[section].0);
            self.painted(indent, BOLD, title);
            for (_, (name, figures)) in group {
                self.row(name, figures, &widths, indent);
            }
            self.text.push('\n');
        }
    }

    fn shows(&self, name: &str) -> bool {
        let left_out = name == "checks" || name == "group_duration" || delivery::is_own(name);
        !left_out && (self.full || !http().skip(COMPACT_HTTP).any(|known| known == name))
    }

    fn figures(&self, one: &Measured) -> Figures {
        let value = |of: &str| self.figure(one, of, one.value(of).unwrap_or(0.0));
        match one.kind {
            Kind::Trend => {
                let each = |(of, value): &(String, f64)| Cell {
                    label: format!("{of}="),
                    color: CYAN,
                    text: self.figure(one, of, *value),
                };
                Figures { is_trend: true, cells: one.values.iter().map(each).collect() }
            }
            Kind::Counter => Figures::other(value("count"), [value("rate")]),
            Kind::Gauge => {
                let bounds = ["min", "max"].map(|of| format!("{of}={}", value(of)));
                Figures::other(value("value"), bounds)
            }
            Kind::Rate => {
                let (passes, fails) = (one.value("passes").unwrap_or(0.0), one.value("fails").unwrap_or(0.0));
                Figures::other(value("rate"), [format!("{passes} out of {}", passes + fails)])
            }
        }
    }

    /// A block of rows whose figures stand below each other.
    fn rows(&mut self, rows: &[(String, Figures)], indent: usize) {
        let widths = Widths::of(rows);
        for (name, figures) in rows {
            self.row(name, figures, &widths, indent);
        }
        self.text.push('\n');
    }

    fn row(&mut self, name: &str, figures: &Figures, widths: &Widths, indent: usize) {
        let dots = self.paint(FAINT_WHITE, &format!("{}:", ".".repeat(widths.name - width(name) + 3)));
        let mut line = format!("{name}{dots}");
        let columns = &widths.cells[usize::from(figures.is_trend)];
        for (at, (cell, to)) in figures.cells.iter().zip(columns).enumerate() {
            let Cell { label, color, text } = cell;
            line += &format!(" {label}{}", self.paint(color, text));
            // A single figure beside a value has nothing behind it to align with.
            if figures.is_trend || figures.cells.len() != 2 || at == 0 {
                line += &" ".repeat(to - width(text));
            }
        }
        self.line(indent, &line);
    }
}

/// The metrics of HTTP.
fn http() -> impl Iterator<Item = &'static str> {
    builtin::ALL.iter().map(|(name, ..)| *name).filter(|name| name.starts_with("http_req"))
}

/// A metric as it is, a sub-metric below it.
fn shown_name(name: &str) -> String {
    match name.split_once('{') {
        Some((_, rest)) => format!("  {{ {} }}", rest.trim_end_matches('}')),
        None => name.to_owned(),
    }
}

/// How wide columns must be.
#[derive(Default)]
struct Widths {
    name: usize,
    /// Those of trends' figures come second.
    cells: [Vec<usize>; 2],
}

impl Widths {
    fn of<'a>(rows: impl IntoIterator<Item = &'a (String, Figures)>) -> Widths {
        let mut widths = Widths::default();
        for (name, Figures { is_trend, cells }) in rows {
            widths.name = widths.name.max(width(name));
            let columns = &mut widths.cells[usize::from(*is_trend)];
            columns.resize(columns.len().max(cells.len()), 0);
            let wider = |(column, cell): (&mut usize, &Cell)| *column = width(&cell.text).max(*column);
            columns.iter_mut().zip(cells).for_each(wider);
        }
        widths
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}
