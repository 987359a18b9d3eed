//! The delivery ledger: who was owed which message, and what became of every copy.
//!
//! Shards write down what they saw ([`Batch`]); the one ledger decides, a second later, off the hot path and in one
//! thread, so that its rules are a sequential, testable function. (An alternative, deciding inside each shard, needs the
//! sender's table in every receiver's shard.)

use crate::At;

/// A virtual user, unique in the run.
pub type Member = u32;
/// A room, unique in the run.
pub type RoomId = u32;

/// What one shard saw since it was last asked. Order within each list is the order of events.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub joined: Vec<Joined>,
    /// Memberships that ended: nothing sent from then on is owed.
    pub left: Vec<Left>,
    /// Connections behind ended memberships that are closed now (a finished user drains between `left` and `gone`).
    pub gone: Vec<Left>,
    pub sent: Vec<Sent>,
    pub settled: Vec<Settled>,
    pub received: Vec<Received>,
    /// Stamps of other runs.
    pub foreign: u64,
}
/// A subscription was confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Joined { pub member: Member, pub room: RoomId, pub at: At }
/// A membership ended (in `left`), or the connection behind it closed (in `gone`; both at once when it was cut). Copies of
/// messages sent before `left` count whenever they arrive; copies of later ones are `settling` until `gone` + settle.
#[derive(Clone, Copy, Debug)]
pub struct Left { pub member: Member, pub room: RoomId, pub at: At }
/// A stamped message was handed to the kernel. `acked`: None when its outcome follows as [`Settled`].
#[derive(Clone, Copy, Debug)]
pub struct Sent { pub room: RoomId, pub number: u32, pub sender: Member, pub planned: At, pub started: At, pub acked: Option<bool> }
/// The acknowledgement of a message came (`acked`) or will never come.
#[derive(Clone, Copy, Debug)]
pub struct Settled { pub room: RoomId, pub number: u32, pub acked: bool }
/// A copy arrived. 20 bytes: the hot path writes these.
#[derive(Clone, Copy, Debug)]
pub struct Received { pub at: At, pub member: Member, pub room: RoomId, pub number: u32 }

/// What the script says about delivery (`delivery:` in YAML).
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A copy received later than this after its planned send is late (ns). Default 1 s.
    pub deadline_ns: i64,
    /// Around a join or leave, a delivery is neither owed nor leaked (ns). Default 100 ms.
    pub settle_ns: i64,
    /// Whether a sender is owed its own message. Default true.
    pub echo: bool,
}

/// Copies by what became of them. `owed = delivered + late + replayed + lost + outstanding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    pub messages: u64,
    pub owed: u64,
    pub delivered: u64,
    pub late: u64,
    pub replayed: u64,
    pub lost: u64,
    /// Owed, not yet received, and not yet given up (0 once the ledger is closed).
    pub outstanding: u64,
    pub duplicate: u64,
    pub reordered: u64,
    pub leaked: u64,
    /// Copies owed of messages whose send was never acknowledged, and not received. Not in `owed`.
    pub unknown: u64,
    /// Received within a settle window: neither owed nor leaked.
    pub settling: u64,
    /// Stamps of other runs.
    pub foreign: u64,
    /// Latencies below zero (clock trouble): counted, never dropped.
    pub negative: u64,
}

/// The ledger of a run.
pub struct Ledger { /* rooms, members */ }
impl Ledger {
    pub fn new(rules: Rules) -> Ledger { let _ = rules; todo!() }
    /// Takes what all shards saw up to `until`. Copies are judged once everything that bears on them is known, i.e. up to
    /// `settle` later, so counts lag by one call. Each judged copy's latency (planned send to receipt, ns; first copies of
    /// owed messages only) goes to `latency`.
    pub fn apply(&mut self, batches: &mut [Batch], until: At, latency: impl FnMut(i64)) { let _ = (batches, until, latency); todo!() }
    pub fn counts(&self) -> Counts { todo!() }
    /// The run is over: judges what is held back; every owed copy that has not come is lost (or unknown).
    pub fn close(&mut self, at: At, latency: impl FnMut(i64)) -> Counts { let _ = (at, latency); todo!() }
}
