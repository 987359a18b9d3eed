//! The loop of edge-triggered epoll that drives a mode, with one timerfd for what is planned.
//!
//! A read that does not fill the buffer has emptied the socket, so no second read asks for the "would block": that
//! would be a second system call per message. A peer that has shut down is the exception and is read to its end.

use crate::client::Client;
use crate::clock::{self, now};
use crate::failure::Failure;
use crate::links::Links;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};

/// Shared by all links: one read is at most this long, and so is one message.
const BUFFER_BYTES: usize = 64 * 1024;
/// What is planned is looked at between rounds, so a round stays short.
const EVENTS: usize = 128;
const TIMER: u64 = u64::MAX;
const READABLE: EventFlags =
    EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::HUP).union(EventFlags::ERR);
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

pub(crate) struct Poller {
    timer: OwnedFd,
    armed: u64,
    buffer: Box<[u8]>,
    events: Vec<epoll::Event>,
    /// The loop waits for events only once in so many nanoseconds and lets them gather meanwhile; 0 for no such rule.
    gather: u64,
    /// When it last came back from waiting.
    woken: u64,
}

impl Poller {
    pub(crate) fn new(links: &Links, gather: u64) -> Result<Self, Failure> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)
            .map_err(Failure::system("timerfd_create"))?;
        let epoll = registry(links)?;
        // Edge-triggered: it need not be read, arming it anew is enough.
        epoll::add(epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN | EventFlags::ET)
            .map_err(Failure::system("epoll_ctl"))?;
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Ok(Self { timer, armed: 0, buffer, events: Vec::with_capacity(EVENTS), gather, woken: 0 })
    }

    /// Drives the mode until it is over; fails when that is not so by the instant `limit`.
    pub(crate) fn run(
        &mut self,
        links: &mut Links,
        client: &mut impl Client,
        limit: u64,
    ) -> Result<(), Failure> {
        while client.goes_on(links, limit)? {
            self.wait(links, client.next().min(limit))?;
            for at in 0..self.events.len() {
                let event = self.events[at];
                if event.data.u64() == TIMER {
                    continue;
                }
                let (who, flags) = (event.data.u64() as usize, event.flags);
                if flags.contains(EventFlags::OUT) {
                    links.flush(who)?;
                }
                if flags.intersects(READABLE) {
                    self.read(links, client, who, flags.intersects(ENDED))?;
                }
            }
        }
        Ok(())
    }

    /// Waits for events, or for the instant.
    ///
    /// Being woken for a few messages costs more than reading them. So where events gather, a loop that finds
    /// nothing to do sleeps by the clock first, unless its last wake is long ago: one that is always busy and one
    /// that is mostly idle lose nothing.
    fn wait(&mut self, links: &Links, until: u64) -> Result<(), Failure> {
        if self.gather > 0 {
            self.events(links, false)?;
            if !self.events.is_empty() {
                return Ok(());
            }
            clock::sleep_until((self.woken + self.gather).min(until));
        }
        let overdue = until <= now();
        if !overdue && until != self.armed {
            let once = Itimerspec { it_interval: clock::timespec(0), it_value: clock::timespec(until) };
            rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)
                .map_err(Failure::system("timerfd_settime"))?;
            self.armed = until;
        }
        self.events(links, !overdue)?;
        if self.gather > 0 {
            self.woken = now();
        }
        Ok(())
    }

    /// Takes the events there are, or waits for one.
    fn events(&mut self, links: &Links, patient: bool) -> Result<(), Failure> {
        let at_once = clock::timespec(0);
        self.events.clear();
        let events = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(registry(links)?, events, (!patient).then_some(&at_once)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Failure::System { what: "epoll_wait", errno }),
        }
    }

    fn read(
        &mut self,
        links: &mut Links,
        client: &mut impl Client,
        who: usize,
        ended: bool,
    ) -> Result<(), Failure> {
        loop {
            let unread = links.unread(who);
            let kept = unread.len();
            self.buffer[..kept].copy_from_slice(unread);
            let room = self.buffer.len() - kept;
            if room == 0 {
                return Err(Failure::peer(format!("a message is longer than {BUFFER_BYTES} bytes")));
            }
            let got = rustix::net::recv(links.socket(who), &mut self.buffer[kept..], RecvFlags::empty());
            let got = match got {
                Ok((_, 0)) => return client.closed(links, who),
                Ok((_, got)) => got,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(Errno::CONNRESET) => return client.closed(links, who),
                Err(errno) => return Err(Failure::System { what: "recv", errno }),
            };
            let bytes = &self.buffer[..kept + got];
            let taken = client.arrived(links, who, bytes, now())?;
            links.keep(who, &bytes[taken..]);
            if got < room && !ended {
                return Ok(());
            }
        }
    }
}

fn registry(links: &Links) -> Result<&OwnedFd, Failure> {
    links.epoll.as_ref().ok_or(Failure::System { what: "epoll after a ring took over", errno: Errno::BADF })
}
