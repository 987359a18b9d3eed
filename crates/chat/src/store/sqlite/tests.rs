use super::*;

fn store() -> Sqlite {
    Sqlite::open(None).unwrap()
}

fn message(room: &'static str, key: i64) -> NewMessage<'static> {
    let (access, client_id) = (Access::Open, None);
    NewMessage { room, access, key, above: 0, sender: 3, client_id, content: "1", at: 9 }
}

#[test]
fn no_key_is_given_twice_whatever_others_put_there() {
    let mut store = store();
    let insert = |store: &mut Sqlite, id| store.insert_room(id, Access::Open).unwrap();
    assert_eq!((insert(&mut store, "a"), insert(&mut store, "b")), (1, 2));
    // A version that counted for itself, and messages whose room it lost.
    store.db.execute("INSERT INTO rooms (key, id) VALUES (7, 'c')", []).unwrap();
    assert_eq!(insert(&mut store, "d"), 8);
    store.append(&[message("lost", 20)], 100).unwrap();
    assert_eq!((insert(&mut store, "e"), insert(&mut store, "c")), (21, 7));
}

#[test]
fn what_is_refused_leaves_nothing_behind_and_takes_no_number() {
    let mut store = store();
    store.append(&[message("a", 0)], 100).unwrap();
    store
        .db
        .execute_batch(
            "CREATE TRIGGER no BEFORE INSERT ON messages WHEN new.content = '2'
            BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .unwrap();
    let refused = NewMessage { content: "2", ..message("a", 0) };
    let error = store.append(&[message("a", 0), message("new", 0), refused], 100).unwrap_err();
    assert_eq!(error.to_string(), "no");
    assert!(store.rooms().unwrap().iter().all(|room| room.id != "new"));
    assert_eq!(store.append(&[message("a", 0)], 100).unwrap()[0].seq, 2);
}
