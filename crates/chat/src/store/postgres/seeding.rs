//! Users that are to be there, and their ring.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Error as PgError;

use crate::store::{Seed, ring};

/// Rows of one statement.
const PART: usize = 10_000;

/// The lock's number, which means nothing: services that start together add their users one after the other, so that
/// ids have no gaps.
const LOCK: i64 = 7_303_000_000_000_003;

const ADD: &str = "INSERT INTO users (email, username, password)
    SELECT email, username, password FROM (
        SELECT DISTINCT ON (s.email) s.email, s.username, s.password, s.place
        FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS s (email, username, password, place)
        WHERE NOT EXISTS (SELECT FROM users u WHERE u.email = s.email)
        ORDER BY s.email, s.place
    ) missing ORDER BY place";

const CHANGE: &str = "UPDATE users SET password = s.password FROM (
        SELECT DISTINCT ON (email) email, password
        FROM unnest($1::text[], $2::text[], $3::bool[]) WITH ORDINALITY AS s (email, password, anew, place)
        WHERE anew ORDER BY email, place DESC
    ) s WHERE users.email = s.email AND users.password <> s.password";

const FIND: &str = "SELECT u.id FROM unnest($1::text[]) WITH ORDINALITY AS s (email, place)
    JOIN users u ON u.email = s.email ORDER BY s.place";

pub(super) async fn seed(connection: &mut Object, users: &[Seed]) -> Result<(), PgError> {
    let transaction = connection.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let mut ids: Vec<i64> = Vec::with_capacity(users.len());
    for part in users.chunks(PART) {
        let emails: Vec<&str> = part.iter().map(|user| user.email.as_str()).collect();
        let usernames: Vec<&str> = part.iter().map(|user| user.username.as_str()).collect();
        let passwords: Vec<&str> = part.iter().map(|user| &*user.password).collect();
        let anew: Vec<bool> = part.iter().map(|user| user.anew).collect();
        transaction.execute(ADD, &[&emails, &usernames, &passwords]).await?;
        transaction.execute(CHANGE, &[&emails, &passwords, &anew]).await?;
        ids.extend(transaction.query(FIND, &[&emails]).await?.iter().map(|row| row.get::<_, i64>(0)));
    }
    let pairs: Vec<(i64, i64)> = ring(&ids).collect();
    for part in pairs.chunks(PART) {
        let (users, others): (Vec<i64>, Vec<i64>) = part.iter().copied().unzip();
        relate(&transaction, "friends (user_id, friend_id)", &users, &others).await?;
        relate(&transaction, "friends (user_id, friend_id)", &others, &users).await?;
        relate(&transaction, "sponsors (user_id, sponsored_id)", &users, &others).await?;
    }
    transaction.commit().await
}

async fn relate(
    transaction: &Transaction<'_>,
    table: &str,
    users: &[i64],
    others: &[i64],
) -> Result<(), PgError> {
    let add =
        format!("INSERT INTO {table} SELECT * FROM unnest($1::int8[], $2::int8[]) ON CONFLICT DO NOTHING");
    transaction.execute(&add, &[&users, &others]).await.map(drop)
}
