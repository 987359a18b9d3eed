//! The loop over io_uring that drives a mode: one multishot receive per link, buffers provided in a ring, and
//! completions reaped in batches.
//!
//! It exists to answer one question with figures: what would such a receive path give the engine? So it differs from
//! `poller` in how bytes are received and in nothing else: connections are opened by epoll and sends are the same
//! system calls. With a batch of 1 it has epoll's rhythm, so that what the ring gives and what waiting gives can be told
//! apart.
//!
//! The only file with unsafe code: the kernel writes to memory that this file owns.

#![allow(unsafe_code)]

use crate::client::Client;
use crate::clock::{self, MICROSECOND, SECOND, now};
use crate::failure::Failure;
use crate::links::Links;
use io_uring::types::{BufRingEntry, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use rustix::io::Errno;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU16, Ordering};

/// Together 1 MiB: few enough to stay in a core's own cache, enough for every link of a room to have one.
const BUFFERS: u16 = 512;
const BUFFER_BYTES: usize = 2048;
const GROUP: u16 = 0;
const SUBMISSIONS: u32 = 256;

/// Fails where the kernel, a sandbox or `kernel.io_uring_disabled` forbids a ring.
pub(crate) fn probe() -> Result<(), Failure> {
    match build(1)?.params().is_feature_min_timeout() {
        true => Ok(()),
        false => Err(Failure::NoUring(std::io::Error::other("a round over a ring needs Linux 6.12"))),
    }
}

fn build(links: usize) -> Result<IoUring, Failure> {
    // A link may complete more than once in a round; what overflows the ring is kept by the kernel, only slower.
    let completions = (links as u32 * 4).next_power_of_two().clamp(512, 32_768);
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(completions)
        .build(SUBMISSIONS)
        .map_err(Failure::NoUring)
}

pub(crate) struct Ring {
    // Dropped in this order: bytes are copied inside `wait` only (deferred task work), so once the ring is closed the
    // kernel writes to no buffer any more.
    ring: IoUring,
    buffers: Buffers,
    batch: usize,
    gather: u64,
    /// When a wait last came back.
    woken: u64,
    /// Where the two halves of a message meet that came in two buffers.
    joined: Vec<u8>,
    /// Links whose receive has ended and must be asked for again.
    unarmed: Vec<usize>,
}

impl Ring {
    pub(crate) fn new(links: usize, batch: usize, gather: u64) -> Result<Self, Failure> {
        let ring = build(links)?;
        let buffers = Buffers::new();
        // SAFETY: the entries are page-aligned, as many as said, and outlive the ring (see the order of the fields).
        let registered = unsafe {
            ring.submitter().register_buf_ring_with_flags(buffers.entries_address(), BUFFERS, GROUP, 0)
        };
        registered.map_err(Failure::NoUring)?;
        let unarmed = (0..links).collect();
        Ok(Self { ring, buffers, batch, gather, woken: 0, joined: Vec::new(), unarmed })
    }

    /// Drives the mode until it is over; fails when that is not so by the instant `limit`.
    pub(crate) fn run(
        &mut self,
        links: &mut Links,
        client: &mut impl Client,
        limit: u64,
    ) -> Result<(), Failure> {
        while client.goes_on(links, limit)? {
            links.flush_all()?;
            self.arm(links)?;
            self.wait(client.next().min(limit))?;
            self.reap(links, client)?;
        }
        Ok(())
    }

    /// Asks for the next bytes of every link that has no receive under way.
    fn arm(&mut self, links: &Links) -> Result<(), Failure> {
        while let Some(who) = self.unarmed.pop() {
            let receive = opcode::RecvMulti::new(Fd(links.socket(who).as_raw_fd()), GROUP).build();
            let receive = receive.user_data(who as u64);
            loop {
                // SAFETY: the request points to no memory of ours but the registered buffers, and `Links` keeps the
                // socket open for as long as the ring lives.
                if unsafe { self.ring.submission().push(&receive) }.is_ok() {
                    break;
                }
                self.ring.submit().map_err(system)?;
            }
        }
        Ok(())
    }

    /// Waits for completions, never past the instant: for a whole batch, and after `gather` for any one; where a batch
    /// is one, `gather` is epoll's rule (see `poller`).
    fn wait(&mut self, until: u64) -> Result<(), Failure> {
        if self.batch > 1 {
            let gather = self.gather.min(until.saturating_sub(now())) / MICROSECOND;
            return self.enter(until, gather as u32);
        }
        if self.gather > 0 {
            self.enter(0, 0)?;
            if !self.ring.completion().is_empty() {
                return Ok(());
            }
            clock::sleep_until((self.woken + self.gather).min(until));
        }
        self.enter(until, 0)?;
        self.woken = now();
        Ok(())
    }

