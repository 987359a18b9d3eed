//! The times of a part of a run in the summary of the whole: what a run is like once it is warm.

use super::{OperationSummary, Quantiles, Summary};

impl Summary {
    /// The whole run with the times of this part of it: quantiles of operations, deliveries and metrics are the part's;
    /// counts, rates, shares and the verdict stay the whole's. What has no time in the part keeps the one it has: users
    /// who all log in at the begin do so before anything is warm.
    #[must_use]
    pub fn with_times_of(mut self, part: &Summary) -> Summary {
        operations(&mut self.operations, &part.operations);
        operations(&mut self.kinds, &part.kinds);
        if let (Some(mine), Some(theirs)) = (&mut self.delivery, &part.delivery) {
            take(&mut mine.latency_ms, &theirs.latency_ms);
            take(&mut mine.replay_latency_ms, &theirs.replay_latency_ms);
        }
        take(&mut self.users.session_ms, &part.users.session_ms);
        take(&mut self.http_answers_ms, &part.http_answers_ms);
        for (class, mine) in &mut self.http_classes {
            part.http_classes.get(class).into_iter().for_each(|theirs| take(mine, theirs));
        }
        for (name, mine) in &mut self.metrics {
            let theirs = part.metrics.get(name).and_then(|metric| metric.values.as_ref());
            mine.values.as_mut().zip(theirs).into_iter().for_each(|(mine, theirs)| take(mine, theirs));
        }
        self
    }
}

fn operations(mine: &mut [OperationSummary], part: &[OperationSummary]) {
    for mine in mine {
        let Some(theirs) = part.iter().find(|theirs| theirs.name == mine.name && theirs.kind == mine.kind)
        else {
            continue;
        };
        take(&mut mine.response_ms, &theirs.response_ms);
        take(&mut mine.service_ms, &theirs.service_ms);
        let first_byte = mine.first_byte_ms.as_mut().zip(theirs.first_byte_ms.as_ref());
        first_byte.into_iter().for_each(|(mine, theirs)| take(mine, theirs));
    }
}

fn take(mine: &mut Quantiles, theirs: &Quantiles) {
    if theirs.count > 0 {
        *mine = Quantiles { count: mine.count, ..theirs.clone() };
    }
}
