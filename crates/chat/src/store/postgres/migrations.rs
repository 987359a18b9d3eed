//! The versions of the schema, each with what makes it of the one before.
//!
//! Whatever starts first brings the database up to date, in one transaction and under a lock that others wait for. A
//! version that was published is never changed: what is to be otherwise is a further one.

use deadpool_postgres::Object;
use tokio_postgres::Error as PgError;

use super::failure;
use super::pool::{LONG_WORK, Pool};
use crate::store::StoreError;

/// Numbered from 1.
const MIGRATIONS: &[&str] =
    &[include_str!("migrations/0001_tables.sql"), include_str!("migrations/0002_append.sql")];

/// The lock's number, which means nothing.
const LOCK: i64 = 7_303_000_000_000_001;

pub(super) fn run(pool: &Pool) -> Result<(), StoreError> {
    let found = pool.block(LONG_WORK, true, async |connection: &mut Object| migrate(connection).await)?;
    match usize::try_from(found) {
        Ok(found) if found <= MIGRATIONS.len() => Ok(()),
        _ => Err(failure::refused(format!(
            "its schema has version {found}, and this service knows those up to {}\n\
             hint: a newer service has used it; start that one, or give this one another database",
            MIGRATIONS.len()
        ))),
    }
}

/// Returns the version found.
async fn migrate(connection: &mut Object) -> Result<i32, PgError> {
    let transaction = connection.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS schema_version (
                version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now()
            )",
        )
        .await?;
    let row = transaction.query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[]).await?;
    let found: i32 = row.get(0);
    for (version, migration) in (1i32..).zip(MIGRATIONS) {
        if version > found {
            transaction.batch_execute(migration).await?;
            transaction.execute("INSERT INTO schema_version (version) VALUES ($1)", &[&version]).await?;
        }
    }
    transaction.commit().await?;
    Ok(found)
}
