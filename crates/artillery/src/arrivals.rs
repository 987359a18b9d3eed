//! A shard's arrivals: each user starts when it is planned, or is counted as one that did not.

use sonagi_engine::{Place, SECOND_NS};
use sonagi_measure::recorder::Counter;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::schedule::Arrival;
use crate::shard::{Presence, Shard};
use crate::user;

/// An arrival this late is not started any more: the generator cannot keep the plan, and says so.
const MISSED_AFTER_NS: i64 = SECOND_NS;
/// Users started in a row before those started get a turn. Fewer than the tasks a runtime polls between two looks at
/// its sockets, so that a flood of arrivals cannot outrun its own users.
const ADMITTED_IN_A_ROW: u32 = 32;

/// Starts the shard's arrivals when they are planned and returns when the last of its users has ended.
pub(crate) async fn serve(shard: &Rc<Shard>) {
    let plan = Arc::clone(shard.plan());
    let Place { index, threads } = shard.place;
    let is_mine = |arrival: &Arrival| Some((arrival.number % threads as u64) as usize) == index;
    let mut in_a_row = 0;
    for arrival in plan.load.arrivals(shard.shared.seed).filter(is_mine) {
        in_a_row = if shard.wait_for(arrival.at).await { 0 } else { in_a_row + 1 };
        if in_a_row == ADMITTED_IN_A_ROW {
            in_a_row = 0;
            tokio::task::yield_now().await;
        }
        if shard.is_stopping() {
            break;
        }
        shard.count(Counter::ArrivalsPlanned, 1);
        let late = shard.clock.now().since(arrival.at);
        shard.recorder.borrow_mut().send_lag(late);
        if late > MISSED_AFTER_NS || shard.living() >= shard.shared.most_living {
            shard.count(Counter::ArrivalsMissed, 1);
        } else {
            admit(shard, arrival);
        }
    }
    shard.all_ended().await;
}

/// Starts one arrival's user, unless the phase's limit on users is reached.
fn admit(shard: &Rc<Shard>, arrival: Arrival) {
    let limit = shard.plan().load.max_users(arrival.phase).unwrap_or(u64::MAX);
    let claimed = shard
        .shared
        .active
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |active| (active < limit).then_some(active + 1));
    if claimed.is_err() {
        return shard.count(Counter::UsersSkipped, 1);
    }
    shard.count(Counter::ArrivalsStarted, 1);
    let presence = Presence::new(shard);
    tokio::task::spawn_local(user::live(Rc::clone(shard), arrival, presence));
}
