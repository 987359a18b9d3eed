//! The table on a terminal: as many tables below each other as the page is too narrow for one.

use super::rows::Row;
use super::{Figures, Matrix};
use crate::figures::{count, figure, percent, short};
use crate::page::{Page, Tone, columns, cut, padded};

/// Narrowest and widest column of labels.
const LABEL: std::ops::RangeInclusive<usize> = 8..=24;

/// A column: its title, its width (the blank before it included), its cell.
pub(super) struct Column {
    pub(super) title: &'static str,
    width: usize,
    cell: fn(&Figures) -> String,
}

const fn column(title: &'static str, width: usize, cell: fn(&Figures) -> String) -> Column {
    Column { title, width, cell }
}

/// All there are, in order.
const COLUMNS: [Column; 17] = [
    column("held/wanted", 14, held),
    column("conn avg", 9, |f| ms(f.connect_mean_ms)),
    column("conn p95", 9, |f| ms(f.connect_p95_ms)),
    column("ops/s", 7, |f| rate(f.operations_per_s)),
    column("msgs/s", 7, |f| f.messages_per_s.map_or_else(none, rate)),
    column("delivered", 11, |f| f.delivery_ratio.map_or_else(none, percent)),
    column("fails", 7, |f| short(f.failures)),
    column("http p50", 9, |f| ms(f.http_p50_ms.filter(|_| f.is_http_alone()))),
    column("http p99", 9, |f| ms(f.http_p99_ms.filter(|_| f.is_http_alone()))),
    column("4xx/5xx", 8, |f| f.http_error_ratio.filter(|_| f.is_http_alone()).map_or_else(none, percent)),
    column("e2e p50", 8, |f| ms(f.end_to_end_p50_ms)),
    column("e2e p95", 8, |f| ms(f.end_to_end_p95_ms)),
    column("e2e p99", 8, |f| ms(f.end_to_end_p99_ms)),
    column("replayed", 10, |f| f.messages_per_s.map_or_else(none, |_| short(f.replayed))),
    column("B/copy", 8, |f| f.bytes_per_copy.map_or_else(none, figure)),
    column("CPU s", 8, |f| f.service_cpu_s.map_or_else(none, figure)),
    column("MB", 7, |f| f.service_peak_mb.map_or_else(none, figure)),
];

/// The first where no number of users was asked for.
const USERS: Column = column("most users", 12, |f| count(f.users_held));

/// And beneath one of repeated runs.
const MEDIANS: &str = "Figures are medians over the runs that say something of the target.";

/// Beneath the table, so that no figure is without its unit: for the columns that have one of these titles.
const LEGEND: [(&str, &str); 9] = [
    ("held/wanted", "held/wanted: most users connected at one time."),
    ("most users", "most users: at one time; of a run that connects any, those connected."),
    ("conn avg", "conn: until a user is connected."),
    ("msgs/s", "msgs/s: copies that arrived."),
    ("fails", "fails: failures of all kinds."),
    ("http p50", "http: planned request to answer. 4xx/5xx: share of answers with such a status."),
    ("e2e p50", "e2e: planned send to receipt."),
    ("B/copy", "B/copy: all bytes received over the copies that arrived."),
    ("CPU s", "CPU s and MB: the service's."),
];

/// The width of the column of repeated runs.
const HELD_WIDTH: usize = 9;

/// The title of the column of repeated runs, and what it is.
pub(super) fn held_title(matrix: &Matrix) -> Option<(&'static str, &'static str)> {
    matrix.is_repeated().then(|| match matrix.asks_for_users() {
        true => ("held", "held: runs that sustained all their users, of those made."),
        false => ("passed", "passed: runs that passed and lost nothing, of those made."),
    })
}

/// The first, and those that have a figure in any of the rows.
pub(super) fn shown(rows: &[Row<'_>]) -> Vec<&'static Column> {
    let is_filled = |column: &&Column| rows.iter().any(|row| row.cell(column) != NONE);
    let [held, others @ ..] = &COLUMNS;
    let wanted = |row: &Row<'_>| row.figures.as_ref().and_then(|figures| figures.users_wanted);
    let first = if rows.iter().any(|row| wanted(row).is_some()) { held } else { &USERS };
    std::iter::once(first).chain(others.iter().filter(is_filled)).collect()
}

/// Draws it.
pub(super) fn draw(page: &mut Page, matrix: &Matrix) {
    let rows = matrix.rows();
    let labels: Vec<String> = rows.iter().map(|row| label(row, matrix)).collect();
    let longest = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
    let title = matrix.axes.join(" ");
    let room = longest.max(columns(&title)).clamp(*LABEL.start(), *LABEL.end());
    let held_title = held_title(matrix).map(|(title, _)| title);
    let held = if held_title.is_some() { HELD_WIDTH } else { 0 };
    let all = shown(&rows);
    let mut rest = &all[..];
    while !rest.is_empty() {
        let fitting = fitting(rest, page.width() - room - held);
        let (now, later) = rest.split_at(fitting);
        rest = later;
        page.blank();
        let mut head = padded(&cut(&title, room), room);
        head.push_str(&held_title.map(|title| format!("{title:>held$}")).unwrap_or_default());
        now.iter().for_each(|column| head.push_str(&format!("{:>1$}", column.title, column.width)));
        page.line(&head, Tone::Faint);
        for (row, label) in rows.iter().zip(&labels) {
            let mut line = padded(&cut(label, room), room);
            line.push_str(&row.held_of().map(|of| format!("{of:>held$}")).unwrap_or_default());
            for column in now {
                line.push_str(&format!("{:>1$}", row.cell(column), column.width));
            }
            page.line(&line, if row.is_held { Tone::Plain } else { Tone::Bad });
        }
    }
    page.blank();
    page.entry("", Tone::Plain, &legend(matrix, &all));
}

/// What the columns are.
pub(super) fn legend(matrix: &Matrix, columns: &[&Column]) -> String {
    let is_shown = |title: &str| columns.iter().any(|column| column.title == title);
    let of_columns = LEGEND.iter().filter(|(title, _)| is_shown(title)).map(|(_, sentence)| *sentence);
    let of_runs = held_title(matrix).into_iter().flat_map(|(_, sentence)| [sentence, MEDIANS]);
    std::iter::once("Times in ms.").chain(of_columns).chain(of_runs).collect::<Vec<_>>().join(" ")
}

/// A script without a matrix has one row, by its name.
fn label(row: &Row<'_>, matrix: &Matrix) -> String {
    if row.combination.is_empty() { matrix.name.clone() } else { super::label(row.combination) }
}

impl Row<'_> {
    /// `4 of 5`, of repeated runs.
    pub(super) fn held_of(&self) -> Option<String> {
        self.held.map(|(held, of)| format!("{held} of {of}"))
    }

    pub(super) fn cell(&self, column: &Column) -> String {
        self.figures.as_ref().map_or_else(none, column.cell)
    }
}

/// How many of the columns fit; at least one.
fn fitting(columns: &[&Column], room: usize) -> usize {
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

/// In a cell: not measured.
const NONE: &str = "-";

fn none() -> String {
    NONE.to_owned()
}
