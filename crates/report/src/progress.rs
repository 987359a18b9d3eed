//! The live line: where a run stands, in one line that fits the terminal.
//!
//! The one decision a reader would question: a part that does not fit is dropped whole, least telling first, instead of
//! letting the line wrap (a wrapped line cannot be redrawn) or cutting a number in half.

use crate::figures::{milliseconds, short};
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
    /// Copies lost, duplicate, reordered or leaked so far.
    pub astray: u64,
    /// 99th percentile of the last second (ms): end to end when the script tracks delivery, else of all operations.
    /// None when nothing ended.
    pub p99_ms: Option<f64>,
    /// Errors so far.
    pub errors: u64,
    /// Nobody arrives any more: users finish, and copies under way are waited for.
    pub draining: bool,
}

impl Line {
    /// Where the run stands after this second.
    pub fn of(snapshot: &Snapshot) -> Line {
        let (ledger, progress) = (&snapshot.ledger, &snapshot.progress);
        let so_far = |counter| progress.counters.get(counter);
        // The last interval of a run is a fraction: what came in it is not worth a rate of thousands.
        let seconds = (snapshot.interval_ns as f64 / 1e9).max(1.0);
        let rate = |counters: [Counter; 2]| {
            let n: u64 = counters.iter().map(|counter| snapshot.counters.get(*counter)).sum();
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
            astray: ledger.lost + ledger.duplicate + ledger.reordered + ledger.leaked,
            p99_ms: progress.p99_ms,
            errors: progress.errors,
            draining: false,
        }
    }

    /// One line of at most `width` columns, without a line end.
    pub fn text(&self, width: usize) -> String {
        // Each part with its rank: the higher goes first when room is short.
        let mut parts = vec![(0, clock(self.second))];
        if self.draining {
            parts.push((2, "draining".to_string()));
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
            parts.push((7, format!("owed {}", short(self.outstanding))));
        }
        if let Some(p99) = self.p99_ms {
            parts.push((3, format!("p99 {}", milliseconds(p99))));
        }
        if self.astray > 0 {
            parts.push((2, format!("astray {}", short(self.astray))));
        }
        if self.errors > 0 {
            parts.push((2, format!("errors {}", short(self.errors))));
        }
        loop {
            let line = parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("  ");
            let worst = parts.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
            if line.chars().count() <= width || worst == 0 {
                return line;
            }
            parts.retain(|(rank, _)| *rank != worst);
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
            astray: 0,
            p99_ms: Some(4.21),
            errors: 0,
            draining: false,
        }
    }

    #[test]
    fn the_live_line_says_where_the_run_stands() {
        insta::assert_snapshot!(busy().text(80), @"0:12  started 24/45  users 24  out 100/s  in 10.0k/s  owed 12  p99 4.21 ms");
        let troubled = Line { second: 3723, errors: 1204, astray: 31, draining: true, ..busy() };
        insta::assert_snapshot!(troubled.text(200), @"1:02:03  draining  started 24/45  users 24  out 100/s  in 10.0k/s  owed 12  p99 4.21 ms  astray 31  errors 1,204");
    }

    #[test]
    fn what_does_not_fit_is_dropped_whole_and_the_clock_stays() {
        let troubled = Line { errors: 1_204_311, astray: 31_000, draining: true, ..busy() };
        for width in 0..120 {
            let line = troubled.text(width);
            assert!(line.chars().count() <= width || line == "0:12", "{width}: {line}");
        }
        insta::assert_snapshot!(troubled.text(60), @"0:12  draining  started 24/45  astray 31.0k  errors 1.20M");
    }
}
