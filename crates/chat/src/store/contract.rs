//! What every store does, held over each kind of them: one list of clauses, run for each.

use std::time::Duration;

use super::postgres::tests::cluster::Cluster;
use super::postgres::tests::location;
use super::{Appended, NewMessage, PageRequest, RoomRow, Seed, Store};
use crate::config::StoreLocation;
use crate::model::room_id::Access;

fn opened(location: &StoreLocation) -> Box<dyn Store> {
    super::open(location, Duration::ZERO).unwrap()
}

fn in_memory(clause: fn(&mut dyn Store)) {
    clause(&mut *opened(&StoreLocation::Memory));
}

fn in_a_file(clause: fn(&mut dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    clause(&mut *opened(&StoreLocation::File(folder.path().join("chat.db"))));
}

fn in_postgresql(clause: fn(&mut dyn Store)) {
    let cluster = Cluster::shared();
    let location = location(&cluster.database(), 2, Duration::from_secs(60));
    clause(&mut *opened(&StoreLocation::Postgres(Box::new(location))));
}

/// Every clause as a test of each kind of store, with nothing in it yet.
macro_rules! clauses {
    ($($clause:ident,)+) => {
        mod in_memory { $(#[test] fn $clause() { super::in_memory(super::$clause); })+ }
        mod in_a_file { $(#[test] fn $clause() { super::in_a_file(super::$clause); })+ }
        mod in_postgresql { $(#[test] fn $clause() { super::in_postgresql(super::$clause); })+ }
    };
}

clauses! {
    the_messages_of_each_room_are_numbered_without_gaps_whatever_callers_know,
    a_message_that_was_sent_before_keeps_its_number_and_takes_no_other,
    an_id_is_its_sender_s_and_its_room_s_alone,
    old_messages_are_deleted_now_and_then_and_the_lowest_number_left_is_said,
    a_page_begins_behind_its_cursor_and_ends_where_it_is_full_or_at_its_last_number,
    a_room_is_found_by_its_name_and_the_new_ones_by_their_keys,
    no_key_is_given_twice,
    the_last_number_is_said_of_the_rooms_that_are_there,
    a_forgotten_room_begins_anew_and_goes_on_with_the_numbers_of_who_holds_it,
    users_that_are_there_are_left_as_they_are_and_an_account_gets_its_password,
}

fn message(room: &'static str, key: i64, above: u64) -> NewMessage<'static> {
    let (access, client_id) = (Access::Open, None);
    NewMessage { room, access, key, above, sender: 3, client_id, content: "1", at: 9 }
}

fn seqs(appended: &[Appended]) -> Vec<u64> {
    appended.iter().map(|appended| appended.seq).collect()
}

fn the_messages_of_each_room_are_numbered_without_gaps_whatever_callers_know(store: &mut dyn Store) {
    let batch = [message("a", 0, 0), message("b", 0, 0), message("a", 0, 0)];
    let first = store.append(&batch, 100).unwrap();
    assert_eq!(seqs(&first), [1, 1, 2]);
    assert!(first[0].key == first[2].key && first[0].key != first[1].key);
    // Another process has written meanwhile, or this one has just started.
    let again = store.append(&[message("a", 0, 0), message("b", first[1].key, 0)], 100).unwrap();
    assert_eq!(seqs(&again), [3, 2]);
    assert_eq!(store.append(&[], 100).unwrap(), []);
}

fn a_message_that_was_sent_before_keeps_its_number_and_takes_no_other(store: &mut dyn Store) {
    let with = |id| NewMessage { client_id: Some(id), ..message("a", 0, 0) };
    let appended = store.append(&[with("x"), with("y"), with("x"), message("a", 0, 0)], 100).unwrap();
    assert_eq!(seqs(&appended), [1, 2, 1, 3]);
    let repeated: Vec<bool> = appended.iter().map(|appended| appended.is_repeated).collect();
    assert_eq!(repeated, [false, false, true, false]);
    let later = store.append(&[with("y"), with("z"), with("z")], 100).unwrap();
    assert_eq!(seqs(&later), [2, 4, 4]);
    assert_eq!(later.iter().map(|appended| appended.is_repeated).collect::<Vec<_>>(), [true, false, true]);
}

fn an_id_is_its_sender_s_and_its_room_s_alone(store: &mut dyn Store) {
    let with = |room, sender| NewMessage { sender, client_id: Some("x"), ..message(room, 0, 0) };
    let appended = store.append(&[with("a", 3), with("a", 4), with("b", 3)], 100).unwrap();
    assert_eq!(seqs(&appended), [1, 2, 1]);
    let again = store.append(&[with("a", 4), with("b", 3), with("b", 4)], 100).unwrap();
    assert_eq!(seqs(&again), [2, 1, 2]);
}

fn old_messages_are_deleted_now_and_then_and_the_lowest_number_left_is_said(store: &mut dyn Store) {
    let batch = vec![message("a", 0, 0); 300];
    let appended = store.append(&batch, 100).unwrap();
    let oldest: Vec<_> =
        appended.iter().filter_map(|appended| Some((appended.seq, appended.oldest?))).collect();
    assert_eq!(oldest, [(256, 157)]);
    assert_eq!(store.rooms().unwrap()[0].oldest, 157);
    let wanted = PageRequest { after: 0, upto: u64::MAX, messages: 1, bytes: 1000 };
    assert_eq!(store.page(appended[0].key, wanted).unwrap()[0].seq, 157);
}

fn a_page_begins_behind_its_cursor_and_ends_where_it_is_full_or_at_its_last_number(store: &mut dyn Store) {
    let key = store.append(&[message("a", 0, 0); 9], 100).unwrap()[0].key;
    store.append(&[message("b", 0, 0)], 100).unwrap();
    let mut seqs = |after, upto, messages, bytes| {
        let page = store.page(key, PageRequest { after, upto, messages, bytes }).unwrap();
        page.iter().map(|message| message.seq).collect::<Vec<u64>>()
    };
    assert_eq!(seqs(3, 6, 100, 1000), [4, 5, 6], "not what is stored and not yet published");
    assert_eq!(seqs(3, u64::MAX, 2, 1000), [4, 5]);
    assert_eq!(seqs(3, 9, 100, 0), [4]);
    let object = r#"{"seq":4,"senderId":3,"content":1,"at":9}"#.len() + 1;
    assert_eq!(seqs(3, 9, 100, 2 * object), [4, 5]);
    assert_eq!(seqs(3, 9, 100, 2 * object + 1), [4, 5, 6]);
    assert_eq!(seqs(9, 9, 100, 1000), [0; 0]);
    let said = r#"{"seq":4,"senderId":3,"content":1,"at":9}"#;
    let page = store.page(key, PageRequest { after: 3, upto: 4, messages: 9, bytes: 9 }).unwrap();
    assert_eq!(page[0].object, said);
}

fn a_room_is_found_by_its_name_and_the_new_ones_by_their_keys(store: &mut dyn Store) {
    let direct = store.insert_room("dm-4-5", Access::Direct(4, 5)).unwrap();
    let group = store.insert_room("lobby", Access::Group).unwrap();
    let open = store.append(&[message("location:7", 0, 0); 2], 100).unwrap()[0].key;
    let anonymous = NewMessage { sender: 0, ..message("location:8", 0, 0) };
    let unused = store.append(&[anonymous], 100).unwrap()[0].key;
    let row = |key, id: &str, access, last, is_used| RoomRow {
        key,
        id: id.into(),
        access,
        last,
        oldest: 1,
        is_used,
    };
    let rows = [
        row(direct, "dm-4-5", Access::Direct(4, 5), 0, false),
        row(group, "lobby", Access::Group, 0, false),
        row(open, "location:7", Access::Open, 2, true),
        row(unused, "location:8", Access::Open, 1, false),
    ];
    assert_eq!(store.rooms().unwrap(), rows);
    assert_eq!(store.rooms_above(0).unwrap(), rows);
    assert_eq!(store.rooms_above(group).unwrap(), rows[2..]);
    assert_eq!(store.rooms_above(unused).unwrap(), []);
    for row in rows {
        assert_eq!(store.find_room(&row.id).unwrap(), Some(row));
    }
    assert_eq!(store.find_room("location:9").unwrap(), None);
}

fn no_key_is_given_twice(store: &mut dyn Store) {
    let insert = |store: &mut dyn Store, id| store.insert_room(id, Access::Open).unwrap();
    let (a, b) = (insert(store, "a"), insert(store, "b"));
    assert_eq!((insert(store, "a"), b > a), (a, true));
    store.forget_rooms(&[b]).unwrap();
    let again = insert(store, "b");
    assert!(again > b);
    assert_eq!(store.find_room("b").unwrap().unwrap().key, again);
}

fn the_last_number_is_said_of_the_rooms_that_are_there(store: &mut dyn Store) {
    let empty = store.insert_room("empty", Access::Open).unwrap();
    let said = store.append(&[message("said", 0, 0); 3], 100).unwrap()[0].key;
    let gone = store.append(&[message("gone", 0, 0)], 100).unwrap()[0].key;
    store.forget_rooms(&[gone]).unwrap();
    let numbers = store.last_numbers(&[gone, said, 1000, empty, said]).unwrap();
    assert_eq!(numbers, [(empty, 0), (said, 3)]);
    assert_eq!(store.last_numbers(&[]).unwrap(), []);
}

fn a_forgotten_room_begins_anew_and_goes_on_with_the_numbers_of_who_holds_it(store: &mut dyn Store) {
    let first = store.append(&[message("a", 0, 0); 3], 100).unwrap()[0].key;
    store.forget_rooms(&[first]).unwrap();
    let wanted = PageRequest { after: 0, upto: u64::MAX, messages: 10, bytes: 1000 };
    assert_eq!(store.page(first, wanted).unwrap(), []);
    let held = store.append(&[message("a", 0, 3)], 100).unwrap()[0];
    assert_eq!((held.seq, held.key > first), (4, true));
    store.forget_rooms(&[held.key]).unwrap();
    assert_eq!(store.append(&[message("a", 0, 0)], 100).unwrap()[0].seq, 1);
}

fn users_that_are_there_are_left_as_they_are_and_an_account_gets_its_password(store: &mut dyn Store) {
    let seed = |n: u64, password: &str, anew| Seed {
        email: format!("user{n}@example.test"),
        username: format!("user{n}"),
        password: password.into(),
        anew,
    };
    let four: Vec<Seed> = (1..=4).map(|n| seed(n, "first", false)).collect();
    store.seed(&four).unwrap();
    store.seed(&[seed(1, "second", false), seed(2, "second", true)]).unwrap();
    store.append(&[NewMessage { sender: 2, ..message("a", 0, 0) }; 3], 100).unwrap();
    let users = store.users().unwrap();
    let known: Vec<_> = users.iter().map(|user| (user.id, &*user.username, &*user.password)).collect();
    assert_eq!(
        known,
        [(1, "user1", "first"), (2, "user2", "second"), (3, "user3", "first"), (4, "user4", "first")]
    );
    assert!(users.iter().all(|user| user.email == format!("user{}@example.test", user.id)));
    let relations = store.relations().unwrap();
    let sponsors = [(1, 2), (1, 3), (2, 1), (2, 3), (2, 4), (3, 1), (3, 4), (4, 1), (4, 2)];
    assert_eq!(relations.sponsors, sponsors);
    assert_eq!(relations.friends.len(), 12, "everybody with everybody");
    assert!(relations.friends.is_sorted() && relations.friends.iter().all(|(a, b)| a != b));
    let counted = if store.user_lists().is_some() { vec![] } else { vec![(2, 3)] };
    assert_eq!(relations.posts.into_iter().collect::<Vec<_>>(), counted);
    assert_eq!((store.epoch().unwrap(), store.epoch().unwrap().len()), (store.epoch().unwrap(), 16));
}
