//! The functions of a script's processor, run in Node beside the shard.
//!
//! One process per shard, connected by a socket that is also its life line: when the shard is gone, for whatever
//! reason, the socket closes and Node ends. If Node does not notice, because a function never returns, a thread of its
//! own that watches our process ends it. Calls made between two turns of the runtime go out in one frame. Users are
//! known by their numbers only: a call is a message, its answer a message, and a user's calls keep their order.
//!
//! A process that ends by itself (a function exits, memory runs out) takes the calls under way with it. It is started
//! again a few times: module state is lost then, the users' variables are not, for the engine has them. A signal that
//! ends the run is none of Node's: it has a process group of its own, and goes on answering until its users are gone.

mod loaded_processor;
mod message;
mod process;
#[cfg(test)]
mod tests;
mod unloaded;

use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::plan::Processor;
pub use loaded_processor::{LoadedProcessor, exports};
use message::Inbound;
pub(crate) use message::{Call, FunctionResult, Kind, Metric};
use process::{FrameReader, Line, Node, Process};
use sonagi_engine::Control;
use sonagi_measure::At;
use sonagi_transport::clock::Clock;
pub use unloaded::Unloaded;

/// The code that Node runs.
const RUNNER: &str = concat!(
    include_str!("user.mjs"),
    include_str!("params.mjs"),
    include_str!("global.mjs"),
    include_str!("runner.mjs")
);
/// How its loader finds what we turned into JavaScript.
const HOOKS: &str = include_str!("hooks.mjs");
/// Processes of one shard that may end by themselves before its calls fail for good.
const RESTARTS: u32 = 3;
/// Limit on unasked messages that wait; a shard takes them once a second.
const SAID_MAX: usize = 100_000;

/// An unasked message of a processor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// A function's own metric.
    Metric(Metric),
    /// A line about it, of its own runner or of ours.
    Line(String),
    /// The output of a function, without the end of its last line.
    Printed { is_error: bool, text: String },
    /// The exit code that a function wants.
    ExitCode(u8),
}

/// A shard's processor. Cheap to hold; ends its process when the last holder is gone.
pub(crate) struct Sidecar {
    processor: Processor,
    /// The process that loaded the module before the run, if any.
    kept: LoadedProcessor,
    /// The variables all users begin with, as JSON: each process is told of them once.
    shared: String,
    control: Control,
    outbox: RefCell<message::Outbox>,
    wake: Notify,
    waiting: RefCell<HashMap<u64, oneshot::Sender<FunctionResult>>>,
    next: Cell<u64>,
    /// The number of the current process, from 0: users introduce themselves to each.
    generation: Cell<u32>,
    is_lost: Cell<bool>,
    /// Rings when it is.
    over: Notify,
    /// The functions its module has.
    exported: RefCell<Vec<String>>,
    node: RefCell<Option<Node>>,
    /// How long the process had wanted a core when that was last asked (ns).
    wanted_ns: Cell<u64>,
    said: RefCell<Vec<Said>>,
    /// Rings when there is more of it.
    has_said: Notify,
    /// The messages discarded beyond [`SAID_MAX`].
    unheard: Cell<u64>,
}

impl Sidecar {
    /// Starts Node and loads the module, or takes over the process of `kept` that has; `shared` are the variables every
    /// user begins with. What it says meanwhile is told as it comes, but for metrics: those wait for who counts them.
    /// None when the run was asked to end before it was loaded. Call within the shard's runtime.
    pub(crate) async fn start(
        processor: Processor,
        kept: LoadedProcessor,
        shared: Map<String, Value>,
        control: Control,
        tell: &mut dyn FnMut(Said),
    ) -> Result<Option<Rc<Sidecar>>, Unloaded> {
        let sidecar = Rc::new(Sidecar {
            processor,
            kept,
            shared: Value::Object(shared).to_string(),
            control,
            outbox: RefCell::default(),
            wake: Notify::new(),
            waiting: RefCell::default(),
            next: Cell::new(0),
            generation: Cell::new(0),
            is_lost: Cell::new(false),
            over: Notify::new(),
            exported: RefCell::default(),
            node: RefCell::new(None),
            wanted_ns: Cell::new(0),
            said: RefCell::default(),
            has_said: Notify::new(),
            unheard: Cell::new(0),
        });
        let launched = sidecar.launch_aloud(tell).await;
        sidecar.hand_over(tell);
        let Some(line) = launched? else { return Ok(None) };
        sidecar.check()?;
        tokio::task::spawn_local(Rc::clone(&sidecar).attend(line));
        Ok(Some(sidecar))
    }

