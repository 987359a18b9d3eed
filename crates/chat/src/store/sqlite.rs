//! The store in an SQLite database: its tables and its statements.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Params, TransactionBehavior, params};

use super::{
    Appended, Failure, Filling, History, NewMessage, OpenHistory, PageRequest, Relations, RoomRow, Seed,
    Store, StoreError, UserRow, access, pair, ring, signed, unsigned,
};
use crate::config::Error;
use crate::model::message::Message;
use crate::model::room_id::Access;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS users (
        id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, username TEXT NOT NULL, password TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS friends (
        user INTEGER NOT NULL, friend INTEGER NOT NULL, PRIMARY KEY (user, friend)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS sponsors (
        user INTEGER NOT NULL, sponsored INTEGER NOT NULL, PRIMARY KEY (user, sponsored)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS rooms (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, a INTEGER, b INTEGER
    );
    CREATE TABLE IF NOT EXISTS messages (
        room INTEGER NOT NULL, seq INTEGER NOT NULL, sender INTEGER NOT NULL, client_id TEXT,
        content TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (room, seq)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT OR IGNORE INTO facts VALUES ('epoch', lower(hex(randomblob(8))));
    INSERT OR IGNORE INTO facts VALUES ('last room', '0');
    CREATE UNIQUE INDEX IF NOT EXISTS sends ON messages (room, sender, client_id)
        WHERE client_id IS NOT NULL;
";

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError { kind: Failure::Refused, source: Box::new(error) }
    }
}

/// A connection to the database.
pub(super) struct Sqlite {
    db: Connection,
    /// `None` in memory.
    file: Option<PathBuf>,
}

impl Sqlite {
    /// Opens the database for writing and makes its tables; without a file, one in memory.
    pub(super) fn open(file: Option<&Path>) -> Result<Sqlite, Error> {
        let db =
            file.map_or_else(Connection::open_in_memory, Connection::open).map_err(Error::store("open"))?;
        prepare(&db).map_err(Error::store("open"))?;
        db.execute_batch(SCHEMA).map_err(Error::store("create the tables of"))?;
        Ok(Sqlite { db, file: file.map(Path::to_owned) })
    }
}

/// NORMAL with a write-ahead log: a commit survives the process, and a power cut may lose the last ones but never
/// corrupts. FULL would bound the service by the disk's flushes, which is not what is being studied.
fn prepare(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(())
}

impl Store for Sqlite {
    fn epoch(&mut self) -> Result<String, StoreError> {
        Ok(self.db.query_row("SELECT value FROM facts WHERE name = 'epoch'", [], |row| row.get(0))?)
    }

    fn users(&mut self) -> Result<Vec<UserRow>, StoreError> {
        Ok(users(&self.db)?)
    }

    fn relations(&mut self) -> Result<Relations, StoreError> {
        Ok(relations(&self.db)?)
    }

    fn seed(&mut self, users: &[Seed]) -> Result<(), StoreError> {
        Ok(seed(&mut self.db, users)?)
    }

    fn rooms(&mut self) -> Result<Vec<RoomRow>, StoreError> {
        Ok(rooms_where(&self.db, "true", [])?)
    }

    fn find_room(&mut self, id: &str) -> Result<Option<RoomRow>, StoreError> {
        Ok(rooms_where(&self.db, "id = ?1", [id])?.pop())
    }

    fn rooms_above(&mut self, key: i64) -> Result<Vec<RoomRow>, StoreError> {
        Ok(rooms_where(&self.db, "key > ?1", [key])?)
    }

    fn last_numbers(&mut self, keys: &[i64]) -> Result<Vec<(i64, u64)>, StoreError> {
        Ok(last_numbers(&self.db, keys)?)
    }

    fn insert_room(&mut self, id: &str, access: Access) -> Result<i64, StoreError> {
        Ok(insert_room(&self.db, id, access)?)
    }

    fn forget_rooms(&mut self, keys: &[i64]) -> Result<(), StoreError> {
        Ok(forget_rooms(&mut self.db, keys)?)
    }

    fn append(&mut self, messages: &[NewMessage<'_>], kept: u64) -> Result<Vec<Appended>, StoreError> {
        Ok(append(&mut self.db, messages, kept)?)
    }

    fn readers(&self) -> Option<OpenHistory> {
        let path = self.file.clone()?;
        Some(Box::new(move || {
            let db = Connection::open(&path)?;
            prepare(&db)?;
            db.pragma_update(None, "query_only", true)?;
            Ok(Box::new(Sqlite { db, file: Some(path.clone()) }))
        }))
    }
}

impl History for Sqlite {
    fn page(&mut self, room: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError> {
        Ok(page(&self.db, room, wanted)?)
    }
}

/// A room while messages are appended to it.
struct Open {
    key: i64,
    /// The last number given.
    last: u64,
}

fn append(
    db: &mut Connection,
    messages: &[NewMessage<'_>],
    kept: u64,
) -> Result<Vec<Appended>, rusqlite::Error> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut rooms: HashMap<&str, Open> = HashMap::new();
    let mut appended = Vec::with_capacity(messages.len());
    for message in messages {
        let room = match rooms.get_mut(message.room) {
            Some(room) => room,
            None => rooms.entry(message.room).or_insert(opened(&tx, message)?),
        };
        let key = room.key;
        if let Some(id) = message.client_id
            && let Some(seq) = sent_before(&tx, key, message.sender, id)?
        {
            appended.push(Appended { key, seq, is_repeated: true, oldest: None });
            continue;
        }
        let seq = room.last + 1;
        insert_message(&tx, key, seq, message)?;
        room.last = seq;
        // Not at every message: deleting in runs of 256 costs less and keeps at most that many more.
        let is_time = seq > kept && seq.is_multiple_of(256);
        if is_time {
            prune(&tx, key, seq - kept)?;
        }
        appended.push(Appended { key, seq, is_repeated: false, oldest: is_time.then(|| seq - kept + 1) });
    }
    tx.commit()?;
    Ok(appended)
}

fn opened(db: &Connection, message: &NewMessage<'_>) -> Result<Open, rusqlite::Error> {
    let key = match message.key {
        0 => insert_room(db, message.room, message.access)?,
        key => key,
    };
    let last: Option<i64> = db
        .prepare_cached("SELECT max(seq) FROM messages WHERE room = ?1")?
        .query_row([key], |row| row.get(0))?;
    Ok(Open { key, last: last.map_or(0, unsigned).max(message.above) })
}

fn users(db: &Connection) -> Result<Vec<UserRow>, rusqlite::Error> {
    let mut statement = db.prepare("SELECT id, email, username, password FROM users ORDER BY id")?;
    let rows = statement.query_map([], |row| {
        Ok(UserRow {
            id: unsigned(row.get(0)?),
            email: row.get(1)?,
            username: row.get(2)?,
            password: row.get(3)?,
        })
    })?;
    rows.collect()
}

fn relations(db: &Connection) -> Result<Relations, rusqlite::Error> {
    let pairs = |sql| {
        let mut statement = db.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))))?;
        rows.collect::<Result<Vec<(u64, u64)>, rusqlite::Error>>()
    };
    Ok(Relations {
        friends: pairs("SELECT user, friend FROM friends ORDER BY user, friend")?,
        sponsors: pairs("SELECT user, sponsored FROM sponsors ORDER BY user, sponsored")?,
        posts: pairs("SELECT sender, count(*) FROM messages GROUP BY sender")?.into_iter().collect(),
    })
}

