//! A batch of messages as one statement.

use std::collections::HashMap;

use deadpool_postgres::Object;

use super::pool::{Pool, WORK};
use super::{pair, signed, unsigned};
use crate::store::{Appended, NewMessage, StoreError};

const APPEND: &str = "SELECT o_key, o_seq, o_repeated, o_oldest
    FROM append_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// A batch by columns: its rooms, then its messages.
#[derive(Default)]
struct Batch<'a> {
    ids: Vec<&'a str>,
    a: Vec<Option<i64>>,
    b: Vec<Option<i64>>,
    above: Vec<i64>,
    /// The place of the message's room among the rooms, from 1.
    room: Vec<i64>,
    sender: Vec<i64>,
    client_id: Vec<Option<&'a [u8]>>,
    content: Vec<&'a str>,
    at: Vec<i64>,
}

impl<'a> Batch<'a> {
    /// Rooms are known by their names alone: whoever holds one that another service has had forgotten has an old key.
    fn of(messages: &[NewMessage<'a>]) -> Batch<'a> {
        let mut batch = Batch::default();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for message in messages {
            let place = *places.entry(message.room).or_insert_with(|| {
                let (a, b) = pair(message.access);
                batch.ids.push(message.room);
                batch.a.push(a);
                batch.b.push(b);
                batch.above.push(0);
                batch.ids.len()
            });
            let above = &mut batch.above[place - 1];
            *above = (*above).max(signed(message.above));
            batch.room.push(place as i64);
            batch.sender.push(signed(message.sender));
            batch.client_id.push(message.client_id.map(str::as_bytes));
            batch.content.push(message.content);
            batch.at.push(signed(message.at));
        }
        batch
    }
}

/// Stores all of them or none. When the connection is lost meanwhile, nobody knows which: it is not tried again, but
/// whoever sends again with the same id gets the first number.
pub(super) fn append(
    pool: &Pool,
    messages: &[NewMessage<'_>],
    kept: u64,
) -> Result<Vec<Appended>, StoreError> {
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let Batch { ids, a, b, above, room, sender, client_id, content, at } = Batch::of(messages);
    let kept = i64::try_from(kept).unwrap_or(i64::MAX);
    let rows = pool.block(WORK, false, async |connection: &mut Object| {
        let statement = connection.prepare_cached(APPEND).await?;
        connection
            .query(&statement, &[&ids, &a, &b, &above, &room, &sender, &client_id, &content, &at, &kept])
            .await
    })?;
    let appended = rows.iter().map(|row| Appended {
        key: row.get(0),
        seq: unsigned(row.get(1)),
        is_repeated: row.get(2),
        oldest: row.get::<_, Option<i64>>(3).map(unsigned),
    });
    Ok(appended.collect())
}
