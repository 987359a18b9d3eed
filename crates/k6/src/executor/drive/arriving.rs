//! Planned iterations: arrival n is timed by shard n modulo shards and carried out by a free user.
//!
//! A free user is looked for on the arrival's own shard first, then on the others: with few users, which are not spread
//! as evenly as arrivals, an arrival would be dropped else that k6 starts. Claiming a user is one atomic count per
//! shard; the user is then that arrival's, so whoever is claimed for is never looked for in vain.

use super::Share;
use crate::executor::{Dropped, Pool, Stop};
use crate::options::Executor;
use sonagi_measure::At;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Poll, Waker};
use tokio::task::JoinSet;

/// How many arrivals may be late in a row before the shard's others get their turn.
const IN_A_ROW: u32 = 16;

/// How long after the regular end arrivals are still begun: the last is planned for that very instant, and a timer may
/// ring late. What a shard that cannot keep up has not come to by then is dropped, and the scenario ends in its time.
const AFTER_END: i64 = 50_000_000;

/// The shard's users of this scenario.
#[derive(Default)]
struct Room {
    /// They take turns, as k6's do.
    idle: RefCell<VecDeque<Rc<Seat>>>,
    tasks: RefCell<JoinSet<()>>,
    seats: RefCell<Vec<Rc<Seat>>>,
    /// Nobody sits down any more.
    closed: Cell<bool>,
}

/// Where one user waits for an arrival.
#[derive(Default)]
struct Seat {
    work: Cell<Option<At>>,
    closed: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

pub(super) async fn drive<P: Pool>(share: &Rc<Share<P>>) {
    if share.course().most_vus == 0 {
        return;
    }
    let room = Rc::new(Room::default());
    let planned = share.turns().count();
    for _ in 0..planned {
        if let Some(vu) = share.take().await {
            seat(share, &room, vu);
        }
    }
    // They sit down before the first arrival looks for them.
    tokio::task::yield_now().await;
    let inbox = tokio::task::spawn_local(read_inbox(Rc::clone(share), Rc::clone(&room)));
    arrive(share, &room).await;
    leave(share);
    if inbox.await.is_err_and(|error| error.is_panic()) {
        panic!("the inbox of an arrival rate's shard panicked");
    }
    room.close();
    room.tasks.take().join_all().await;
}

/// Tells the other shards that this one hands nothing over any more.
pub(super) fn leave<P: Pool>(share: &Share<P>) {
    let dispatch = &share.common.dispatch;
    dispatch.arriving.fetch_sub(1, SeqCst);
    dispatch.shards.iter().for_each(|desk| desk.notify.notify_one());
}

/// Takes what other shards hand over, until no shard has arrivals any more.
async fn read_inbox<P: Pool>(share: Rc<Share<P>>, room: Rc<Room>) {
    let dispatch = &share.common.dispatch;
    let desk = &dispatch.shards[share.shard];
    loop {
        // Looked at before the inbox: what is handed over last is there when the count is zero.
        let over = dispatch.arriving.load(SeqCst) == 0;
        while let Some(planned) = desk.next() {
            room.start(planned);
        }
        if over {
            return;
        }
        desk.notify.notified().await;
    }
}

/// Sleeps from one of the shard's arrivals to the next.
async fn arrive<P: Pool>(share: &Rc<Share<P>>, room: &Rc<Room>) {
    let Some(arrivals) = &share.course().arrivals else { return };
    let stop = share.stop(share.common.hard_end);
    let mut n = share.shard as u64;
    let mut late = 0;
    while let Some(at) = arrivals.at(n) {
        let planned = share.common.start.plus(at);
        if !stop.sleep(planned).await {
            return;
        }
        let now = share.clock.now();
        if now.since(share.common.regular_end) > AFTER_END {
            let left = arrivals.count().saturating_sub(n);
            return share.dropped(left.div_ceil(share.plan.shards as u64), Dropped::Late);
        }
        // Sleeping until what has passed gives way to nobody.
        late = if now > planned { late + 1 } else { 0 };
        if late >= IN_A_ROW {
            late = 0;
            tokio::task::yield_now().await;
        }
        arrival(share, room, planned);
        n += share.plan.shards as u64;
    }
    // k6, too, ends with the duration of a constant rate, and with the last arrival of a ramping one.
    if matches!(share.options.executor, Executor::ConstantArrivalRate { .. }) {
        stop.sleep(share.common.regular_end).await;
    }
}

/// One arrival: started, handed over or dropped.
fn arrival<P: Pool>(share: &Rc<Share<P>>, room: &Rc<Room>, planned: At) {
    let dispatch = &share.common.dispatch;
    let count = dispatch.shards.len();
    let near = (0..count).map(|n| (share.shard + n) % count);
    for shard in near {
        let desk = &dispatch.shards[shard];
        if desk.claim() {
            return if shard == share.shard { room.start(planned) } else { desk.hand(planned) };
        }
    }
    share.dropped(1, Dropped::Busy);
    if dispatch.unplanned.load(SeqCst) == 0 {
        if !dispatch.warned.swap(true, SeqCst) {
            share.pool.insufficient_vus(share.common.scenario, share.course().most_vus);
        }
        return;
    }
    if !dispatch.creating.swap(true, SeqCst) {
        match dispatch.unplanned.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => {
                let task = create(Rc::clone(share), Rc::clone(room));
                room.tasks.borrow_mut().spawn_local(task);
            }
            Err(_) => dispatch.creating.store(false, SeqCst),
        }
    }
}

