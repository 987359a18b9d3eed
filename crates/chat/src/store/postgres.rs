//! The store in a PostgreSQL database, which several services may share.
//!
//! Everything goes through one pool of connections (`pool`). A batch of messages is one statement and so one
//! transaction and one round trip: a function in the database numbers and stores it (`migrations/0002_append.sql`).
//! Done from here it would take several, with the rooms locked over all of them.

mod append;
mod failure;
mod lists;
mod migrations;
mod pool;
mod seeding;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use self::pool::{LONG_WORK, Pool, WORK};
use super::user_lists::UserLists;
use super::{
    Appended, Filling, History, NewMessage, OpenHistory, PageRequest, Pooled, Relations, RoomRow, Seed,
    Store, StoreError, UserRow, access, pair, signed, unsigned,
};
use crate::config::Error;
use crate::config::postgres::PostgresLocation;
use crate::model::message::Message;
use crate::model::room_id::Access;

/// A store of which any number may be open at once.
#[derive(Clone)]
pub(super) struct Postgres {
    pool: Arc<Pool>,
    /// A room is forgotten only when it was idle for this long.
    idle: Duration,
}

type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Postgres {
    /// Opens the database and makes what its schema lacks.
    pub(super) fn open(location: &PostgresLocation, idle: Duration) -> Result<Postgres, Error> {
        let doing = "open";
        let at = |reason: String| Error::Store { doing, reason: format!("{location}: {reason}") };
        let pool = Arc::new(Pool::new(location).map_err(at)?);
        migrations::run(&pool).map_err(|error| at(error.to_string()))?;
        Ok(Postgres { pool, idle })
    }

    /// Reads rows; again when the connection is lost.
    fn rows(&self, query: &str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.within(WORK, query, values)
    }

    fn within(&self, most: Duration, query: &str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.pool.block(most, true, async |connection: &mut Object| {
            let statement = connection.prepare_cached(query).await?;
            connection.query(&statement, values).await
        })
    }

    /// The value of a fact that is always there.
    fn fact(&self, name: &str) -> Result<String, StoreError> {
        let rows = self.rows("SELECT value FROM facts WHERE name = $1", &[&name])?;
        rows.first()
            .map(|row| row.get(0))
            .ok_or_else(|| failure::refused(format!("the fact `{name}` is missing")))
    }

    fn rooms_where(&self, condition: &str, values: Values<'_>) -> Result<Vec<RoomRow>, StoreError> {
        let query =
            format!("SELECT key, id, a, b, last, oldest, is_used FROM rooms WHERE {condition} ORDER BY key");
        Ok(self.within(LONG_WORK, &query, values)?.iter().map(room).collect())
    }

    fn key(&self, id: &str) -> Result<Option<i64>, StoreError> {
        Ok(self.rows("SELECT key FROM rooms WHERE id = $1", &[&id])?.first().map(|row| row.get(0)))
    }
}

fn room(row: &Row) -> RoomRow {
    let id: String = row.get(1);
    RoomRow {
        key: row.get(0),
        access: access(&id, row.get(2), row.get(3)),
        id,
        last: unsigned(row.get(4)),
        oldest: unsigned(row.get(5)),
        is_used: row.get(6),
    }
}

impl Store for Postgres {
    fn epoch(&mut self) -> Result<String, StoreError> {
        self.fact("epoch")
    }

    fn users(&mut self) -> Result<Vec<UserRow>, StoreError> {
        let query = "SELECT id, email, username, password FROM users ORDER BY id";
        let user = |row: &Row| UserRow {
            id: unsigned(row.get(0)),
            email: row.get(1),
            username: row.get(2),
            password: row.get(3),
        };
        Ok(self.within(LONG_WORK, query, &[])?.iter().map(user).collect())
    }

