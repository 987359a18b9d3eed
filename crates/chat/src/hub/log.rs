//! The log: one thread that has every message numbered and stored, and publishes it.
//!
//! Sends that wait are committed together in one transaction, then fanned out in order, then acknowledged. A message
//! is published only after its commit, so nobody ever saw a message that a crash could take back, and one numbering
//! serves history and live delivery. What that costs is the transaction's time (about 0.1 ms with the write-ahead log)
//! before the first copy leaves; the batch grows with the load, so it never bounds the rate. The same thread keeps
//! the due times of planted faults, which is why it needs no timer.
//!
//! After a batch a room rests for its receivers times `gather_per_copy` (8 µs), at most `gather_most` (5 ms), so that
//! its writes take a bounded share of a core and messages that come faster than that share them (`gathering`). A
//! message for a room that has been silent that long leaves at once, and so does every other job, whatever other rooms
//! wait for.

mod in_order;
pub(crate) mod others;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use others::Others;

use crate::bus::{Ear, Heard};
use crate::hub::Hub;
use crate::hub::gathering::Gathering;
use crate::hub::receipt::{self, Outcome, Receipt};
use crate::model::message::Message;
use crate::rooms::delivery::Ack;
use crate::rooms::fault_injection::{self, FaultInjector, Said};
use crate::rooms::peer::Peer;
use crate::rooms::room::Room;
use crate::store::{Appended, NewMessage, Store};
use crate::sync::lock;

/// A message a peer wants published.
pub(crate) struct Entry {
    pub(crate) room: Arc<Room>,
    pub(crate) sender: Arc<Peer>,
    /// 0 for who has no account.
    pub(crate) user: u64,
    /// The client's id of the message: a second send with it is answered with the first one's number.
    pub(crate) client_id: Option<String>,
    /// JSON.
    pub(crate) content: String,
    pub(crate) receipt: Receipt,
}

/// Work on the store, between batches; with what is heard of other services, where there may be some.
type Ask = Box<dyn FnOnce(&mut dyn Store, Option<&mut Others>) + Send>;

enum Job {
    Entry(Entry),
    Together(Together),
    /// Anything else that needs the store.
    With(Ask),
    /// Another service, or the bus itself.
    Heard(Heard),
    Stop,
}

/// Messages that are taken all or not at all.
struct Together {
    entries: Vec<Entry>,
    _room: Taken,
}

/// A share of the messages that may wait together; given back when dropped.
struct Taken {
    count: usize,
    waiting: Arc<AtomicUsize>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.count, Relaxed);
    }
}

/// The way to the log's thread.
pub(crate) struct Log {
    jobs: SyncSender<Job>,
    /// Messages that wait together with others, and how many may.
    together: Arc<AtomicUsize>,
    most: usize,
    /// A common order for the numbers of messages and for their copies, when nothing is stored.
    unstored: Mutex<()>,
}

/// The log's end of the channel, to be run once the hub exists.
pub(crate) struct Inbox(Receiver<Job>);

/// A log that holds at most `waiting` jobs.
pub(crate) fn channel(waiting: usize) -> (Log, Inbox) {
    let (jobs, inbox) = sync_channel(waiting);
    (Log { jobs, together: Arc::default(), most: waiting, unstored: Mutex::default() }, Inbox(inbox))
}

impl Log {
    /// Hands a message over; false when too many wait.
    pub(crate) fn append(&self, entry: Entry) -> bool {
        self.jobs.try_send(Job::Entry(entry)).is_ok()
    }

    /// Hands several over, in order and nothing between them; false, and none handed over, when too many wait.
    pub(crate) fn append_all(&self, entries: Vec<Entry>) -> bool {
        let count = entries.len();
        let before = self.together.fetch_add(count, Relaxed);
        let taken = Taken { count, waiting: self.together.clone() };
        let together = Together { entries, _room: taken };
        before + count <= self.most && self.jobs.try_send(Job::Together(together)).is_ok()
    }

    /// Runs `ask` on the store after everything acknowledged before; `None` when too many wait or it has
    /// stopped.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut dyn Store) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let ask = move |store: &mut dyn Store, _: Option<&mut Others>| {
            let _ = answer.send(ask(store));
        };
        if self.ask(Box::new(ask)) { answered.await.ok() } else { None }
    }

    /// The same for who does not wait for it; false when too many do.
    pub(crate) fn ask(&self, ask: Ask) -> bool {
        self.jobs.try_send(Job::With(ask)).is_ok()
    }

    /// Takes what the bus brings. When too much waits it is the bus that waits: it then misses beats, counts as down,
    /// and the store is asked.
    pub(crate) fn ear(&self) -> Ear {
        let jobs = self.jobs.clone();
        Arc::new(move |heard| jobs.send(Job::Heard(heard)).is_ok())
    }

    /// Ends the thread after what was sent before.
    pub(crate) fn stop(&self) {
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(Job::Stop) {
            // The queue empties as long as the thread runs; a blocking send cannot wait for ever.
            let _ = self.jobs.send(Job::Stop);
        }
    }
}