/// One more user, while arrivals go on being dropped.
async fn create<P: Pool>(share: Rc<Share<P>>, room: Rc<Room>) {
    let dispatch = &share.common.dispatch;
    let vu = match share.common.test.may_create() {
        true => share.create().await,
        // All there may be exist; the one that is idle may be on another shard, whose arrivals will find it.
        false => share.pool.take().or_else(|| {
            dispatch.unplanned.fetch_add(1, SeqCst);
            None
        }),
    };
    dispatch.creating.store(false, SeqCst);
    match vu {
        Some(vu) if room.closed.get() => share.pool.give_back(vu),
        Some(vu) => seat(&share, &room, vu),
        None => {}
    }
}

/// Lets a user sit and wait for arrivals until the room is closed.
fn seat<P: Pool>(share: &Rc<Share<P>>, room: &Rc<Room>, vu: P::Vu) {
    let seat = Rc::new(Seat::default());
    let task = sit(Rc::clone(share), Rc::clone(room), Rc::clone(&seat), vu);
    room.seats.borrow_mut().push(seat);
    room.tasks.borrow_mut().spawn_local(task);
}

async fn sit<P: Pool>(share: Rc<Share<P>>, room: Rc<Room>, seat: Rc<Seat>, mut vu: P::Vu) {
    let stop: Stop = share.stop(share.common.hard_end);
    let mut alarm = pin!(share.clock.sleep_until(stop.deadline()));
    let desk = &share.common.dispatch.shards[share.shard];
    let counts = &share.common.counts;
    counts.hold();
    loop {
        room.idle.borrow_mut().push_back(Rc::clone(&seat));
        desk.idle.fetch_add(1, SeqCst);
        let Some(planned) = seat.next().await else { break };
        counts.active.add(1);
        share.iterate(&mut vu, planned, &stop, alarm.as_mut()).await;
        counts.active.subtract_one();
    }
    counts.held.subtract_one();
    share.pool.give_back(vu);
}

impl Room {
    /// Starts an arrival for which one of this shard's users was claimed.
    fn start(&self, planned: At) {
        let seat = self.idle.borrow_mut().pop_front().expect("a claim is counted after its user sat down");
        seat.work.set(Some(planned));
        seat.wake();
    }

    /// Sends everybody home who waits; the others go when their iteration is over.
    fn close(&self) {
        self.closed.set(true);
        for seat in self.seats.borrow().iter() {
            seat.closed.set(true);
            seat.wake();
        }
    }
}

impl Seat {
    /// The next arrival; None once the room is closed.
    fn next(&self) -> impl Future<Output = Option<At>> {
        std::future::poll_fn(|cx| {
            if let Some(planned) = self.work.take() {
                return Poll::Ready(Some(planned));
            }
            if self.closed.get() {
                return Poll::Ready(None);
            }
            *self.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    fn wake(&self) {
        let waker = self.waker.borrow_mut().take();
        waker.into_iter().for_each(Waker::wake);
    }
}