    fn relations(&mut self) -> Result<Relations, StoreError> {
        let pairs = |query| -> Result<Vec<(u64, u64)>, StoreError> {
            let rows = self.within(LONG_WORK, query, &[])?;
            Ok(rows.iter().map(|row| (unsigned(row.get(0)), unsigned(row.get(1)))).collect())
        };
        Ok(Relations {
            friends: pairs("SELECT user_id, friend_id FROM friends ORDER BY user_id, friend_id")?,
            sponsors: pairs("SELECT user_id, sponsored_id FROM sponsors ORDER BY user_id, sponsored_id")?,
            // Not counted here: `user_lists` does, when somebody asks.
            posts: std::collections::HashMap::new(),
        })
    }

    fn seed(&mut self, users: &[Seed]) -> Result<(), StoreError> {
        self.pool
            .block(LONG_WORK, true, async |connection: &mut Object| seeding::seed(connection, users).await)
    }

    fn rooms(&mut self) -> Result<Vec<RoomRow>, StoreError> {
        self.rooms_where("true", &[])
    }

    fn find_room(&mut self, id: &str) -> Result<Option<RoomRow>, StoreError> {
        Ok(self.rooms_where("id = $1", &[&id])?.pop())
    }

    fn rooms_above(&mut self, key: i64) -> Result<Vec<RoomRow>, StoreError> {
        self.rooms_where("key > $1", &[&key])
    }

    fn last_numbers(&mut self, keys: &[i64]) -> Result<Vec<(i64, u64)>, StoreError> {
        let query = "SELECT key, last FROM rooms WHERE key = ANY ($1) ORDER BY key";
        let rows = self.rows(query, &[&keys])?;
        Ok(rows.iter().map(|row| (row.get(0), unsigned(row.get(1)))).collect())
    }

    fn insert_room(&mut self, id: &str, access: Access) -> Result<i64, StoreError> {
        if let Some(key) = self.key(id)? {
            return Ok(key);
        }
        let (a, b) = pair(access);
        self.rows("SELECT make_rooms($1, $2, $3)", &[&[id].as_slice(), &[a].as_slice(), &[b].as_slice()])?;
        self.key(id)?.ok_or_else(|| failure::refused(format!("the room `{id}` was forgotten at once")))
    }

    fn forget_rooms(&mut self, keys: &[i64]) -> Result<(), StoreError> {
        let idle = self.idle.as_secs_f64();
        self.rows("SELECT forget_rooms($1, $2)", &[&keys, &idle]).map(drop)
    }

    fn append(&mut self, messages: &[NewMessage<'_>], kept: u64) -> Result<Vec<Appended>, StoreError> {
        append::append(&self.pool, messages, kept)
    }

    fn readers(&self) -> Option<OpenHistory> {
        let store = self.clone();
        Some(Box::new(move || Ok(Box::new(store.clone()))))
    }

    fn token_secret(&mut self) -> Result<Option<String>, StoreError> {
        self.fact("token secret").map(Some)
    }

    fn user_lists(&self) -> Option<Arc<dyn UserLists>> {
        Some(Arc::new(lists::Lists(self.pool.clone())))
    }

    fn pool(&self) -> Option<Arc<dyn Pooled>> {
        Some(self.pool.clone())
    }
}

impl History for Postgres {
    fn page(&mut self, room: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError> {
        // The contents alone are about what the page has; `Filling` ends it exactly.
        let query = "SELECT seq, sender, content, at FROM (
                SELECT seq, sender, content, at, sum(octet_length(content)) OVER (ORDER BY seq) AS bytes,
                    row_number() OVER (ORDER BY seq) AS place
                FROM (
                    SELECT seq, sender, content, at FROM messages WHERE room = $1 AND seq > $2 AND seq <= $3
                    ORDER BY seq LIMIT $4
                ) few
            ) summed WHERE bytes <= $5 OR place = 1 ORDER BY seq";
        let limit = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let rows = self.rows(
            query,
            &[
                &room,
                &limit(wanted.after),
                &limit(wanted.upto),
                &limit(wanted.messages as u64),
                &limit(wanted.bytes as u64),
            ],
        )?;
        let mut filling = Filling::new(wanted);
        for row in &rows {
            if !filling.add(row.get(0), row.get(1), row.get(2), row.get(3)) {
                break;
            }
        }
        Ok(filling.page)
    }
}
