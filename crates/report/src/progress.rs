//! The live line: where a run stands, in one line that fits the terminal.
//!
//! The one decision a reader would question: a part that does not fit is dropped whole, least telling first, instead of
//! letting the line wrap (a wrapped line cannot be redrawn) or cutting a number in half.

use crate::figures::{milliseconds, short};
use crate::page::columns;
use sonagi_measure::recorder::Counter;
use sonagi_measure::totals::Snapshot;

/// Where a run stands after a second of it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'s> {
    /// The second, and the sums so far.
    pub snapshot: &'s Snapshot,
    /// Whether the phases of the load are over.
    pub is_loaded: bool,
    /// How long these take, in whole seconds, where that is known.
    pub length: Option<u64>,
}

impl Line<'_> {
    /// Whole seconds since the run's start, this one included.
    pub fn second(&self) -> u64 {
        (self.snapshot.at.0.max(0) as f64 / 1e9).round() as u64
    }

    /// What goes on when the phases of the load are over: users go on with their flows; or all flows are over, and
    /// copies under way are waited for.
    fn stage(&self) -> &'static str {
        let Snapshot { progress, ledger, .. } = self.snapshot;
        // Users whose flow is over stay to drain and are not counted among the connected.
        let is_draining = progress.users == 0 || (progress.connections == 0 && ledger.messages > 0);
        if is_draining { "draining" } else { "finishing" }
    }

    /// The sum of these counts a second, over the last one.
    fn rate(&self, counters: [Counter; 2]) -> u64 {
        let n: u64 = counters.iter().map(|counter| self.snapshot.counters[*counter]).sum();
        // The last interval of a run is a fraction: what came in it is not worth a rate of thousands.
        let seconds = (self.snapshot.interval_ns as f64 / 1e9).max(1.0);
        (n as f64 / seconds).round() as u64
    }

    /// A line of at most `width` columns, without a line end.
    pub fn text(&self, width: usize) -> String {
        let Snapshot { progress, ledger, .. } = self.snapshot;
        // Each part with its rank: the higher goes first when room is short.
        let mut parts = vec![(0, clock(self.second()))];
        match self.length {
            _ if self.is_loaded => parts.push((3, self.stage().to_string())),
            Some(length) => parts[0].1.push_str(&format!("/{}", clock(length))),
            None => {}
        }
        let planned = progress.arrivals.map(|planned| format!("/{}", short(planned))).unwrap_or_default();
        let started = short(progress.counters[Counter::ArrivalsStarted]);
        let sent = short(self.rate([Counter::MessagesSent, Counter::HttpRequests]));
        let received = short(self.rate([Counter::MessagesReceived, Counter::HttpResponses]));
        parts.push((1, format!("started {started}{planned}")));
        parts.push((5, format!("users {}", short(progress.users))));
        parts.push((6, format!("out {sent}/s")));
        parts.push((4, format!("in {received}/s")));
        if ledger.outstanding > 0 {
            parts.push((7, format!("outstanding {}", short(ledger.outstanding))));
        }
        if let Some(p99) = progress.p99_ms {
            parts.push((3, format!("p99 {}", milliseconds(p99))));
        }
        let troubles = [
            ("lost", ledger.lost),
            ("duplicates", ledger.duplicate),
            ("out of order", ledger.reordered),
            ("leaked", ledger.leaked),
            ("errors", progress.errors),
        ];
        let troubles = troubles.iter().filter(|(_, n)| *n > 0);
        parts.extend(troubles.map(|(what, n)| (2, format!("{what} {}", short(*n)))));
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
    use sonagi_measure::At;
    use sonagi_measure::ledger::Counts;

    fn busy() -> Snapshot {
        let ledger = Counts { messages: 50, outstanding: 12, ..Counts::default() };
        let mut snapshot =
            Snapshot { at: At(12_000_000_000), interval_ns: 1_000_000_000, ledger, ..Snapshot::default() };
        snapshot.counters.add(Counter::MessagesSent, 100);
        snapshot.counters.add(Counter::MessagesReceived, 10_000);
        let progress = &mut snapshot.progress;
        (progress.arrivals, progress.users, progress.connections) = (Some(45), 24, 24);
        progress.p99_ms = Some(4.21);
        progress.counters.add(Counter::ArrivalsStarted, 24);
        snapshot
    }

    fn line(snapshot: &Snapshot, is_loaded: bool) -> Line<'_> {
        Line { snapshot, is_loaded, length: Some(30) }
    }

    #[test]
    fn the_live_line_says_where_the_run_stands() {
        let busy = busy();
        insta::assert_snapshot!(line(&busy, false).text(90), @"0:12/0:30  started 24/45  users 24  out 100/s  \
                                                   in 10.0k/s  outstanding 12  p99 4.21 ms");
        let mut troubled = busy;
        troubled.at = At(3_723_000_000_000);
        (troubled.ledger.lost, troubled.ledger.leaked) = (28, 3);
        (troubled.progress.errors, troubled.progress.connections) = (1204, 0);
        insta::assert_snapshot!(line(&troubled, true).text(200), @"1:02:03  draining  started 24/45  users 24  \
                                                      out 100/s  in 10.0k/s  outstanding 12  p99 4.21 ms  lost 28  \
                                                      leaked 3  errors 1,204");
    }

    #[test]
    fn what_does_not_fit_is_dropped_whole_and_the_clock_stays() {
        let mut troubled = busy();
        (troubled.ledger.duplicate, troubled.progress.errors) = (31_000, 1_204_311);
        for width in 0..120 {
            let line = line(&troubled, true).text(width);
            assert!(line.chars().count() <= width || line == "0:12", "{width}: {line}");
        }
        insta::assert_snapshot!(line(&troubled, true).text(60), @"0:12  started 24/45  duplicates 31.0k  errors 1.20M");
    }
}
