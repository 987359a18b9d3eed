//! What the page of a search shows: all that the terminal prints, and its trials one by one for a chart.

use super::{Capacity, TrialRow, time};
use serde_json::{Value, json};

impl Capacity {
    /// The search for the page, figures and words as [`Capacity::console`] prints them. One without an end goes on, or
    /// was cut off.
    pub fn page(&self, goes_on: bool) -> Value {
        let is_over = self.end.is_some() || !goes_on;
        let mood = if is_over { self.tone().mood() } else { "running" };
        let delivers = self.delivers();
        let rows = self.loads().into_iter().map(|load| {
            let rows = self.trials_at(load);
            let (cells, verdict) = (self.cells(&rows, delivers), self.judged(load, &rows));
            json!({ "load": self.load(load), "cells": cells, "verdict": verdict })
        });
        let load_of = |bound: Option<u64>| bound.map(|load| json!({ "load": load, "name": self.load(load) }));
        json!({
            "name": self.name,
            "started": self.started,
            "sonagi": self.version,
            "command": self.command,
            "varied": self.varied,
            "until": self.until,
            "is_over": is_over,
            "mood": mood,
            "verdict": self.verdict(),
            "beside": self.beside(),
            "known": self.known(),
            "lower": load_of(self.found.lower.as_ref().map(|bound| bound.load)),
            "upper": load_of(self.found.upper.as_ref().map(|bound| bound.load)),
            "columns": super::heads(delivers).collect::<Vec<_>>(),
            "rows": rows.collect::<Vec<_>>(),
            "trials": self.trials.iter().map(|row| self.trial(row)).collect::<Vec<_>>(),
            "recovered": self.recovered(),
            "budget": self.budget(),
        })
    }

    fn trial(&self, row: &TrialRow) -> Value {
        json!({
            "load": row.trial.load,
            "name": self.load(row.trial.load),
            "length": time(row.trial.seconds),
            "outcome": row.trial.outcome,
            "p50_ms": row.p50_ms,
            "p99_ms": row.p99_ms,
            "delivered": row.delivered,
            "evidence": row.evidence,
            "folder": row.folder,
        })
    }
}