/// The thread's loop. `others` where the store serves several.
pub(crate) fn run(inbox: Inbox, mut store: Box<dyn Store>, mut others: Option<Others>, hub: Arc<Hub>) {
    let limits = &hub.config.limits;
    let mut injector = FaultInjector::new(&hub.config.faults, limits.queue_bytes);
    let mut gathering = Gathering::default();
    let mut batch = Vec::new();
    let mut heard = Vec::new();
    loop {
        let due = [
            injector.as_ref().and_then(FaultInjector::next_due),
            gathering.next_due(),
            others.as_ref().map(Others::next_due),
        ];
        let due = due.into_iter().flatten().min();
        let first = match fault_injection::until(due) {
            None => inbox.0.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => inbox.0.recv_timeout(wait),
        };
        let first = match first {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let other = gather(first, &inbox, limits.sends_per_commit, &mut gathering, &mut heard);
        if let Some(others) = &mut others {
            // Before what is to be numbered now, which comes behind it.
            heard.drain(..).for_each(|heard| others.heard(heard, &mut *store, &hub));
        }
        let started = Instant::now();
        if gathering.count() >= limits.sends_per_commit || matches!(other, Some(Job::Stop)) {
            gathering.take_all(&mut batch);
        } else {
            gathering.take(started, &mut batch);
        }
        if !batch.is_empty() {
            let outcomes = commit(&mut *store, &batch, &hub);
            let shared: Option<(&mut Others, &mut dyn Store)> = match &mut others {
                Some(others) => Some((others, &mut *store)),
                None => None,
            };
            let reached = publish(batch.drain(..).zip(outcomes), &mut injector, shared, &hub);
            for (room, receivers) in reached {
                let rest = limits.gather_per_copy.mul_f64(receivers as f64).min(limits.gather_most);
                if !rest.is_zero() {
                    gathering.rest(room, started + rest);
                }
            }
        }
        if let Some(injector) = &mut injector {
            injector.release_due(Instant::now(), &hub.metrics);
        }
        if let Some(others) = &mut others {
            others.tick(Instant::now(), &mut *store, &hub);
        }
        match other {
            Some(Job::With(ask)) => ask(&mut *store, others.as_mut()),
            Some(Job::Stop) => break,
            Some(Job::Entry(_) | Job::Together(_) | Job::Heard(_)) | None => {}
        }
    }
    if let Some(injector) = &mut injector {
        injector.release_all(&hub.metrics);
    }
}

/// Adds the entries that are here, and what is heard, until there are `most`, and returns the job that is neither.
fn gather(
    first: Option<Job>,
    inbox: &Inbox,
    most: usize,
    gathering: &mut Gathering<Entry>,
    heard: &mut Vec<Heard>,
) -> Option<Job> {
    let mut next = first;
    while let Some(job) = next.take() {
        match job {
            Job::Entry(entry) => gathering.add(entry.room.number, entry),
            Job::Together(together) => {
                for entry in together.entries {
                    gathering.add(entry.room.number, entry);
                }
            }
            Job::Heard(said) => heard.push(said),
            other => return Some(other),
        }
        if gathering.count() < most && heard.len() < most {
            next = inbox.0.try_recv().ok();
        }
    }
    None
}

/// Has the batch numbered and stored in one transaction; when that fails, no message of it is published.
fn commit(store: &mut dyn Store, batch: &[Entry], hub: &Hub) -> Vec<Outcome> {
    let at = now_ms();
    let messages: Vec<NewMessage<'_>> = batch.iter().map(|entry| entry.message(at)).collect();
    match store.append(&messages, hub.config.limits.history_kept) {
        Ok(appended) => {
            hub.metrics.commits.add(1);
            batch.iter().zip(appended).map(|(entry, appended)| entry.appended(appended, at)).collect()
        }
        Err(error) => {
            hub.failures.store("write", &error);
            batch.iter().map(|_| Outcome::Failed(error.kind)).collect()
        }
    }
}

impl Entry {
    fn message(&self, at: u64) -> NewMessage<'_> {
        let Entry { room, user, client_id, content, .. } = self;
        NewMessage {
            room: &room.id,
            access: room.access,
            key: room.key(),
            above: room.last_stored(),
            sender: *user,
            client_id: client_id.as_deref(),
            content,
            at,
        }
    }

    /// The store has it: tells the room.
    fn appended(&self, appended: Appended, at: u64) -> Outcome {
        let Appended { key, seq, is_repeated, oldest } = appended;
        self.room.is_stored_as(key);
        if self.user != 0 {
            self.room.is_used_from_now();
        }
        if is_repeated {
            return Outcome::Repeated { seq };
        }
        self.room.stored.store(seq, Relaxed);
        if let Some(oldest) = oldest {
            self.room.oldest.store(oldest, Relaxed);
        }
        Outcome::Stored { seq, at }
    }
}

