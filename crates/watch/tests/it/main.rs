//! Probes against real processes and against the files of machines that this one is not.

#![allow(clippy::unwrap_used)]

mod fixture;
mod limits;
mod listeners;
mod machines;
mod nginx;
mod node;
mod pages;
mod postgres;
mod postgres_old;
mod processes;
mod redis;
mod relay;
mod service;
mod sockets;
mod support;
