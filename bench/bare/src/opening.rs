//! Opens WebSockets: connects, upgrades, and waits for a greeting where the target sends one. At most a hundred at a
//! time, which any server's backlog holds: a refused SYN would be asked again only a second later.

use crate::arguments::Target;
use crate::client::Client;
use crate::clock::{SECOND, now};
use crate::failure::Failure;
use crate::http;
use crate::links::Links;
use crate::poller::Poller;
use crate::websocket;

const WINDOW: usize = 100;
/// Ten thousand take about a second.
const LIMIT: u64 = 60 * SECOND;

/// What a server says first on a new WebSocket.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Greeting {
    None,
    /// One message: `joined`.
    Joined,
}

/// Returns once all of them stand.
pub(crate) fn open_all(
    poller: &mut Poller,
    links: &mut Links,
    target: &Target,
    connections: usize,
    greeting: Greeting,
) -> Result<(), Failure> {
    let upgraded = Vec::with_capacity(connections);
    let request = websocket::upgrade(target);
    let mut opening = Opening { request, greeting, wanted: connections, upgraded, standing: 0 };
    let limit = now() + LIMIT;
    poller.run(links, &mut opening, limit).map_err(|failure| match failure {
        Failure::Overdue(_) => {
            let standing = opening.standing;
            Failure::peer(format!("{standing} of {connections} connections stand after 60 s"))
        }
        other => other,
    })
}

struct Opening {
    request: Vec<u8>,
    greeting: Greeting,
    wanted: usize,
    upgraded: Vec<bool>,
    standing: usize,
}

impl Client for Opening {
    fn next(&self) -> u64 {
        u64::MAX
    }

    fn due(&mut self, links: &mut Links, _: u64) -> Result<(), Failure> {
        while links.len() < self.wanted && links.len() - self.standing < WINDOW {
            let who = links.open()?;
            self.upgraded.push(false);
            links.send(who, &self.request)?;
        }
        Ok(())
    }

    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], _: u64) -> Result<usize, Failure> {
        let mut taken = 0;
        if !self.upgraded[who] {
            let Some(head) = http::head(bytes, b"101")? else { return Ok(0) };
            self.upgraded[who] = true;
            self.standing += usize::from(self.greeting == Greeting::None);
            taken = head;
        }
        let mut greeted = false;
        // A room's first messages may follow the greeting at once; they belong to no plan of ours.
        taken += websocket::each_message(links, who, &bytes[taken..], |_, payload| {
            greeted |= payload == b"joined";
            Ok(())
        })?;
        self.standing += usize::from(greeted && self.greeting == Greeting::Joined);
        Ok(taken)
    }

    fn is_over(&self, _: u64) -> bool {
        self.standing == self.wanted
    }
}
