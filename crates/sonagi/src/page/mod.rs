//! The page: served while runs go on and after, and written as a file.
//!
//! Everything on it comes from run folders, a run of this process among them: live, library and file are one mechanism.
//! The server has a thread of its own, at a lower priority than the load's.

mod access;
mod browser;
mod feed;
mod file;
mod flags;
mod library;
mod routes;
mod server;
mod session;

pub(crate) use access::Access;
pub(crate) use browser::open;
pub(crate) use file::{id, of_capacity, of_comparison, of_matrix, write, write_several};
pub(crate) use flags::{
    Dashboard, Listen, PageWish, USUAL, address, arguments, arguments_of_search, arguments_of_watch,
    listen_argument,
};
pub(crate) use server::{Server, Subject};
pub(crate) use session::{Pages, plotted};
