//! The table on a terminal: as many tables below each other as the page is too narrow for one.

use super::{Figures, Matrix, Run};
use crate::figures::{count, figure, percent, short};
use crate::page::{Page, Tone, columns, cut, padded};

/// Narrowest and widest column of labels.
const LABEL: std::ops::RangeInclusive<usize> = 8..=24;

/// A column: its title, its width (the blank before it included), its cell.
pub(super) struct Column {
    pub(super) title: &'static str,
    width: usize,
    pub(super) cell: fn(&Figures) -> String,
}

const fn column(title: &'static str, width: usize, cell: fn(&Figures) -> String) -> Column {
    Column { title, width, cell }
}

/// All of them, in order.
pub(super) const COLUMNS: [Column; 14] = [
    column("held/wanted", 14, held),
    column("conn avg", 9, |f| ms(f.connect_mean_ms)),
    column("conn p95", 9, |f| ms(f.connect_p95_ms)),
    column("ops/s", 7, |f| rate(f.operations_per_s)),
    column("msgs/s", 7, |f| f.messages_per_s.map_or_else(none, rate)),
    column("delivered", 11, |f| f.delivery_ratio.map_or_else(none, percent)),
    column("fails", 7, |f| short(f.failures)),
    column("e2e p50", 8, |f| ms(f.end_to_end_p50_ms)),
    column("e2e p95", 8, |f| ms(f.end_to_end_p95_ms)),
    column("e2e p99", 8, |f| ms(f.end_to_end_p99_ms)),
    column("replayed", 10, |f| short(f.replayed)),
    column("B/copy", 8, |f| f.bytes_per_copy.map_or_else(none, figure)),
    column("CPU s", 8, |f| f.service_cpu_s.map_or_else(none, figure)),
    column("MB", 7, |f| f.service_peak_mb.map_or_else(none, figure)),
];

/// Beneath the table, so that no figure is without its unit.
pub(super) const LEGEND: &str = "Times in ms: until a user is connected (conn), and planned send to receipt (e2e). \
    held: most users connected at one time. msgs/s: copies that arrived. B/copy: all bytes received over the copies \
    that arrived. CPU s and MB: the service's. fails: failures of all kinds.";

/// Draws it.
pub(super) fn draw(page: &mut Page, matrix: &Matrix) {
    let rows: Vec<(String, bool, Option<Figures>)> = matrix.runs.iter().map(row).collect();
    let longest = rows.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
    let title = matrix.axes.join(" ");
    let room = longest.max(columns(&title)).clamp(*LABEL.start(), *LABEL.end());
    let mut rest = &COLUMNS[..];
    while !rest.is_empty() {
        let fitting = fitting(rest, page.width() - room);
        let (now, later) = rest.split_at(fitting);
        rest = later;
        page.blank();
        let mut head = padded(&cut(&title, room), room);
        now.iter().for_each(|column| head.push_str(&format!("{:>1$}", column.title, column.width)));
        page.line(&head, Tone::Faint);
        for (label, held, figures) in &rows {
            let mut line = padded(&cut(label, room), room);
            for column in now {
                let cell = figures.as_ref().map_or_else(none, column.cell);
                line.push_str(&format!("{cell:>0$}", column.width));
            }
            page.line(&line, if *held { Tone::Plain } else { Tone::Bad });
        }
    }
    page.blank();
    page.entry("", Tone::Plain, LEGEND);
}

fn row(run: &Run) -> (String, bool, Option<Figures>) {
    (run.label(), run.held(), run.summary.as_ref().map(Figures::of))
}

/// How many of the columns fit; at least one.
fn fitting(columns: &[Column], room: usize) -> usize {
    let mut used = 0;
    let fit = columns.iter().take_while(|column| {
        used += column.width;
        used <= room
    });
    fit.count().max(1)
}

fn held(figures: &Figures) -> String {
    match figures.users_wanted {
        Some(wanted) => format!("{}/{}", count(figures.users_held), count(wanted)),
        None => count(figures.users_held),
    }
}

fn ms(ms: Option<f64>) -> String {
    ms.map_or_else(none, rate)
}

/// In at most five characters or so: `12.3k`.
fn rate(n: f64) -> String {
    if n < 9_999.5 { figure(n) } else { short(n as u64) }
}

fn none() -> String {
    "-".to_owned()
}