fn seed(db: &mut Connection, users: &[Seed]) -> Result<(), rusqlite::Error> {
    let tx = db.transaction()?;
    {
        let mut insert =
            tx.prepare("INSERT OR IGNORE INTO users (email, username, password) VALUES (?1, ?2, ?3)")?;
        let mut change = tx.prepare("UPDATE users SET password = ?2 WHERE email = ?1")?;
        for Seed { email, username, password, anew } in users {
            if insert.execute(params![email, username, &**password])? == 0 && *anew {
                change.execute(params![email, &**password])?;
            }
        }
        let mut find = tx.prepare("SELECT id FROM users WHERE email = ?1")?;
        let ids: Vec<i64> = users
            .iter()
            .map(|user| find.query_row([&user.email], |row| row.get(0)))
            .collect::<Result<_, _>>()?;
        let mut befriend = tx.prepare("INSERT OR IGNORE INTO friends (user, friend) VALUES (?1, ?2)")?;
        let mut sponsor = tx.prepare("INSERT OR IGNORE INTO sponsors (user, sponsored) VALUES (?1, ?2)")?;
        for (id, other) in ring(&ids) {
            befriend.execute([id, other])?;
            befriend.execute([other, id])?;
            sponsor.execute([id, other])?;
        }
    }
    tx.commit()
}