    /// The number of the process that users speak with now.
    pub(crate) fn generation(&self) -> u32 {
        self.generation.get()
    }

    /// Whether the module has a function of that name.
    pub(crate) fn exports(&self, name: &str) -> bool {
        self.exported.borrow().iter().any(|exported| exported == name)
    }

    /// How long a function may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.processor.timeout
    }

    /// Calls a function. The answer comes over the channel; none when the process is lost.
    pub(crate) fn call(&self, call: Call<'_>) -> (u64, oneshot::Receiver<FunctionResult>) {
        let (answer, receiver) = oneshot::channel();
        let id = self.next.replace(self.next.get() + 1);
        if !self.is_lost.get() {
            self.waiting.borrow_mut().insert(id, answer);
            self.outbox.borrow_mut().call(id, call);
            self.wake.notify_one();
        }
        (id, receiver)
    }

    /// Nobody waits for this call any more.
    pub(crate) fn abandon(&self, id: u64) {
        if self.waiting.borrow_mut().remove(&id).is_some() {
            self.outbox.borrow_mut().abandon(id);
            self.wake.notify_one();
        }
    }

    /// A user is gone.
    pub(crate) fn forget(&self, user: u32) {
        if !self.is_lost.get() {
            self.outbox.borrow_mut().forget(user);
            self.wake.notify_one();
        }
    }

    /// How long its process was busy, or ready to run and had no core, since the last call (ns).
    pub(crate) fn take_wanted_ns(&self) -> u64 {
        let now = self.node.borrow().as_ref().map_or(0, Node::wanted_ns);
        now.saturating_sub(self.wanted_ns.replace(now))
    }

    /// The unasked messages since the last call.
    pub(crate) fn take_said(&self) -> Vec<Said> {
        let mut said = self.said.take();
        let unheard = self.unheard.take();
        if unheard > 0 {
            let text = format!("{unheard} metrics and lines of functions were left out: they came too fast");
            said.push(Said::Line(text));
        }
        said
    }

    /// All users are gone: comes back when the process has said all it has to say.
    pub(crate) async fn finish(&self) {
        self.outbox.borrow_mut().end();
        self.wake.notify_one();
        if !self.is_lost.get() {
            self.over.notified().await;
        }
    }

    fn say(&self, said: Said) {
        let mut all = self.said.borrow_mut();
        if all.len() < SAID_MAX {
            all.push(said);
        } else {
            self.unheard.set(self.unheard.get() + 1);
        }
        self.has_said.notify_one();
    }

    /// Tells what it said so far, but for metrics.
    fn hand_over(&self, tell: &mut dyn FnMut(Said)) {
        for said in self.take_said() {
            match said {
                Said::Metric(_) => self.said.borrow_mut().push(said),
                Said::Line(_) | Said::Printed { .. } | Said::ExitCode(_) => tell(said),
            }
        }
    }

    /// [`Sidecar::launch_in_time`], and what is said meanwhile is told as it comes.
    async fn launch_aloud(&self, tell: &mut dyn FnMut(Said)) -> Result<Option<Line>, Unloaded> {
        let mut launch = std::pin::pin!(self.launch_in_time());
        loop {
            tokio::select! {
                launched = &mut launch => return launched,
                () = self.has_said.notified() => self.hand_over(tell),
            }
        }
    }

    /// [`Sidecar::launch`] within the time a function has; None when the run was asked to end meanwhile.
    async fn launch_in_time(&self) -> Result<Option<Line>, Unloaded> {
        let limit = self.timeout();
        let launched = in_time(self.launch(), limit, &self.control, Instant::now()).await;
        match launched.map_err(|cause| Unloaded::start(&self.processor, cause))? {
            Some(launched) => launched.map(Some),
            None if self.control.is_stopping() => Ok(None),
            None => Err(Unloaded::slow(&self.processor, limit)),
        }
    }

    /// Starts a process, or takes over the one that was kept, and waits until it has loaded the module.
    async fn launch(&self) -> Result<Line, Unloaded> {
        let start = |cause| Unloaded::start(&self.processor, cause);
        let mut process = match self.kept.take(&self.processor) {
            Some((kept, said)) => {
                said.into_iter().for_each(|said| self.say(said));
                kept?.attach().map_err(start)?
            }
            None => Process::begin(&self.processor).await?,
        };
        process.load(&self.processor, &mut |said| self.say(said)).await?;
        let Process { node, mut line, exported, .. } = process;
        // A process that has ended meanwhile is noticed when it is read from.
        let _ = line.write.write_all(&message::share(&self.shared)).await;
        *self.exported.borrow_mut() = exported.unwrap_or_default();
        // Loading the module is no load.
        self.wanted_ns.set(node.wanted_ns());
        self.node.replace(Some(node));
        Ok(line)
    }

    fn check(&self) -> Result<(), Unloaded> {
        let exported = self.exported.borrow();
        let missing: Vec<_> =
            self.processor.functions.iter().filter(|name| !exported.contains(name)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let exported =
            if exported.is_empty() { "no function at all".to_owned() } else { exported.join(", ") };
        let module = self.processor.module.display().to_string();
        Err(Unloaded::Missing { module, wanted: missing.join(", "), exported })
    }

    /// Moves messages both ways, and starts Node again when it has ended by itself.
    async fn attend(self: Rc<Self>, mut line: Line) {
        loop {
            let Line { mut read, mut write } = line;
            tokio::select! {
                _ = self.listen(&mut read) => {}
                ended = self.speak(&mut write) => if ended.is_ok() {
                    // Nothing more to ask: what is under way is heard to its end.
                    let _ = self.listen(&mut read).await;
                    break;
                },
            }
            self.lose_calls();
            let again = self.generation.get() + 1;
            self.say(Said::Line(format!(
                "the processor's Node ended by itself, and the calls under way with it ({again} of at most {} times)",
                RESTARTS + 1
            )));
            if again > RESTARTS || self.control.is_stopping() || self.outbox.borrow().is_spent() {
                break;
            }
            self.generation.set(again);
            match self.launch_in_time().await {
                Ok(Some(next)) => line = next,
                Ok(None) => break,
                Err(error) => {
                    self.say(Said::Line(error.to_string()));
                    break;
                }
            }
        }
        self.is_lost.set(true);
        self.lose_calls();
        self.over.notify_one();
    }

    /// Nobody answers the calls that were made up to now, those that still wait to be sent among them.
    fn lose_calls(&self) {
        self.waiting.borrow_mut().clear();
        self.outbox.borrow_mut().clear();
    }

    async fn listen(&self, read: &mut FrameReader) -> io::Result<()> {
        loop {
            for inbound in read.hear().await? {
                match inbound {
                    Inbound::Done(id, answer) => {
                        if let Some(waiting) = self.waiting.borrow_mut().remove(&id) {
                            // A user that is gone is not told.
                            let _ = waiting.send(*answer);
                        }
                    }
                    Inbound::Said(said) => self.say(said),
                    Inbound::Hello(_) | Inbound::Ready(_) | Inbound::Failed(_) => {}
                }
            }
        }
    }

    /// Sends what is in the outbox whenever there is something; ends when there never will be.
    async fn speak(&self, write: &mut OwnedWriteHalf) -> io::Result<()> {
        loop {
            let (frame, is_last) = self.outbox.borrow_mut().take();
            if let Some(frame) = frame {
                write.write_all(&frame).await?;
            }
            if is_last {
                return write.shutdown().await;
            }
            self.wake.notified().await;
        }
    }
}

/// The result of `work` within `limit`; None when that has passed, or the run was asked to end.
async fn in_time<T>(
    work: impl Future<Output = T>,
    limit: Duration,
    control: &Control,
    since: Instant,
) -> io::Result<Option<T>> {
    // There may be no run yet whose clock it could be.
    let clock = Clock::real(since)?;
    let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
    let done = tokio::select! {
        done = work => Some(done),
        () = clock.sleep_until(At(limit.as_nanos() as i64)) => None,
        () = control.stopped() => None,
    };
    driver.abort();
    Ok(done)
}
