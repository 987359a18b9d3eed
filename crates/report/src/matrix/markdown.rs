//! The table as Markdown, for a page that shows it: verdict, one wide table, legend.

use super::Matrix;
use super::rows::Row;
use super::table::{Column, held_title, legend, shown};
use crate::choice;

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
    table(&mut text, matrix);
    for part in choice::markdown(&matrix.answer.choices) {
        text.push_str(&part);
        text.push('\n');
    }
    for (label, sentence) in matrix.remarks() {
        text.push_str(&format!("- {label}: {}\n", escaped(&sentence)));
    }
    if !matrix.remarks().is_empty() {
        text.push('\n');
    }
    let on =
        if matrix.machine.is_empty() { String::new() } else { format!(" on {}", escaped(&matrix.machine)) };
    let (name, version, started) =
        (escaped(&matrix.name), escaped(&matrix.version), escaped(&matrix.started));
    text.push_str(&format!("Measured: {name}, Sonagi {version}, {started}, both sides{on}.\n"));
    text
}

/// The table, and what its columns are.
fn table(text: &mut String, matrix: &Matrix) {
    let rows = matrix.rows();
    let columns = shown(&rows);
    let held = held_title(matrix).map(|(title, _)| title.to_owned());
    let titles = columns.iter().map(|column| column.title.to_owned());
    let numbers = columns.len() + usize::from(held.is_some());
    line(text, matrix.axes.iter().map(|axis| escaped(axis)).chain(held).chain(titles));
    text.push_str(&"|---".repeat(matrix.axes.len()));
    text.push_str(&"|---:".repeat(numbers));
    text.push_str("|\n");
    rows.iter().for_each(|of| row(text, matrix, of, &columns));
    text.push_str(&format!("\n{}\n\n", legend(matrix, &columns)));
}

fn row(text: &mut String, matrix: &Matrix, row: &Row<'_>, columns: &[&Column]) {
    let axes = matrix.axes.iter().map(|axis| row.combination.get(axis).map(super::value).unwrap_or_default());
    let axes = axes.map(|value| escaped(&value));
    line(text, axes.chain(row.held_of()).chain(columns.iter().map(|column| row.cell(column))));
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