/// Publishes at once, on the caller's thread, and stores nothing: the null mode.
pub(crate) fn publish_unstored(entry: Entry, hub: &Hub) {
    let _order = lock(&hub.log.unstored);
    let seq = entry.room.last_stored() + 1;
    entry.room.stored.store(seq, Relaxed);
    let outcome = Outcome::Stored { seq, at: now_ms() };
    publish(std::iter::once((entry, outcome)), &mut None, None, hub);
}

/// Bytes of messages after which a run ends: the copies of a long one could not wait in a queue.
const RUN: usize = 32 * 1024;

/// A room's messages of one batch, and what their senders are to be told.
struct Run {
    room: Arc<Room>,
    messages: Vec<Message>,
    acks: Vec<Ack>,
    bytes: usize,
}

/// Fans a batch out and acknowledges it. Returns, by the room's number, how many connections got something, counted
/// once for each run.
fn publish(
    batch: impl Iterator<Item = (Entry, Outcome)>,
    injector: &mut Option<FaultInjector>,
    mut shared: Option<(&mut Others, &mut dyn Store)>,
    hub: &Hub,
) -> HashMap<u64, u64> {
    let mut receipts = Vec::new();
    // Message until all are answered: what waits for the last of them may only come behind it.
    let mut answered = Vec::new();
    // By the room's number: its last run in `runs`.
    let mut latest: HashMap<u64, usize> = HashMap::new();
    let mut runs: Vec<Run> = Vec::new();
    for (entry, outcome) in batch {
        let Entry { room, sender, user, content, receipt, .. } = entry;
        let Outcome::Stored { seq, at } = outcome else {
            receipts.push((receipt, sender, outcome));
            continue;
        };
        hub.metrics.messages.add(1);
        hub.accounts.has_said(user);
        let mut message = Message::new(seq, 0, user, &content, at);
        let number = sender.sent.fetch_add(1, Relaxed);
        if let Some(injector) = injector {
            message.serial = next_serial(hub);
            let said = Said { message: &message, sender: &sender, number };
            injector.publish(&room, &said, &hub.peers, &hub.metrics);
            receipts.push((receipt, sender, outcome));
            continue;
        }
        let bytes = message.object.len();
        let frame = receipt.acceptance(seq);
        if receipt.is_framed() {
            answered.push(receipt);
        } else {
            receipts.push((receipt, sender.clone(), outcome));
        }
        let ack = frame.map(|frame| Ack { peer: sender, frame, given: false });
        match latest.get(&room.number).and_then(|at| runs.get_mut(*at)) {
            Some(run) if run.bytes + bytes <= RUN => {
                run.bytes += bytes;
                run.messages.push(message);
                run.acks.extend(ack);
            }
            _ => {
                latest.insert(room.number, runs.len());
                runs.push(Run { room, messages: vec![message], acks: ack.into_iter().collect(), bytes });
            }
        }
    }
    let mut reached = HashMap::new();
    for Run { room, mut messages, mut acks, .. } in runs {
        *reached.entry(room.number).or_default() += match &mut shared {
            None => in_order::fan_out(&room, &mut messages, &mut acks, hub),
            Some((others, store)) => others.publish(&room, &mut messages, &mut acks, *store, hub),
        };
        // For senders that are no members, or poll.
        for ack in acks.iter().filter(|ack| !ack.given) {
            receipt::tell(&ack.peer, &ack.frame, &hub.metrics);
        }
    }
    for (receipt, sender, outcome) in receipts {
        if let Outcome::Repeated { .. } = outcome {
            hub.metrics.repeated.add(1);
        }
        receipt.give(&sender, outcome, &hub.metrics);
    }
    drop(answered);
    reached
}

/// Given in the order of queueing and right before it: of two copies on one queue the later has the higher serial, and
/// whatever is queued by now has none above the last.
fn next_serial(hub: &Hub) -> u64 {
    hub.serial.fetch_add(1, Relaxed) + 1
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
