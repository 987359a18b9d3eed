//! PostgreSQL's failures, in words and by what they mean.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use tokio_postgres::Error as PgError;
use tokio_postgres::error::SqlState;

use crate::store::{Failure, StoreError};

/// A failure in one line. Of a statement's only the message: what else the server says may have values in it.
pub(super) fn text(error: &PgError) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

pub(super) fn of(error: PgError) -> StoreError {
    let kind = if passes(&error) || is_lost(&error) { Failure::Unreachable } else { Failure::Refused };
    StoreError { kind, source: text(&error).into() }
}

pub(super) fn unreachable(why: String) -> StoreError {
    StoreError { kind: Failure::Unreachable, source: why.into() }
}

pub(super) fn refused(why: String) -> StoreError {
    StoreError { kind: Failure::Refused, source: why.into() }
}

/// All of the pool's connections were taken.
pub(super) fn busy(size: usize, waited: Duration) -> StoreError {
    let why = format!("all {size} connections were taken for {} s", waited.as_secs_f64());
    StoreError { kind: Failure::Busy, source: why.into() }
}

/// Whether the server ended the connection, or it broke. What was asked over it may have been done.
pub(super) fn is_lost(error: &PgError) -> bool {
    let ended = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::IDLE_SESSION_TIMEOUT];
    match error.code() {
        Some(code) => ended.contains(code),
        None => error.is_closed() || is_io(error),
    }
}

/// Whether connecting failed for a reason that passes: nobody listens yet, the server starts up or shuts down, it has
/// as many connections as it takes.
pub(super) fn passes(error: &PgError) -> bool {
    let passing = [
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    match error.code() {
        Some(code) => passing.contains(code),
        None => error.is_closed() || is_io(error),
    }
}

fn is_io(error: &PgError) -> bool {
    error.source().is_some_and(|cause| cause.is::<io::Error>())
}