/// The rooms for which the condition holds, by their keys.
fn rooms_where(
    db: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<RoomRow>, rusqlite::Error> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT key, id, a, b,
            coalesce((SELECT max(seq) FROM messages WHERE room = key), 0),
            coalesce((SELECT min(seq) FROM messages WHERE room = key), 1),
            EXISTS (SELECT 1 FROM messages WHERE room = key AND sender <> 0)
        FROM rooms WHERE {condition} ORDER BY key",
    ))?;
    let rows = statement.query_map(values, |row| {
        let id: String = row.get(1)?;
        Ok(RoomRow {
            key: row.get(0)?,
            access: access(&id, row.get(2)?, row.get(3)?),
            id,
            last: unsigned(row.get(4)?),
            oldest: unsigned(row.get(5)?),
            is_used: row.get(6)?,
        })
    })?;
    rows.collect()
}

fn last_numbers(db: &Connection, keys: &[i64]) -> Result<Vec<(i64, u64)>, rusqlite::Error> {
    let mut statement = db.prepare_cached(
        "SELECT key, coalesce((SELECT max(seq) FROM messages WHERE room = key), 0) FROM rooms WHERE key = ?1",
    )?;
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys.dedup();
    let number = |key| {
        statement.query_row([key], |row| Ok((row.get(0)?, unsigned(row.get(1)?)))).optional().transpose()
    };
    keys.into_iter().filter_map(number).collect()
}

fn insert_room(db: &Connection, id: &str, access: Access) -> Result<i64, rusqlite::Error> {
    let known = db.prepare_cached("SELECT key FROM rooms WHERE id = ?1")?.query_row([id], |row| row.get(0));
    if let Some(key) = known.optional()? {
        return Ok(key);
    }
    let (a, b) = pair(access);
    // Above what is there, too: versions before this one counted for themselves.
    let next = "UPDATE facts SET value = 1 + max(CAST(value AS INTEGER),
            coalesce((SELECT max(key) FROM rooms), 0), coalesce((SELECT max(room) FROM messages), 0))
        WHERE name = 'last room' RETURNING CAST(value AS INTEGER)";
    let key: i64 = db.prepare_cached(next)?.query_row([], |row| row.get(0))?;
    db.prepare_cached("INSERT INTO rooms (key, id, a, b) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![key, id, a, b])?;
    Ok(key)
}

fn forget_rooms(db: &mut Connection, keys: &[i64]) -> Result<(), rusqlite::Error> {
    let tx = db.transaction()?;
    for key in keys {
        tx.prepare_cached("DELETE FROM messages WHERE room = ?1")?.execute([key])?;
        tx.prepare_cached("DELETE FROM rooms WHERE key = ?1")?.execute([key])?;
    }
    tx.commit()
}

fn insert_message(
    db: &Connection,
    room: i64,
    seq: u64,
    message: &NewMessage<'_>,
) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "INSERT INTO messages (room, seq, sender, client_id, content, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        room,
        signed(seq),
        signed(message.sender),
        message.client_id,
        message.content,
        signed(message.at)
    ])?;
    Ok(())
}

/// The number an earlier send of the same id got.
fn sent_before(
    db: &Connection,
    room: i64,
    sender: u64,
    client_id: &str,
) -> Result<Option<u64>, rusqlite::Error> {
    db.prepare_cached("SELECT seq FROM messages WHERE room = ?1 AND sender = ?2 AND client_id = ?3")?
        .query_row(params![room, signed(sender), client_id], |row| row.get(0).map(unsigned))
        .optional()
}

/// Deletes a room's messages up to and including `seq`.
fn prune(db: &Connection, room: i64, seq: u64) -> Result<(), rusqlite::Error> {
    db.prepare_cached("DELETE FROM messages WHERE room = ?1 AND seq <= ?2")?
        .execute(params![room, signed(seq)])?;
    Ok(())
}

fn page(db: &Connection, room: i64, wanted: PageRequest) -> Result<Vec<Message>, rusqlite::Error> {
    let mut statement = db.prepare_cached(
        "SELECT seq, sender, content, at FROM messages WHERE room = ?1 AND seq > ?2 AND seq <= ?4
        ORDER BY seq LIMIT ?3",
    )?;
    let upto = i64::try_from(wanted.upto).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![room, signed(wanted.after), wanted.messages as i64, upto])?;
    let mut filling = Filling::new(wanted);
    while let Some(row) = rows.next()? {
        if !filling.add(row.get(0)?, row.get(1)?, row.get_ref(2)?.as_str()?, row.get(3)?) {
            break;
        }
    }
    Ok(filling.page)
}

#[cfg(test)]
mod tests;
