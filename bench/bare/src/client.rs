//! What a mode is to the loop that drives it, be it epoll's or io_uring's.

use crate::clock::now;
use crate::failure::Failure;
use crate::links::Links;

/// One mode's behaviour. The loop is compiled once per mode, so no call here is an indirect one.
pub(crate) trait Client {
    /// When `due` wants to be called next, in nanoseconds of the clock; `u64::MAX` for never.
    fn next(&self) -> u64;

    /// Called once a round: sends what is planned up to `now`.
    fn due(&mut self, links: &mut Links, now: u64) -> Result<(), Failure>;

    /// Bytes from the link `who`, what an earlier call left over in front. Returns how many it took; the rest comes
    /// back with what follows it.
    fn arrived(&mut self, links: &mut Links, who: usize, bytes: &[u8], now: u64) -> Result<usize, Failure>;

    /// The peer closed the link.
    fn closed(&mut self, _: &mut Links, _: usize) -> Result<(), Failure> {
        Err(Failure::peer("the server closed a connection that was in use"))
    }

    fn is_over(&self, now: u64) -> bool;

    /// Begins a round of whichever loop drives this: sends what is due. False when the mode is over; fails when that is not so
    /// by the instant `limit`.
    fn goes_on(&mut self, links: &mut Links, limit: u64) -> Result<bool, Failure> {
        let began = now();
        self.due(links, began)?;
        if self.is_over(began) {
            return Ok(false);
        }
        if began >= limit { Err(Failure::Overdue("the run")) } else { Ok(true) }
    }
}