    fn enter(&mut self, until: u64, gather_us: u32) -> Result<(), Failure> {
        let left = until.saturating_sub(now());
        let time = Timespec::new().sec(left / SECOND).nsec((left % SECOND) as u32);
        let arguments = SubmitArgs::new().timespec(&time).min_wait_usec(gather_us);
        match self.ring.submitter().submit_with_args(self.batch, &arguments) {
            Ok(_) => Ok(()),
            // Time is up, a signal came, or completions overflowed and are to be reaped first.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::TIME | Errno::INTR | Errno::BUSY) => Ok(()),
                _ => Err(system(error)),
            },
        }
    }

    fn reap(&mut self, links: &mut Links, client: &mut impl Client) -> Result<(), Failure> {
        let Self { ring, buffers, joined, unarmed, .. } = self;
        for completion in ring.completion() {
            let who = completion.user_data() as usize;
            let flags = completion.flags();
            if !cqueue::more(flags) {
                unarmed.push(who);
            }
            let got = match completion.result() {
                0 => {
                    unarmed.retain(|link| *link != who);
                    client.closed(links, who)?;
                    continue;
                }
                got if got > 0 => got as usize,
                // More came than there are buffers: the receive ended and is asked for again.
                ended if -ended == Errno::NOBUFS.raw_os_error() => continue,
                failed => {
                    return Err(Failure::System {
                        what: "receive over io_uring",
                        errno: Errno::from_raw_os_error(-failed),
                    });
                }
            };
            let Some(id) = cqueue::buffer_select(flags) else {
                return Err(Failure::peer("the kernel completed a receive without a buffer"));
            };
            let bytes = buffers.filled(id, got);
            deliver(links, client, joined, who, bytes)?;
            buffers.give(id);
        }
        buffers.publish();
        Ok(())
    }
}

/// Hands bytes to the mode, behind what an earlier buffer left over.
#[inline]
fn deliver(
    links: &mut Links,
    client: &mut impl Client,
    joined: &mut Vec<u8>,
    who: usize,
    bytes: &[u8],
) -> Result<(), Failure> {
    let unread = links.unread(who);
    let bytes = if unread.is_empty() {
        bytes
    } else {
        joined.clear();
        joined.extend_from_slice(unread);
        joined.extend_from_slice(bytes);
        joined
    };
    let taken = client.arrived(links, who, bytes, now())?;
    links.keep(who, &bytes[taken..]);
    Ok(())
}

/// The buffers the kernel fills, and the ring of entries through which it is given them.
///
/// Between `give` + `publish` and the completion that names it, a buffer is the kernel's; from there to the next
/// `give` it is ours. `filled` is only called in between.
struct Buffers {
    entries: Vec<Page>,
    bytes: Vec<u8>,
    tail: u16,
}

/// The kernel wants the ring of entries on a page of its own.
#[repr(C, align(4096))]
#[derive(Clone)]
struct Page([u8; 4096]);

const ENTRY_BYTES: usize = size_of::<BufRingEntry>();

impl Buffers {
    fn new() -> Self {
        let pages = (usize::from(BUFFERS) * ENTRY_BYTES).div_ceil(4096);
        let entries = vec![Page([0; 4096]); pages];
        let mut buffers = Self { entries, bytes: vec![0; usize::from(BUFFERS) * BUFFER_BYTES], tail: 0 };
        (0..BUFFERS).for_each(|id| buffers.give(id));
        buffers.publish();
        buffers
    }

    fn entries_address(&self) -> u64 {
        self.entries.as_ptr() as u64
    }

    fn filled(&self, id: u16, length: usize) -> &[u8] {
        let begin = usize::from(id) * BUFFER_BYTES;
        &self.bytes[begin..begin + length]
    }

    /// Puts the buffer in line for the kernel, which sees it after `publish`.
    fn give(&mut self, id: u16) {
        let slot = usize::from(self.tail & (BUFFERS - 1));
        let base = self.entries.as_mut_ptr().cast::<BufRingEntry>();
        // SAFETY: the slot is below BUFFERS, for which `entries` has room; a zeroed entry is a valid one; and the
        // kernel does not read slots at or past the tail it was last told.
        let entry = unsafe { &mut *base.add(slot) };
        entry.set_addr(self.bytes.as_ptr() as u64 + u64::from(id) * BUFFER_BYTES as u64);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Tells the kernel of everything given so far.
    fn publish(&mut self) {
        let base = self.entries.as_mut_ptr().cast::<BufRingEntry>();
        // SAFETY: `base` is the ring's first entry, in whose reserved field the kernel reads the tail; it is aligned
        // for a u16, is written by us alone, and only through this atomic.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(base).cast_mut()) };
        // Release: the entries are written before the kernel may see them.
        tail.store(self.tail, Ordering::Release);
    }
}

fn system(error: std::io::Error) -> Failure {
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    Failure::System { what: "io_uring_enter", errno }
}
