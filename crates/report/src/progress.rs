//! The live line: where a run stands, in one line that fits the terminal.
//!
//! The one decision a reader would question: a part that does not fit is dropped whole, least telling first, instead of
//! letting the line wrap (a wrapped line cannot be redrawn) or cutting a number in half.

use crate::figures::{milliseconds, short};
use crate::page::columns;
use sonagi_measure::recorder::Counter;
use sonagi_measure::totals::Snapshot;

/// Where a run stands: sums since its start, and what the last second brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Whole seconds since the run's start, this one included.
    pub second: u64,
    /// Arrivals of the whole plan; None where it does not say, as of a closed run.
    pub planned: Option<u64>,
    /// Arrivals whose user was started so far.
    pub started: u64,
    /// Users active now.
    pub users: u64,
    /// Messages and requests sent per second, over the last one.
    pub sent: u64,
    /// Messages and responses received per second, over the last one.
    pub received: u64,
    /// Copies owed that have not come yet.
    pub outstanding: u64,
    /// Copies lost so far: none before the run's end but those of users that are gone for good.
    pub lost: u64,
    /// Further copies so far of messages whose receiver already had them.
    pub duplicate: u64,
    /// Copies so far that came after a later message of the same sender.
    pub reordered: u64,
    /// Copies so far that came to somebody who was not in the room.
    pub leaked: u64,
    /// 99th percentile of the last second (ms): end to end when the script tracks delivery, else of all operations.
    /// None when nothing ended.
    pub p99_ms: Option<f64>,
    /// Errors so far.
    pub errors: u64,
    /// The run's stage.
    pub stage: Stage,
    /// How long the phases of the load take, in whole seconds, where that is known.
    pub length: Option<u64>,
}

/// The stage of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Its phases go on.
    #[default]
    Loading,
    /// The phases are over; users go on with their flows.
    Finishing,
    /// All flows are over; copies under way are waited for.
    Draining,
}

impl Line {
    /// Where the run stands after this second.
    pub fn of(snapshot: &Snapshot) -> Line {
        let (ledger, progress) = (&snapshot.ledger, &snapshot.progress);
        let so_far = |counter| progress.counters[counter];
        // The last interval of a run is a fraction: what came in it is not worth a rate of thousands.
        let seconds = (snapshot.interval_ns as f64 / 1e9).max(1.0);
        let rate = |counters: [Counter; 2]| {
            let n: u64 = counters.iter().map(|counter| snapshot.counters[*counter]).sum();
            (n as f64 / seconds).round() as u64
        };
        Line {
            second: (snapshot.at.0.max(0) as f64 / 1e9).round() as u64,
            planned: progress.arrivals,
            started: so_far(Counter::ArrivalsStarted),
            users: progress.users,
            sent: rate([Counter::MessagesSent, Counter::HttpRequests]),
            received: rate([Counter::MessagesReceived, Counter::HttpResponses]),
            outstanding: ledger.outstanding,
            lost: ledger.lost,
            duplicate: ledger.duplicate,
            reordered: ledger.reordered,
            leaked: ledger.leaked,
            p99_ms: progress.p99_ms,
            errors: progress.errors,
            stage: Stage::Loading,
            length: None,
        }
    }

    /// The same when the phases of the load are over.
    pub fn after_load(snapshot: &Snapshot) -> Line {
        let (ledger, progress) = (&snapshot.ledger, &snapshot.progress);
        // Users whose flow is over stay to drain and are not counted among the connected.
        let is_draining = progress.users == 0 || (progress.connections == 0 && ledger.messages > 0);
        let stage = if is_draining { Stage::Draining } else { Stage::Finishing };
        Line { stage, ..Line::of(snapshot) }
    }

    /// A line of at most `width` columns, without a line end.
    pub fn text(&self, width: usize) -> String {
        // Each part with its rank: the higher goes first when room is short.
        let mut parts = vec![(0, clock(self.second))];
        match (self.stage, self.length) {
            (Stage::Loading, Some(length)) => parts[0].1.push_str(&format!("/{}", clock(length))),
            (Stage::Loading, None) => {}
            (Stage::Finishing, _) => parts.push((3, "finishing".to_string())),
            (Stage::Draining, _) => parts.push((3, "draining".to_string())),
        }
        parts.push((
            1,
            match self.planned {
                Some(planned) => format!("started {}/{}", short(self.started), short(planned)),
                None => format!("started {}", short(self.started)),
            },
        ));
        parts.push((5, format!("users {}", short(self.users))));
        parts.push((6, format!("out {}/s", short(self.sent))));
        parts.push((4, format!("in {}/s", short(self.received))));
        if self.outstanding > 0 {
            parts.push((7, format!("outstanding {}", short(self.outstanding))));
        }
        if let Some(p99) = self.p99_ms {
            parts.push((3, format!("p99 {}", milliseconds(p99))));
        }
        let troubles = [
            ("lost", self.lost),
            ("duplicates", self.duplicate),
            ("out of order", self.reordered),
            ("leaked", self.leaked),
            ("errors", self.errors),
        ];
        parts.extend(
            troubles.iter().filter(|(_, n)| *n > 0).map(|(what, n)| (2, format!("{what} {}", short(*n)))),
        );
        loop {
            let line = parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("  ");
            let worst = parts.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
            if columns(&line) <= width || worst == 0 {
                return line;
            }
            let last = parts.iter().rposition(|(rank, _)| *rank == worst);
            last.map(|last| parts.remove(last));
        }
    }
}

/// `0:07`, `12:34`, `1:02:03`.
fn clock(second: u64) -> String {
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> Line {
        Line {
            second: 12,
            planned: Some(45),
            started: 24,
            users: 24,
            sent: 100,
            received: 10_000,
            outstanding: 12,
            lost: 0,
            duplicate: 0,
            reordered: 0,
            leaked: 0,
            p99_ms: Some(4.21),
            errors: 0,
            stage: Stage::Loading,
            length: Some(30),
        }
    }

    #[test]
    fn the_live_line_says_where_the_run_stands() {
        insta::assert_snapshot!(busy().text(90), @"0:12/0:30  started 24/45  users 24  out 100/s  in 10.0k/s  \
                                                   outstanding 12  p99 4.21 ms");
        let troubled =
            Line { second: 3723, errors: 1204, lost: 28, leaked: 3, stage: Stage::Draining, ..busy() };
        insta::assert_snapshot!(troubled.text(200), @"1:02:03  draining  started 24/45  users 24  out 100/s  in \
                                                      10.0k/s  outstanding 12  p99 4.21 ms  lost 28  leaked 3  errors \
                                                      1,204");
    }

    #[test]
    fn what_does_not_fit_is_dropped_whole_and_the_clock_stays() {
        let troubled = Line { errors: 1_204_311, duplicate: 31_000, stage: Stage::Finishing, ..busy() };
        for width in 0..120 {
            let line = troubled.text(width);
            assert!(line.chars().count() <= width || line == "0:12", "{width}: {line}");
        }
        insta::assert_snapshot!(troubled.text(60), @"0:12  started 24/45  duplicates 31.0k  errors 1.20M");
    }
}
