//! The SQLite database: what it holds and how it is asked.
//!
//! Users, friendships and rooms are read into memory at the start (`accounts`, `rooms::registry`); only messages are read
//! later. This file has the statements; which thread runs them is `hub::log`'s business.

pub(crate) mod lock;

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use crate::config::{Error, Store};
use crate::model::message::Message;
use crate::model::room_id::Access;
use crate::model::room_id::OPEN;

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

/// Opens the database for writing and makes its tables.
pub(crate) fn open(store: &Store) -> Result<Connection, Error> {
    let connection = match store {
        Store::Memory => Connection::open_in_memory(),
        Store::File(path) => Connection::open(path),
    }
    .map_err(Error::store("open"))?;
    prepare(&connection).map_err(Error::store("open"))?;
    connection.execute_batch(SCHEMA).map_err(Error::store("create the tables of"))?;
    Ok(connection)
}

/// Opens one more connection for reading; `None` for a memory store, which has only one.
pub(crate) fn open_reader(store: &Store) -> Result<Option<Connection>, rusqlite::Error> {
    let Store::File(path) = store else { return Ok(None) };
    let connection = Connection::open(path)?;
    prepare(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(Some(connection))
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

pub(crate) struct UserRow {
    pub(crate) id: u64,
    pub(crate) email: String,
    pub(crate) username: String,
    pub(crate) password: String,
}

pub(crate) fn users(db: &Connection) -> Result<Vec<UserRow>, rusqlite::Error> {
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

/// What users have to do with each other, and how much they have said.
pub(crate) struct Relations {
    pub(crate) friends: Vec<(u64, u64)>,
    /// Who sponsors whom.
    pub(crate) sponsors: Vec<(u64, u64)>,
    /// Messages kept of each user that has any.
    pub(crate) posts: HashMap<u64, u64>,
}

pub(crate) fn relations(db: &Connection) -> Result<Relations, rusqlite::Error> {
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

/// A user to be there, with the hash of its password.
pub(crate) struct Seed {
    pub(crate) email: String,
    pub(crate) username: String,
    pub(crate) password: Arc<str>,
    /// Whether one that is there already gets this password.
    pub(crate) anew: bool,
}

/// Adds users that are not there yet, and makes a ring of them: neighbours are friends, and each sponsors the next two.
pub(crate) fn seed(db: &mut Connection, users: &[Seed]) -> Result<(), rusqlite::Error> {
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
        for (at, id) in ids.iter().enumerate() {
            for step in [1, 2] {
                let other = ids[(at + step) % ids.len()];
                if other != *id {
                    befriend.execute([id, &other])?;
                    befriend.execute([&other, id])?;
                    sponsor.execute([id, &other])?;
                }
            }
        }
    }
    tx.commit()
}

pub(crate) struct RoomRow {
    pub(crate) key: i64,
    pub(crate) id: String,
    pub(crate) access: Access,
    /// The number of its last message.
    pub(crate) last: u64,
    /// The lowest number that is kept, or the next when none is.
    pub(crate) oldest: u64,
    /// A user has said something in it.
    pub(crate) is_used: bool,
}

fn access(id: &str, a: Option<i64>, b: Option<i64>) -> Access {
    match (a, b) {
        (Some(a), Some(b)) => Access::Direct(unsigned(a), unsigned(b)),
        _ if id.starts_with(OPEN) => Access::Open,
        _ => Access::Group,
    }
}

/// What tells the numbers of this store from those of any other: random, made with it.
pub(crate) fn epoch(db: &Connection) -> Result<String, rusqlite::Error> {
    db.query_row("SELECT value FROM facts WHERE name = 'epoch'", [], |row| row.get(0))
}

pub(crate) fn rooms(db: &Connection) -> Result<Vec<RoomRow>, rusqlite::Error> {
    let mut statement = db.prepare(
        "SELECT key, id, a, b,
            coalesce((SELECT max(seq) FROM messages WHERE room = key), 0),
            coalesce((SELECT min(seq) FROM messages WHERE room = key), 1),
            EXISTS (SELECT 1 FROM messages WHERE room = key AND sender <> 0)
        FROM rooms",
    )?;
    let rows = statement.query_map([], |row| {
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

/// Stores a room and says its key; one that is there already is left as it is. No key is given twice, that of a forgotten
/// room neither: whoever still holds one finds nothing under it, and never another room's messages.
pub(crate) fn insert_room(db: &Connection, id: &str, access: Access) -> Result<i64, rusqlite::Error> {
    let known = db.prepare_cached("SELECT key FROM rooms WHERE id = ?1")?.query_row([id], |row| row.get(0));
    if let Some(key) = known.optional()? {
        return Ok(key);
    }
    let (a, b) = match access {
        Access::Direct(a, b) => (Some(signed(a)), Some(signed(b))),
        Access::Group | Access::Open => (None, None),
    };
    // Above what is there, too: versions before this one counted for themselves.
    let next = "UPDATE facts SET value = 1 + max(CAST(value AS INTEGER),
            coalesce((SELECT max(key) FROM rooms), 0), coalesce((SELECT max(room) FROM messages), 0))
        WHERE name = 'last room' RETURNING CAST(value AS INTEGER)";
    let key: i64 = db.prepare_cached(next)?.query_row([], |row| row.get(0))?;
    db.prepare_cached("INSERT INTO rooms (key, id, a, b) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![key, id, a, b])?;
    Ok(key)
}

/// Deletes rooms and all that was said in them.
pub(crate) fn forget_rooms(db: &mut Connection, keys: &[i64]) -> Result<(), rusqlite::Error> {
    let tx = db.transaction()?;
    for key in keys {
        tx.prepare_cached("DELETE FROM messages WHERE room = ?1")?.execute([key])?;
        tx.prepare_cached("DELETE FROM rooms WHERE key = ?1")?.execute([key])?;
    }
    tx.commit()
}

/// One message to be stored.
pub(crate) struct MessageRow<'a> {
    pub(crate) room: i64,
    pub(crate) seq: u64,
    pub(crate) sender: u64,
    pub(crate) client_id: Option<&'a str>,
    pub(crate) content: &'a str,
    pub(crate) at: u64,
}

pub(crate) fn insert_message(db: &Connection, message: &MessageRow<'_>) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "INSERT INTO messages (room, seq, sender, client_id, content, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        message.room,
        signed(message.seq),
        signed(message.sender),
        message.client_id,
        message.content,
        signed(message.at)
    ])?;
    Ok(())
}

/// The number an earlier send of the same id got.
pub(crate) fn sent_before(
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
pub(crate) fn prune(db: &Connection, room: i64, seq: u64) -> Result<(), rusqlite::Error> {
    db.prepare_cached("DELETE FROM messages WHERE room = ?1 AND seq <= ?2")?
        .execute(params![room, signed(seq)])?;
    Ok(())
}

/// How much of the log is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) after: u64,
    /// The last number wanted.
    pub(crate) upto: u64,
    pub(crate) messages: usize,
    /// Over so many bytes the page ends, yet not before its first message.
    pub(crate) bytes: usize,
}

/// The messages numbered above `after`, as many as fit, oldest first.
pub(crate) fn page(db: &Connection, room: i64, wanted: Wanted) -> Result<Vec<Message>, rusqlite::Error> {
    let mut statement = db.prepare_cached(
        "SELECT seq, sender, content, at FROM messages WHERE room = ?1 AND seq > ?2 AND seq <= ?4
        ORDER BY seq LIMIT ?3",
    )?;
    let upto = i64::try_from(wanted.upto).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![room, signed(wanted.after), wanted.messages as i64, upto])?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (seq, sender, at): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(3)?);
        let content = row.get_ref(2)?.as_str()?;
        if !page.is_empty() && bytes + content.len() > wanted.bytes {
            break;
        }
        let kept = Message::new(unsigned(seq), 0, unsigned(sender), content, unsigned(at));
        bytes += kept.object.len() + 1;
        page.push(kept);
    }
    Ok(page)
}

