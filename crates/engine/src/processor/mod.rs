//! The functions of a script's processor, run in Node beside the shard.
//!
//! One process per shard, joined to it by a socket that is also its life line: when the shard is gone, however it went,
//! the socket closes and Node ends. What the shard's users ask for between two turns of the runtime goes out in one frame.
//! Nothing here knows of users but their numbers: a call is a message, its answer a message, and the order of a user's
//! calls is the order in which it makes them.
//!
//! A process that ends by itself (a function exits, memory runs out) takes the calls under way with it. It is started
//! again a few times: module state is lost then, the users' variables are not, for the engine has them.

mod message;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, oneshot};

use crate::plan::Processor;
pub(crate) use message::{Answer, Call, Kind, Metric};
use message::{Inbound, Loading};

/// What Node runs.
const RUNNER: &str = include_str!("runner.mjs");
/// How its loader finds what we turned into JavaScript.
const HOOKS: &str = include_str!("hooks.mjs");
/// The oldest Node it is written for.
const OLDEST_NODE: u32 = 18;
/// Processes of one shard that may end by themselves before its calls fail for good.
const RESTARTS: u32 = 3;
/// The largest frame taken: a user's variables and a response fit many times over.
const FRAME_MAX: usize = 256 << 20;
/// What it said beside answers and nobody has taken yet, at most; a shard takes it once a second.
const SAID_MAX: usize = 100_000;

/// What a processor says beside its answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// A function's own metric.
    Metric(Metric),
    /// A line of its console.
    Line(String),
}

/// Why a processor could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Unloaded {
    /// There is no Node.
    #[error(
        "the processor {module} needs Node 18 or newer, and `node` was not found\n  hint: install Node, or put it on the PATH"
    )]
    NoNode {
        /// The processor.
        module: String,
    },
    /// There is one, and it is too old.
    #[error(
        "the processor {module} needs Node 18 or newer, and `node` is {version}\n  hint: put a newer one first on the PATH"
    )]
    OldNode {
        /// The processor.
        module: String,
        /// Its version.
        version: String,
    },
    /// The module could not be loaded.
    #[error("the processor {module} could not be loaded: {cause}\n  hint: {hint}")]
    Module {
        /// The processor.
        module: String,
        /// What Node says.
        cause: String,
        /// What to try.
        hint: &'static str,
    },
    /// The script calls what the module does not export.
    #[error("the processor {module} exports no function {wanted}\n  hint: it exports {exported}")]
    Missing {
        /// The processor.
        module: String,
        /// What the script calls.
        wanted: String,
        /// What there is.
        exported: String,
    },
    /// The process could not be started or spoken with.
    #[error("the processor {module} could not be started: {cause}")]
    Start {
        /// The processor.
        module: String,
        /// What the system says.
        cause: io::Error,
    },
}

/// A shard's processor. Cheap to hold; ends its process when the last holder is gone.
pub(crate) struct Sidecar {
    processor: Processor,
    outbox: RefCell<message::Outbox>,
    wake: Notify,
    waiting: RefCell<HashMap<u64, oneshot::Sender<Answer>>>,
    next: Cell<u64>,
    /// Which process it is, from 0: users introduce themselves to each.
    generation: Cell<u32>,
    is_lost: Cell<bool>,
    /// The functions its module has.
    exported: RefCell<Vec<String>>,
    /// Rings when it is.
    over: Notify,
    child: RefCell<Option<Child>>,
    said: RefCell<Vec<Said>>,
}

impl Sidecar {
    /// Starts Node and loads the module. Call within the shard's runtime.
    pub(crate) async fn start(processor: Processor) -> Result<Rc<Sidecar>, Unloaded> {
        let sidecar = Rc::new(Sidecar {
            processor,
            outbox: RefCell::default(),
            wake: Notify::new(),
            waiting: RefCell::default(),
            next: Cell::new(0),
            generation: Cell::new(0),
            is_lost: Cell::new(false),
            exported: RefCell::default(),
            over: Notify::new(),
            child: RefCell::new(None),
            said: RefCell::default(),
        });
        let line = sidecar.launch().await?;
        sidecar.check(&line.exported)?;
        sidecar.exported.borrow_mut().clone_from(&line.exported);
        tokio::task::spawn_local(Rc::clone(&sidecar).attend(line));
        Ok(sidecar)
    }

    /// Which process users speak with now.
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
    pub(crate) fn call(&self, call: &Call<'_>) -> (u64, oneshot::Receiver<Answer>) {
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

    /// What it said since, beside its answers.
    pub(crate) fn take_said(&self) -> Vec<Said> {
        self.said.take()
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
        }
    }

    fn module(&self) -> String {
        self.processor.module.display().to_string()
    }

