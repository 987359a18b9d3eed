//! The instant of a death, from the generator's own view: all connections closed at once or attempts to connect were
//! refused, and nothing was answered after.

use super::{Symptom, SymptomKind};
use crate::series::sum;
use crate::timeline::Timeline;
use sonagi_measure::figures::{count, counted};
use sonagi_measure::summary::Summary;

/// Signs that the target answers.
const ANSWERS: [&str; 4] =
    ["http.responses", "messages.received", "delivery.delivered", "connections.opened"];
/// Failures of connections that were cut or not accepted.
const CUT: [&str; 4] = ["connect_refused", "reset", "closed_early", "closed_1006"];
/// Fewer refused connections are an accident.
const REFUSED: u64 = 3;
/// The part of the open connections that must have closed; others may have ended by themselves just before.
const NEARLY_ALL: f64 = 0.9;

pub(super) fn symptom(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let mut answered = vec![0.0; timeline.len()];
    for metric in ANSWERS {
        answered.iter_mut().zip(timeline.rate(metric)).for_each(|(sum, rate)| *sum += rate);
    }
    let last = answered.iter().rposition(|rate| *rate > 0.0)?;
    let cut = summary.errors.iter().filter(|error| CUT.contains(&error.code.as_str()));
    // Connections that were refused before the last answer are another story.
    let after = cut.filter(|error| error.first_at_s >= last as f64);
    let died_s = after.clone().map(|error| error.first_at_s).reduce(f64::min);
    let refused = after.filter(|error| error.code == "connect_refused").map(|error| error.count).sum::<u64>();
    let closed = closed(timeline, last);
    // At the end of every run connections close and nothing is answered: users must have missed them.
    if closed.is_none() && refused < REFUSED {
        return None;
    }
    let second = died_s.map_or(closed.map_or(last, |(second, _)| second), |at| at as usize);
    let mut seen = Vec::new();
    if let Some((second, connections)) = closed {
        seen.push(match connections {
            1 => format!("the only connection closed in second {second}"),
            _ => format!("all {} connections closed in second {second}", count(connections)),
        });
    }
    if refused > 0 {
        let were = if refused == 1 { "was" } else { "were" };
        seen.push(format!("{} to connect {were} refused", counted(refused, "attempt")));
    }
    seen.push("nothing was answered after".to_owned());
    let at = died_s.map_or(format!("in second {second}"), |at| format!("at {at:.1} s"));
    let text = format!("the target died {at}: {}", seen.join(", "));
    Some(Symptom::new(SymptomKind::Died, second, text))
}

/// The second, at or right after the last answer, in which nearly all connections closed that were open, and how many
/// did; none where some stayed or their users closed them.
fn closed(timeline: &Timeline, last: usize) -> Option<(usize, u64)> {
    let (closed, lost) = (timeline.rate("connections.closed"), timeline.rate("connections.lost"));
    let open = timeline.level("connections.open");
    let before = open.iter().take(last).rev().take(2).flatten().copied().fold(0.0, f64::max);
    let seconds = last..(last + 2).min(timeline.len());
    let all = sum(&closed, seconds.clone());
    let stayed = open.iter().skip(last + 1).flatten().copied().fold(0.0, f64::max);
    if before < 1.0
        || all < NEARLY_ALL * before
        || stayed > 0.0
        || sum(&lost, seconds.clone()) < NEARLY_ALL * before
    {
        return None;
    }
    let second = seconds.max_by(|a, b| closed[*a].total_cmp(&closed[*b]))?;
    Some((second, before.max(1.0) as u64))
}
