//! Users whose next iteration follows their last: constant and ramping users, iterations per user and shared ones.

use super::Share;
use crate::executor::{Dropped, Pool, Stop, Turn};
use crate::options::Executor;
use sonagi_measure::At;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use tokio::task::JoinSet;

pub(super) async fn drive<P: Pool>(share: &Rc<Share<P>>) {
    let mut tasks = JoinSet::new();
    for turn in share.turns() {
        let (share, turn) = (Rc::clone(share), turn.clone());
        tasks.spawn_local(async move { share.turn(&turn).await });
    }
    tasks.join_all().await;
}

/// Drops the shared iterations that are left when the last user is given back.
pub(super) fn finish<P: Pool>(share: &Share<P>) {
    if let Executor::SharedIterations { iterations, .. } = share.options.executor {
        let asked = share.common.asked.load(Ordering::SeqCst);
        share.dropped(iterations.saturating_sub(asked), Dropped::Busy);
    }
}

impl<P: Pool> Share<P> {
    /// One turn of one user: its spans, one after the other.
    async fn turn(&self, turn: &Turn) {
        let start = self.common.start;
        let stop = self.stop(start.plus(turn.until));
        let mut spans = turn.spans.iter().map(|(from, until)| (start.plus(*from), start.plus(*until)));
        let mut next = spans.next();
        while let Some((from, until)) = next {
            if !stop.sleep(from).await {
                return;
            }
            // k6, too, takes no user for a span without length.
            if from == until {
                next = spans.next();
                continue;
            }
            let Some(mut vu) = self.take().await else { return self.undone(0) };
            let counts = &self.common.counts;
            counts.hold();
            counts.active.add(1);
            next = self.span(&mut vu, until, &mut spans, &stop).await;
            self.pool.give_back(vu);
            counts.active.subtract_one();
            counts.held.subtract_one();
        }
    }

    /// Iterates until a span is over and no other has begun; returns the next one.
    async fn span(
        &self,
        vu: &mut P::Vu,
        mut until: At,
        spans: &mut impl Iterator<Item = (At, At)>,
        stop: &Stop,
    ) -> Option<(At, At)> {
        let mut alarm = pin!(self.clock.sleep_until(stop.deadline()));
        let mut done = 0;
        loop {
            if stop.pulled() {
                self.undone(done);
                return None;
            }
            let now = self.clock.now();
            while now >= until {
                // An iteration that lasted into the next span: the user goes on as if it had never been told to stop.
                match spans.next() {
                    Some((from, next)) if now >= from => until = next,
                    next => {
                        self.undone(done);
                        return next;
                    }
                }
            }
            if !self.may_iterate(done) {
                return None;
            }
            self.iterate(vu, now, stop, alarm.as_mut()).await;
            done += 1;
        }
    }

    /// Whether there is an iteration left for a user that has done so many.
    fn may_iterate(&self, done: u64) -> bool {
        match self.options.executor {
            Executor::PerVuIterations { iterations, .. } => done < iterations,
            Executor::SharedIterations { iterations, .. } => {
                self.common.asked.fetch_add(1, Ordering::SeqCst) < iterations
            }
            _ => true,
        }
    }

    /// A user's own iterations for which there was no time.
    fn undone(&self, done: u64) {
        if let Executor::PerVuIterations { iterations, .. } = self.options.executor
            && !self.aborted()
        {
            self.dropped(iterations - done, Dropped::Busy);
        }
    }
}
