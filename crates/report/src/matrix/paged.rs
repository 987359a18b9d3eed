//! What the page of a matrix shows: all that the terminal prints, in parts that a page can lay out.

use super::rows::Row;
use super::table::{Column, held_title, legend, shown};
use super::{Matrix, Run, bounded};
use crate::choice;
use crate::comparison::labelled;
use serde_json::{Value, json};
use sonagi_verdict::compare::Choice;
use std::path::Path;

impl Matrix {
    /// The matrix for the page, figures and words as [`Matrix::console`] prints them; each row has its runs, by the
    /// names of their folders.
    pub fn page(&self) -> Value {
        let (headline, others) = self.verdict();
        let rows = self.rows();
        let columns = shown(&rows);
        let titles = columns.iter().map(|column| column.title);
        let held = held_title(self).map(|(title, _)| title);
        json!({
            "name": self.name,
            "started": self.started,
            "sonagi": self.version,
            "machine": self.machine,
            "command": self.command,
            "verdict": {
                "held": self.all_held(),
                "asks_for_users": self.asks_for_users(),
                "headline": headline,
                "others": bounded(others, "run"),
            },
            "remarks": labelled(self.remarks()),
            "choices": self.answer.choices.iter().map(chosen).collect::<Vec<_>>(),
            "table": {
                "axes": self.axes,
                "columns": held.into_iter().chain(titles).collect::<Vec<_>>(),
                "legend": legend(self, &columns),
                "rows": rows.iter().map(|row| self.paged(row, &columns)).collect::<Vec<_>>(),
            },
        })
    }

    fn paged(&self, row: &Row<'_>, columns: &[&Column]) -> Value {
        let axes =
            self.axes.iter().map(|axis| row.combination.get(axis).map(super::value).unwrap_or_default());
        let cells = columns.iter().map(|column| row.cell(column));
        let runs = self.compared().filter(|run| run.combination == *row.combination);
        json!({
            "held": row.is_held,
            "values": axes.collect::<Vec<_>>(),
            "cells": row.held_of().into_iter().chain(cells).collect::<Vec<_>>(),
            "runs": runs.map(told).collect::<Vec<_>>(),
        })
    }
}

/// A choice with what is said of it.
fn chosen(choice: &Choice) -> Value {
    let mut value = json!(choice);
    value["headline"] = json!(choice::headline(choice));
    value["remarks"] = labelled(choice::sentences(choice));
    value
}

/// A run in a word, with the name of its folder if it has one.
fn told(run: &Run) -> Value {
    let summary = run.summary.as_ref();
    let folder = summary.and_then(|summary| Path::new(summary.run_folder.as_deref()?).file_name());
    json!({
        "round": run.round,
        "held": run.held(),
        "word": summary.map(|summary| summary.verdict.result.word()),
        "folder": folder.map(|name| name.to_string_lossy()),
    })
}
