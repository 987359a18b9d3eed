//! A process of Node: starts it, tells it what to load, and waits until it has.
//!
//! It ends when its last owner drops it. Before a run no shard owns it ([`super::LoadedProcessor`]): its socket moves
//! from one runtime to another, with the part of a frame read by then.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::message::{self, Inbound, Loading};
use super::unloaded::check_version;
use super::{HOOKS, RUNNER, Said, Unloaded};
use crate::plan::Processor;

/// The largest frame taken: a user's variables and a response fit many times over.
const FRAME_MAX: usize = 256 << 20;
/// Bytes read at once when the size of the rest is unknown.
const READ_AHEAD: usize = 16 << 10;

/// A process that was told to load its module.
pub(super) struct Process {
    pub(super) node: Node,
    pub(super) line: Line,
    /// The functions its module has; None: it is still loading it.
    pub(super) exported: Option<Vec<String>>,
    has_spoken: bool,
}

impl Process {
    /// Starts Node and tells it what to load. Call within a runtime.
    pub(super) async fn begin(processor: &Processor) -> Result<Process, Unloaded> {
        let start = |cause| Unloaded::start(processor, cause);
        let (ours, theirs) = Socket::pair().map_err(start)?;
        let node = Node(spawn(processor, theirs)?);
        ours.set_nonblocking(true).map_err(start)?;
        let mut line = Line::of(ours, Vec::new()).map_err(start)?;
        // A Node that has ended already does not take it: what it said, if anything, tells why.
        let _ = line.write.write_all(&Loading { processor, hooks: HOOKS }.frame()).await;
        Ok(Process { node, line, exported: None, has_spoken: false })
    }

    /// Waits until its module is loaded. Cancel safe: what it says then is heard by who waits next.
    pub(super) async fn load(
        &mut self,
        processor: &Processor,
        say: &mut dyn FnMut(Said),
    ) -> Result<(), Unloaded> {
        let module = &processor.module;
        while self.exported.is_none() {
            let Ok(heard) = self.line.read.hear().await else {
                return Err(match self.has_spoken {
                    true => Unloaded::module(module, "Node ended before it was loaded".to_owned()),
                    false => Unloaded::speechless(module),
                });
            };
            self.has_spoken = true;
            for inbound in heard {
                match inbound {
                    Inbound::Hello(version) => check_version(module, &version)?,
                    Inbound::Ready(names) => self.exported = Some(names),
                    Inbound::Failed(error) => return Err(Unloaded::module(module, error.told())),
                    Inbound::Said(said) => say(said),
                    Inbound::Done(..) => {}
                }
            }
        }
        Ok(())
    }

    /// Takes it out of its runtime. None when its socket is no longer good for anything.
    pub(super) fn detach(self) -> Option<Detached> {
        let Process { node, line: Line { read, write }, exported, has_spoken } = self;
        let socket = read.half.reunite(write).ok()?.into_std().ok()?;
        Some(Detached { node, socket, rest: read.rest, exported, has_spoken })
    }
}

/// A process that no runtime has.
#[derive(Debug)]
pub(super) struct Detached {
    node: Node,
    socket: Socket,
    rest: Vec<u8>,
    pub(super) exported: Option<Vec<String>>,
    has_spoken: bool,
}

impl Detached {
    /// Puts it into the runtime of the caller.
    pub(super) fn attach(self) -> io::Result<Process> {
        let Detached { node, socket, rest, exported, has_spoken } = self;
        Ok(Process { node, line: Line::of(socket, rest)?, exported, has_spoken })
    }
}

/// Node itself; ended when dropped, and note taken of its end, so that no zombie stays.
#[derive(Debug)]
pub(super) struct Node(Child);

impl Node {
    /// How long it was busy, or ready to run and had no core, since it began (ns): functions run on its first thread.
    pub(super) fn wanted_ns(&self) -> u64 {
        sonagi_engine::health::process_wanted_ns(self.0.id()).unwrap_or(0)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process with `line` for its standard input.
#[expect(clippy::disallowed_methods, reason = "where a child's output goes; nothing is written here")]
fn spawn(processor: &Processor, line: Socket) -> Result<Child, Unloaded> {
    let start = |cause| Unloaded::start(processor, cause);
    Command::new("node")
        .args(["--input-type=module", "-e", RUNNER])
        .envs(processor.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(line)))
        // Its output is no part of ours: what functions print by themselves goes where messages for people go.
        .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned().map_err(start)?))
        .stderr(Stdio::inherit())
        // A terminal's Ctrl-C is for us.
        .process_group(0)
        .spawn()
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Unloaded::NoNode { module: processor.module.display().to_string() },
            _ => start(cause),
        })
}

/// The socket to one process.
pub(super) struct Line {
    pub(super) read: FrameReader,
    pub(super) write: OwnedWriteHalf,
}

impl Line {
    /// A line over a non-blocking socket, with bytes already read from it.
    fn of(socket: Socket, rest: Vec<u8>) -> io::Result<Line> {
        let (half, write) = UnixStream::from_std(socket)?.into_split();
        Ok(Line { read: FrameReader { half, rest }, write })
    }
}

/// The frames from a process.
pub(super) struct FrameReader {
    half: OwnedReadHalf,
    /// Bytes of frames that were not handed out yet.
    rest: Vec<u8>,
}

impl FrameReader {
    /// The next frame's messages. Cancel safe.
    pub(super) async fn hear(&mut self) -> io::Result<Vec<Inbound>> {
        loop {
            let wanted = wanted(&self.rest)?;
            if let Some(frame) = self.rest.get(4..wanted.max(4)).filter(|_| self.rest.len() >= 4) {
                let messages = message::parse(frame);
                self.rest.drain(..wanted);
                if self.rest.is_empty() && wanted > READ_AHEAD {
                    // A large frame is rare: its room is given back.
                    self.rest = Vec::new();
                }
                return messages.ok_or_else(|| io::Error::other("a frame that is none of ours"));
            }
            self.rest.reserve(wanted.saturating_sub(self.rest.len()).max(READ_AHEAD));
            if self.half.read_buf(&mut self.rest).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// How many bytes the first frame takes with its head, as far as it has come.
fn wanted(come: &[u8]) -> io::Result<usize> {
    let Some(head) = come.first_chunk() else { return Ok(4) };
    match u32::from_le_bytes(*head) as usize {
        length if length > FRAME_MAX => Err(io::Error::other(format!("a frame of {length} bytes"))),
        length => Ok(4 + length),
    }
}
