//! The table as Markdown, for a page that shows it: verdict, one wide table, legend.

use super::table::{COLUMNS, LEGEND};
use super::{Figures, Matrix, Run};

/// The matrix as a piece of a Markdown page. Ends with a newline.
pub fn markdown(matrix: &Matrix) -> String {
    let (headline, others) = matrix.verdict();
    let mut text = format!("**{}**\n", escaped(&headline));
    if !others.is_empty() {
        text.push('\n');
    }
    for why in &others {
        text.push_str(&format!("- {}\n", escaped(why)));
    }
    text.push('\n');
    let titles = COLUMNS.iter().map(|column| column.title.to_owned());
    line(&mut text, matrix.axes.iter().map(|axis| escaped(axis)).chain(titles));
    text.push_str(&"|---".repeat(matrix.axes.len()));
    text.push_str(&"|---:".repeat(COLUMNS.len()));
    text.push_str("|\n");
    for run in &matrix.runs {
        row(&mut text, matrix, run);
    }
    text.push_str(&format!("\n{LEGEND}\n\n"));
    let on =
        if matrix.machine.is_empty() { String::new() } else { format!(" on {}", escaped(&matrix.machine)) };
    let (name, version, started) =
        (escaped(&matrix.name), escaped(&matrix.version), escaped(&matrix.started));
    text.push_str(&format!("Measured: {name}, Sonagi {version}, {started}, both sides{on}.\n"));
    text
}

fn row(text: &mut String, matrix: &Matrix, run: &Run) {
    let figures = run.summary.as_ref().map(Figures::of);
    let axes = matrix.axes.iter().map(|axis| run.combination.get(axis).map(super::value).unwrap_or_default());
    let axes = axes.map(|value| escaped(&value));
    let cells = COLUMNS.iter().map(|column| figures.as_ref().map_or_else(|| "-".to_owned(), column.cell));
    line(text, axes.chain(cells));
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        text.push_str(&format!("| {cell} "));
    }
    text.push_str("|\n");
}

/// Escapes a value or a target's text, which must not become markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '[' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
