//! A search's folder: the folders of its trials, and the document beside them, written anew after each trial.

use super::preflight::limited;
use crate::capacity_folder::DOCUMENT;
use crate::error::Error;
use crate::{matrix_folder, runs};
use sonagi_measure::summary::Cause;
use sonagi_report::Capacity;
use sonagi_report::capacity::TrialRow;
use sonagi_verdict::capacity::{End, Outcome, Search};
use std::path::{Path, PathBuf};

/// A search as far as it has got, and where it is stored.
pub(crate) struct Record {
    pub(super) capacity: Capacity,
    folder: PathBuf,
}

impl Record {
    /// A record in a new folder of `runs`.
    pub(crate) fn begin(runs: &Path, capacity: Capacity) -> Result<Record, Error> {
        let name = sonagi_measure::folder::name(&capacity.started, &format!("{}-capacity", capacity.name));
        let folder = runs::reserve(runs, &name)?;
        let record = Record { capacity, folder: folder.path().to_owned() };
        // Before the first trial: its page can be opened at once.
        record.write()?;
        Ok(record)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The next trial's folder in it: by number, so that they are in order.
    pub(super) fn name_of_trial(&self, load: u64) -> String {
        format!("{:03}-{load}", self.capacity.trials.len() + 1)
    }

    /// Takes in what the search knows by now.
    pub(super) fn update(&mut self, search: &Search, used_s: f64) -> Result<(), Error> {
        let capacity = &mut self.capacity;
        capacity.found = search.bounds();
        capacity.used_s = used_s;
        for (row, trial) in capacity.trials.iter_mut().zip(search.trials()) {
            row.is_full = search.is_full(trial);
        }
        self.write()
    }

    /// The search is over. `behind` is why the generator fell behind in the last trial in which it did.
    pub(super) fn end(
        &mut self,
        end: End,
        trouble: Option<String>,
        behind: Option<Cause>,
    ) -> Result<(), Error> {
        let (end, limit) = match &self.capacity.preflight {
            Some(preflight) => limited(preflight, end, behind),
            None => (end, None),
        };
        self.capacity.end = Some(end);
        self.capacity.generator_limit = limit;
        self.capacity.trouble = trouble;
        self.capacity = self.capacity.clone().advised();
        self.capacity.limited_by = self.cause();
        self.write()
    }

    pub(super) fn enter(&mut self, row: TrialRow) {
        self.capacity.trials.push(row);
    }

    /// What broke first in the lowest trial that failed.
    fn cause(&self) -> Option<String> {
        let found = &self.capacity.found;
        let load = found.upper.as_ref().map(|bound| bound.load).or(found.missed)?;
        let is_failed = |row: &&TrialRow| row.trial.load == load && row.trial.outcome == Outcome::Missed;
        let failed = self.capacity.trials.iter().filter(is_failed);
        let folder = failed.filter_map(|row| row.folder.as_ref()).next_back()?;
        let diagnosis = crate::commands::explain::explained(&self.folder.join(folder)).ok()?;
        Some(diagnosis.findings.first()?.title.clone())
    }

    fn write(&self) -> Result<(), Error> {
        let path = self.folder.join(DOCUMENT);
        matrix_folder::replace(&path, &self.capacity.document())
            .map_err(|error| Error::file("write", &path, error))
    }

    pub(crate) fn into_capacity(self) -> Capacity {
        self.capacity
    }
}
