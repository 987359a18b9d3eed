//! The loop over io_uring: one multishot receive per link, buffers provided in a ring, completions in batches.
//! (Being written.)

use crate::client::Client;
use crate::failure::Failure;
use crate::links::Links;

pub(crate) fn probe() -> Result<(), Failure> {
    io_uring::IoUring::new(8).map(drop).map_err(Failure::NoUring)
}

pub(crate) struct Ring;
impl Ring {
    pub(crate) fn new(_: usize, _: usize, _: u64) -> Result<Self, Failure> {
        Ok(Self)
    }
    pub(crate) fn run(&mut self, _: &mut Links, _: &mut impl Client, _: u64) -> Result<(), Failure> {
        Ok(())
    }
}