    /// Starts a process and waits until it has loaded the module.
    async fn launch(&self) -> Result<Line, Unloaded> {
        let module = self.module();
        let start = |cause| Unloaded::Start { module: module.clone(), cause };
        let (ours, theirs) = Socket::pair().map_err(start)?;
        let child = Command::new("node")
            .args(["--input-type=module", "-e", RUNNER])
            .envs(self.processor.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // Its output is no part of ours: what functions print by themselves goes where messages for people go.
            .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned().map_err(start)?))
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|cause| match cause.kind() {
                io::ErrorKind::NotFound => Unloaded::NoNode { module: module.clone() },
                _ => start(cause),
            })?;
        self.keep(child);
        ours.set_nonblocking(true).map_err(start)?;
        let (read, write) = UnixStream::from_std(ours).map_err(start)?.into_split();
        let mut line = Line { read, write, exported: Vec::new() };
        let load = Loading { processor: &self.processor, hooks: HOOKS }.frame();
        line.write.write_all(&load).await.map_err(start)?;
        loop {
            let failed =
                |cause: String| Unloaded::Module { module: module.clone(), hint: hint(&cause), cause };
            let heard =
                line.hear().await.map_err(|_| failed("Node ended before it was loaded".to_owned()))?;
            for inbound in heard {
                match inbound {
                    Inbound::Ready { names, version } => {
                        check_version(&module, &version)?;
                        line.exported = names;
                        return Ok(line);
                    }
                    Inbound::Failed(error) => return Err(failed(error.told())),
                    Inbound::Said(said) => self.say(said),
                    Inbound::Done(..) => {}
                }
            }
        }
    }

    fn keep(&self, child: Child) {
        if let Some(mut old) = self.child.replace(Some(child)) {
            end(&mut old);
        }
    }

    fn check(&self, exported: &[String]) -> Result<(), Unloaded> {
        let missing: Vec<_> =
            self.processor.functions.iter().filter(|name| !exported.contains(name)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let exported =
            if exported.is_empty() { "no function at all".to_owned() } else { exported.join(", ") };
        Err(Unloaded::Missing { module: self.module(), wanted: missing.join(", "), exported })
    }

    /// Moves messages both ways, and starts Node again when it has ended by itself.
    async fn attend(self: Rc<Self>, mut line: Line) {
        loop {
            let Line { mut read, mut write, .. } = line;
            tokio::select! {
                _ = self.listen(&mut read) => {}
                ended = self.speak(&mut write) => if ended.is_ok() {
                    // Nothing more to ask: what is under way is heard to its end.
                    let _ = self.listen(&mut read).await;
                    break;
                },
            }
            self.waiting.borrow_mut().clear();
            let again = self.generation.get() + 1;
            self.say(Said::Line(format!(
                "the processor's Node ended by itself, and the calls under way with it ({again} of at most {} times)",
                RESTARTS + 1
            )));
            if again > RESTARTS {
                break;
            }
            self.generation.set(again);
            match self.launch().await {
                Ok(next) => line = next,
                Err(error) => {
                    self.say(Said::Line(error.to_string()));
                    break;
                }
            }
        }
        self.is_lost.set(true);
        self.waiting.borrow_mut().clear();
        self.over.notify_one();
    }

    async fn listen(&self, read: &mut OwnedReadHalf) -> io::Result<()> {
        loop {
            for inbound in hear(read).await? {
                match inbound {
                    Inbound::Done(id, answer) => {
                        if let Some(waiting) = self.waiting.borrow_mut().remove(&id) {
                            // A user that is gone is not told.
                            let _ = waiting.send(*answer);
                        }
                    }
                    Inbound::Said(said) => self.say(said),
                    Inbound::Ready { .. } | Inbound::Failed(_) => {}
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

impl Drop for Sidecar {
    fn drop(&mut self) {
        if let Some(child) = self.child.get_mut() {
            end(child);
        }
    }
}

/// Ends a process and takes note of its end, so that no zombie stays.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The socket to one process.
struct Line {
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    /// The functions its module has.
    exported: Vec<String>,
}

impl Line {
    async fn hear(&mut self) -> io::Result<Vec<Inbound>> {
        hear(&mut self.read).await
    }
}

/// The next frame's messages.
async fn hear(read: &mut OwnedReadHalf) -> io::Result<Vec<Inbound>> {
    let length = read.read_u32_le().await? as usize;
    if length > FRAME_MAX {
        return Err(io::Error::other(format!("a frame of {length} bytes")));
    }
    let mut frame = vec![0; length];
    read.read_exact(&mut frame).await?;
    message::parse(&frame).ok_or_else(|| io::Error::other("a frame that is none of ours"))
}

fn check_version(module: &str, version: &str) -> Result<(), Unloaded> {
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    if major.is_some_and(|major: u32| major < OLDEST_NODE) {
        return Err(Unloaded::OldNode { module: module.to_owned(), version: version.to_owned() });
    }
    Ok(())
}

/// What to try, by what Node says.
fn hint(cause: &str) -> &'static str {
    if cause.contains("Cannot find package") || cause.contains("Cannot find module") {
        "run `npm install` in the script's folder, and look at the paths it imports"
    } else {
        "`node` runs the module itself: try `node -e 'import(\"./processor.js\")'` in its folder"
    }
}
