//! Socket.IO packets: protocol 5, and [`Revision::Four`] of Socket.IO 1 and 2 beside it. JSON stays text: the hot path
//! never parses it.
//!
//! [`decode`] splits a packet into its parts and checks each as far as the wire form goes, the payload by its first
//! byte only. Whether the payload is valid JSON, which namespaces exist and which acknowledgement is awaited are
//! questions for the caller.
//!
//! The free functions and [`Assembler::default`] speak protocol 5.
//!
//! The decision to question: this is stricter than the reference decoder where a packet would be meaningless (an
//! acknowledgement without an id, an id on a CONNECT), because a load tester must notice what a client shrugs off.

mod assemble;
mod build;
mod packet;
mod revision;

pub use assemble::{Assembled, Assembler};
pub use build::event_name;
pub use packet::{Kind, MAX_ATTACHMENTS, Packet, PacketError, decode, encode};
pub use revision::Revision;
