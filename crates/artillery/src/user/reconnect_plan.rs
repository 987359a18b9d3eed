//! The steps that opened a user's connection, and its subscriptions: a reconnect repeats them.
//!
//! Kept only in runs that reconnect at all. Steps are shared with the plan; a plan is a few pointers.

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::{Reconnect, SocketioConnect, Step, Subscribe};
use crate::values::LoopValues;
use sonagi_transport::link::Recovery;

/// Subscriptions and openings remembered; a flow that makes more of them over one connection keeps the newest.
const MOST_ENTRIES: usize = 1024;

#[derive(Default)]
pub(crate) struct ReconnectPlan {
    pub(super) openings: Vec<ReopenStep>,
    pub(super) subscriptions: Vec<Subscription>,
    /// The entry whose steps are being taken.
    current: Option<CurrentEntry>,
    /// The sessions that a Socket.IO server may know.
    pub(super) recoveries: Vec<Recovery>,
    /// Whether every namespace opened in the attempt under way was recovered; None before the first.
    pub(super) is_recovered: Option<bool>,
    pub(super) outage: Option<Box<Outage>>,
    /// Whether a step of the flow closed its connection.
    pub(super) was_closed: bool,
    /// An attempt is under way: the steps being taken are the plan's own.
    pub(super) is_reconnecting: bool,
}

/// A step that opened the connection, or a part of it.
#[derive(Clone)]
pub(super) enum ReopenStep {
    Step(Arc<Step>),
    /// A Socket.IO namespace that an emit opened on its way.
    Namespace(Arc<SocketioConnect>, Box<str>),
}

#[derive(Clone)]
pub(super) struct Subscription {
    pub(super) of: Arc<Subscribe>,
    /// The loop it was taken in: its templates may name the element.
    pub(super) innermost: Option<Box<LoopValues>>,
    /// The rooms it joined.
    rooms: Vec<u32>,
}

#[derive(Clone, Copy)]
enum CurrentEntry {
    ReopenStep(usize),
    Subscription(usize),
}

/// The time between the loss of a connection and its return.
pub(super) struct Outage {
    pub(super) since: At,
    /// Whether a cursor was known when the connection was lost: only that can be told when subscribing again.
    pub(super) has_place: bool,
    /// Attempts that failed.
    pub(super) failed: u32,
    /// When the next attempt is due.
    pub(super) next: At,
    /// The shortest wait the server asked for.
    pub(super) floor: Duration,
    /// The failure of the last attempt.
    pub(super) last: Option<(Failure, String)>,
}

impl ReconnectPlan {
    /// Whether there is anything to take again.
    pub(super) fn is_empty(&self) -> bool {
        self.openings.is_empty() && self.subscriptions.is_empty()
    }

    /// Another connection, or none: nothing of what led to the one before is taken again, but for the entry under way.
    pub(super) fn start_anew(&mut self) {
        let opening = match self.current {
            Some(CurrentEntry::ReopenStep(at)) => self.openings.get(at).cloned(),
            _ => None,
        };
        let subscription = match self.current {
            Some(CurrentEntry::Subscription(at)) => self.subscriptions.get(at).cloned(),
            _ => None,
        };
        self.current = opening.as_ref().map(|_| CurrentEntry::ReopenStep(0));
        self.current = self.current.or(subscription.as_ref().map(|_| CurrentEntry::Subscription(0)));
        self.openings = Vec::from_iter(opening);
        self.subscriptions = Vec::from_iter(subscription);
        self.recoveries.clear();
        self.outage = None;
    }

    /// The steps of this opening are being taken.
    pub(super) fn open(&mut self, opening: ReopenStep) {
        self.current = Some(CurrentEntry::ReopenStep(self.remember(opening)));
    }

    /// Something was opened on the way to something else.
    pub(super) fn remember(&mut self, opening: ReopenStep) -> usize {
        let known = self.openings.iter().position(|known| known.is(&opening));
        known.unwrap_or_else(|| push_bounded(&mut self.openings, opening))
    }

    /// The steps of this subscription are being taken.
    pub(super) fn subscribe(&mut self, of: &Arc<Subscribe>, innermost: Option<Box<LoopValues>>) {
        let same = |known: &Subscription| Arc::ptr_eq(&known.of, of) && known.innermost == innermost;
        let known = self.subscriptions.iter().position(same);
        let at = known.unwrap_or_else(|| {
            let subscription = Subscription { of: Arc::clone(of), innermost, rooms: Vec::new() };
            push_bounded(&mut self.subscriptions, subscription)
        });
        self.current = Some(CurrentEntry::Subscription(at));
    }

    /// The steps of that subscription are being taken again.
    pub(super) fn resubscribe(&mut self, at: usize) {
        self.current = Some(CurrentEntry::Subscription(at));
    }

    /// No entry's steps are being taken any more.
    pub(super) fn close_entry(&mut self) {
        self.current = None;
    }

    /// The subscription under way, if one is, joined this room: whether it is one that resumes.
    pub(super) fn joined(&mut self, room: u32) -> bool {
        let Some(CurrentEntry::Subscription(at)) = self.current else { return false };
        let Some(subscription) = self.subscriptions.get_mut(at) else { return false };
        if !subscription.rooms.contains(&room) {
            subscription.rooms.push(room);
        }
        subscription.of.resumes
    }

    /// The room was left by a step: it is not joined again.
    pub(super) fn left(&mut self, room: u32) {
        self.subscriptions.retain_mut(|subscription| {
            let had = subscription.rooms.len();
            subscription.rooms.retain(|&joined| joined != room);
            !(subscription.rooms.is_empty() && had > 0)
        });
    }