// SQLite's integers are signed; none of ours reaches the sign bit.
fn signed(value: u64) -> i64 {
    value as i64
}
fn unsigned(value: i64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_given_twice_whatever_was_deleted_or_put_there_by_others() {
        let mut db = open(&Store::Memory).unwrap();
        let insert = |db: &Connection, id| insert_room(db, id, Access::Open).unwrap();
        assert_eq!((insert(&db, "a"), insert(&db, "b"), insert(&db, "a")), (1, 2, 1));
        forget_rooms(&mut db, &[2]).unwrap();
        assert_eq!(insert(&db, "b"), 3);
        // A version that counted for itself, and messages whose room it lost.
        db.execute("INSERT INTO rooms (key, id) VALUES (7, 'c')", []).unwrap();
        assert_eq!(insert(&db, "d"), 8);
        let message = MessageRow { room: 20, seq: 1, sender: 3, client_id: None, content: "1", at: 9 };
        insert_message(&db, &message).unwrap();
        assert_eq!((insert(&db, "e"), insert(&db, "c")), (21, 7));
    }

    #[test]
    fn a_page_begins_behind_its_cursor_and_ends_where_it_is_full_or_at_its_last_number() {
        let db = open(&Store::Memory).unwrap();
        for seq in 1..=9 {
            let message = MessageRow { room: 1, seq, sender: 3, client_id: None, content: "1", at: 9 };
            insert_message(&db, &message).unwrap();
        }
        let seqs = |after, upto, messages, bytes| {
            let page = page(&db, 1, Wanted { after, upto, messages, bytes }).unwrap();
            page.iter().map(|kept| kept.seq).collect::<Vec<u64>>()
        };
        assert_eq!(seqs(3, 6, 100, 1000), [4, 5, 6], "not what is stored and not yet published");
        assert_eq!(seqs(3, u64::MAX, 2, 1000), [4, 5]);
        assert_eq!(seqs(3, 9, 100, 0), [4]);
        assert_eq!(seqs(9, 9, 100, 1000), [0; 0]);
    }
}
