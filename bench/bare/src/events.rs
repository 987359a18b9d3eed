//! `bare events`: holds event streams (`text/event-stream`) and counts the messages on them.
//!
//! A message is what ends with a blank line and has data; comments, `retry` and an id alone are none. Lines end with a line
//! feed, and the body with the connection: neither the other line ends nor chunks are understood, and a target that
//! sends chunks is refused.

use crate::arguments::Arguments;
use crate::client::Client;
use crate::clock::{SECOND, now};
use crate::failure::Failure;
use crate::http;
use crate::links::Links;
use crate::poller::Poller;
use memchr::memmem;

/// So many connections are opened at a time, which any server's backlog holds.
const WINDOW: usize = 100;
/// Past the end it planned, a run is given so long before it counts as stuck.
const GRACE: u64 = 30 * SECOND;

struct Events {
    request: Vec<u8>,
    /// Of each link, whether its answer has begun.
    is_open: Vec<bool>,
    wanted: usize,
    standing: usize,
    end: u64,
    messages: u64,
}

pub(crate) fn run(arguments: &mut Arguments) -> Result<String, Failure> {
    let users = arguments.count("users", 100)?;
    let length = arguments.seconds("seconds", 5)?;
    let target = arguments.target()?;
    let mut links = Links::new(target.address)?;
    let mut poller = Poller::new(&links, 0)?;
    let end = now() + length;
    let request = http::request(&target);
    let mut events =
        Events { request, is_open: Vec::with_capacity(users), wanted: users, standing: 0, end, messages: 0 };
    poller.run(&mut links, &mut events, end + GRACE)?;
    let Events { standing, messages, .. } = events;
    if standing < users {
        return Err(Failure::peer(format!("{standing} of {users} streams were open when time was up")));
    }
    Ok(format!("{{\"streams\":{standing},\"messages\":{messages}}}"))
}

impl Client for Events {
    fn next(&self) -> u64 {
        self.end
    }

    fn due(&mut self, links: &mut Links, _: u64) -> Result<(), Failure> {
        while links.len() < self.wanted && links.len() - self.standing < WINDOW {
            let who = links.open()?;
            self.is_open.push(false);
            links.send(who, &self.request)?;
        }
        Ok(())
    }

    fn arrived(&mut self, _: &mut Links, who: usize, bytes: &[u8], _: u64) -> Result<usize, Failure> {
        let mut taken = 0;
        if !self.is_open[who] {
            let Some(head) = http::head(bytes, b"200")? else { return Ok(0) };
            if memmem::find(&bytes[..head].to_ascii_lowercase(), b"\r\ntransfer-encoding:").is_some() {
                return Err(Failure::peer("a stream in chunks"));
            }
            self.is_open[who] = true;
            self.standing += 1;
            taken = head;
        }
        let (messages, length) = messages(&bytes[taken..]);
        self.messages += messages;
        Ok(taken + length)
    }

    fn is_over(&self, now: u64) -> bool {
        now >= self.end
    }
}

/// How many messages are whole at the front of `bytes`, and how long they are, with all between them.
#[inline]
fn messages(bytes: &[u8]) -> (u64, usize) {
    let (mut messages, mut taken) = (0, 0);
    while let Some(length) = memmem::find(&bytes[taken..], b"\n\n") {
        messages += u64::from(has_data(&bytes[taken..taken + length]));
        taken += length + 2;
    }
    (messages, taken)
}

/// Of the lines before a blank one.
#[inline]
fn has_data(block: &[u8]) -> bool {
    block.starts_with(b"data:") || memmem::find(block, b"\ndata:").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_split_at_any_point_has_the_same_messages() {
        let stream =
            b"retry: 1000\n\nid: 7\n\nid: 8\ndata: {\"seq\":8}\n\n: still here\n\ndata: a\ndata: b\n\n";
        for end in 0..=stream.len() {
            let (before, taken) = messages(&stream[..end]);
            let (after, rest) = messages(&stream[taken..]);
            assert_eq!((before + after, taken + rest), (2, stream.len()), "cut at {end}");
        }
    }

    #[test]
    fn a_field_whose_name_only_ends_like_data_is_none() {
        assert_eq!(messages(b"metadata: 1\n\n"), (0, 13));
    }
}