    /// Whether a lost stay in this room can be taken up again.
    pub(super) fn resumes(&self, room: u32) -> bool {
        let may = |subscription: &Subscription| subscription.of.resumes && subscription.rooms.contains(&room);
        !self.recoveries.is_empty() || self.subscriptions.iter().any(may)
    }
}

impl Subscription {
    /// Whether it came as far as joining anything.
    pub(super) fn is_confirmed(&self) -> bool {
        !self.rooms.is_empty()
    }
}

impl ReopenStep {
    fn is(&self, other: &ReopenStep) -> bool {
        match (self, other) {
            (ReopenStep::Step(step), ReopenStep::Step(other)) => Arc::ptr_eq(step, other),
            (ReopenStep::Namespace(how, namespace), ReopenStep::Namespace(other_how, other)) => {
                Arc::ptr_eq(how, other_how) && namespace == other
            }
            _ => false,
        }
    }
}

impl Outage {
    /// A connection is gone; `wait` until the first attempt.
    pub(super) fn new(since: At, floor: Duration) -> Outage {
        Outage { since, has_place: false, failed: 0, next: since, floor, last: None }
    }

    /// Draws when the next attempt is due: full jitter, on top of what the server asked for.
    pub(super) fn wait(&mut self, plan: &Reconnect, now: At, rng: &mut fastrand::Rng) {
        let doubled = plan.first.checked_mul(1 << self.failed.min(31)).unwrap_or(plan.most);
        let most = doubled.min(plan.most).as_nanos().min(i64::MAX as u128) as i64;
        let floor = self.floor.as_nanos().min(i64::MAX as u128) as i64;
        self.next = now.plus(floor.saturating_add(rng.i64(0..=most)));
    }
}

fn push_bounded<T>(entries: &mut Vec<T>, new: T) -> usize {
    if entries.len() >= MOST_ENTRIES {
        entries.remove(0);
    }
    // Grown by doubling, the plans of ten thousand users would be mostly empty.
    entries.reserve_exact(1);
    entries.push(new);
    entries.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Reconnect = Reconnect {
        operation: sonagi_measure::outcome::OperationId(0),
        is_automatic: true,
        first: Duration::from_millis(500),
        most: Duration::from_secs(10),
        attempts: 10,
        resume: true,
    };

    #[test]
    fn waits_are_drawn_from_twice_as_much_each_time_up_to_the_most() {
        let mut rng = fastrand::Rng::with_seed(1);
        for (failed, bound_ms) in [(0, 500), (1, 1_000), (4, 8_000), (5, 10_000), (40, 10_000)] {
            let mut outage = Outage { failed, ..Outage::new(At(7), Duration::ZERO) };
            let mut drawn = Vec::new();
            for _ in 0..2_000 {
                outage.wait(&PLAN, At(7), &mut rng);
                drawn.push(outage.next.since(At(7)) / 1_000_000);
            }
            let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
            assert!(*least < bound_ms / 50, "full jitter begins at none, got {least} after {failed}");
            assert!((bound_ms * 49 / 50..=bound_ms).contains(most), "{most} after {failed}");
        }
    }

    #[test]
    fn what_the_server_asks_for_comes_before_the_draw() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut outage = Outage::new(At(0), Duration::from_secs(3));
        let mut nexts = Vec::new();
        for _ in 0..100 {
            outage.wait(&PLAN, At(0), &mut rng);
            nexts.push(outage.next.0);
        }
        assert!(nexts.iter().all(|next| (3_000_000_000..=3_500_000_000).contains(next)));
        assert!(nexts.iter().collect::<std::collections::HashSet<_>>().len() > 90, "not all at once");
    }

    fn subscribe(resumes: bool) -> Arc<Subscribe> {
        Arc::new(Subscribe { steps: Vec::new(), resumes })
    }

    #[test]
    fn a_subscription_taken_again_is_one_entry_and_left_rooms_are_forgotten() {
        let mut reconnect_plan = ReconnectPlan::default();
        let (first, second) = (subscribe(true), subscribe(false));
        for _ in 0..3 {
            reconnect_plan.subscribe(&first, None);
            assert!(reconnect_plan.joined(7));
        }
        reconnect_plan.subscribe(&second, None);
        assert!(!reconnect_plan.joined(8));
        assert_eq!(
            (reconnect_plan.subscriptions.len(), reconnect_plan.resumes(7), reconnect_plan.resumes(8)),
            (2, true, false)
        );
        reconnect_plan.left(7);
        assert_eq!((reconnect_plan.subscriptions.len(), reconnect_plan.resumes(7)), (1, false));
    }

    #[test]
    fn another_connection_keeps_only_the_entry_that_opens_it() {
        let mut reconnect_plan = ReconnectPlan::default();
        let step = Arc::new(Step::Disconnect);
        reconnect_plan.open(ReopenStep::Step(Arc::clone(&step)));
        reconnect_plan.close_entry();
        reconnect_plan.subscribe(&subscribe(true), None);
        reconnect_plan.open(ReopenStep::Step(step));
        reconnect_plan.start_anew();
        assert_eq!((reconnect_plan.openings.len(), reconnect_plan.subscriptions.len()), (1, 0));
        reconnect_plan.subscribe(&subscribe(true), None);
        reconnect_plan.start_anew();
        assert_eq!((reconnect_plan.openings.len(), reconnect_plan.subscriptions.len()), (0, 1));
        reconnect_plan.close_entry();
        reconnect_plan.start_anew();
        assert!(reconnect_plan.is_empty());
    }

    #[test]
    fn a_reconnect_plan_is_bounded() {
        let mut reconnect_plan = ReconnectPlan::default();
        for _ in 0..2 * MOST_ENTRIES {
            reconnect_plan.subscribe(&subscribe(true), None);
        }
        assert_eq!(reconnect_plan.subscriptions.len(), MOST_ENTRIES);
    }
}
