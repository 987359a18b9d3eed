//! What only a store has that several processes open, and what becomes of it when its server does not answer. What
//! every store does is in `contract`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cluster::Cluster;
use relay::Relay;

use super::*;
use crate::accounts::Accounts;
use crate::accounts::passwords::Passwords;
use crate::config::Limits;
use crate::store::Failure;
use crate::store::user_lists::{Begin, ListRequest, Listed, UserPage};

#[path = "../../../tests/it/postgres_cluster.rs"]
#[allow(unreachable_pub, dead_code)]
pub(crate) mod cluster;
mod relay;

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn location(address: &str, pool: usize, pool_timeout: Duration) -> PostgresLocation {
    let mut location = PostgresLocation::new(address).unwrap();
    (location.pool, location.pool_timeout) = (pool, pool_timeout);
    location
}

fn opened(address: &str) -> Postgres {
    Postgres::open(&location(address, 2, LONG), Duration::ZERO).unwrap()
}

fn message(room: &'static str) -> NewMessage<'static> {
    let (access, client_id) = (Access::Open, None);
    NewMessage { room, access, key: 0, above: 0, sender: 3, client_id, content: "1", at: 9 }
}

/// Runs the work on so many threads at once, each with its number.
fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = std::sync::Barrier::new(threads);
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|n| {
                let (barrier, work) = (&barrier, &work);
                scope.spawn(move || {
                    barrier.wait();
                    work(n)
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn services_that_start_at_once_on_an_empty_database_make_its_tables_once() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let epochs: HashSet<String> = at_once(6, |_| opened(&address).epoch().unwrap()).into_iter().collect();
    assert_eq!(epochs.len(), 1);
    assert_eq!(cluster.run(&address, "SELECT count(*), max(version) FROM schema_version"), "2|2");
    let mut secrets = (0..2).map(|_| opened(&address).token_secret().unwrap().unwrap());
    let secret = secrets.next().unwrap();
    assert_eq!((secret.len(), secrets.next()), (64, Some(secret)));
}

#[test]
fn work_that_takes_too_long_is_given_up_by_the_server_as_well() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let (store, work) = (opened(&address), "SELECT pg_sleep(600)");
    let error = store.within(Duration::from_millis(300), work, &[]).unwrap_err();
    assert_eq!(error.kind, Failure::Unreachable);
    let going_on =
        format!("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = '{work}'");
    let until = Instant::now() + LONG;
    while cluster.run(&address, &going_on) != "0" {
        assert!(Instant::now() < until, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_database_of_a_newer_service_is_not_opened() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    opened(&address);
    cluster.run(&address, "INSERT INTO schema_version (version) VALUES (9)");
    let refused = Postgres::open(&location(&address, 1, LONG), Duration::ZERO).err().unwrap().to_string();
    assert!(refused.contains("its schema has version 9, and this service knows those up to 2"), "{refused}");
    assert!(!refused.contains("planted"), "{refused}");
}

#[test]
fn numbers_are_dense_though_many_write_to_the_same_rooms_in_different_orders() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let rooms = ["a", "b", "c", "d"];
    let numbers = at_once(8, |writer| {
        let mut store = opened(&address);
        let mut given = Vec::new();
        for turn in 0..25 {
            // Each batch has all rooms, and begins with another one.
            let batch: Vec<_> = (0..8).map(|n| message(rooms[(writer + turn + n * 3) % 4])).collect();
            let appended = store.append(&batch, 1000).unwrap();
            given.extend(batch.iter().zip(appended).map(|(message, appended)| (message.room, appended.seq)));
        }
        given
    });
    let mut numbers: Vec<_> = numbers.into_iter().flatten().collect();
    numbers.sort_unstable();
    let dense: Vec<_> = rooms.iter().flat_map(|room| (1..=400).map(move |seq| (*room, seq))).collect();
    assert_eq!(numbers, dense);
    let mut store = opened(&address);
    let stored = store.rooms().unwrap();
    assert_eq!(stored.iter().map(|room| room.last).collect::<Vec<_>>(), [400; 4]);
    let wanted = PageRequest { after: 0, upto: u64::MAX, messages: 1000, bytes: usize::MAX };
    let page: Vec<u64> =
        store.page(stored[0].key, wanted).unwrap().iter().map(|message| message.seq).collect();
    assert_eq!(page, (1..=400).collect::<Vec<u64>>());
}

#[test]
fn an_id_that_many_send_at_once_gets_one_number() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let appended = at_once(8, |_| {
        let sent = NewMessage { client_id: Some("the\0same"), ..message("a") };
        opened(&address).append(&[sent], 100).unwrap()[0]
    });
    assert!(appended.iter().all(|appended| appended.seq == 1), "{appended:?}");
    assert_eq!(appended.iter().filter(|appended| !appended.is_repeated).count(), 1);
}

#[test]
fn a_room_that_two_make_at_once_has_one_key() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    for room in ["lobby", "other"] {
        let keys: HashSet<i64> = at_once(6, |n| {
            let mut store = opened(&address);
            match n % 2 {
                0 => store.insert_room(room, Access::Group).unwrap(),
                _ => store.append(&[message(room)], 100).unwrap()[0].key,
            }
        })
        .into_iter()
        .collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
    }
}

#[test]
fn users_that_services_add_at_once_are_added_once_and_in_order() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let seeds = |count: usize| -> Vec<Seed> {
        let email = |n| format!("user{n}@example.test");
        let seed = |n| Seed { email: email(n), username: "u".into(), password: "p".into(), anew: false };
        (1..=count).map(seed).collect()
    };
    at_once(4, |n| opened(&address).seed(&seeds(10 + n)).unwrap());
    let users = opened(&address).users().unwrap();
    let expected: Vec<_> = (1..=13).map(|n| (n, format!("user{n}@example.test"))).collect();
    assert_eq!(users.into_iter().map(|user| (user.id, user.email)).collect::<Vec<_>>(), expected);
}

#[test]
fn a_room_that_another_service_uses_is_not_forgotten() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let mut store = Postgres::open(&location(&address, 2, LONG), LONG).unwrap();
    let [idle, used] = ["idle", "used"].map(|room| store.append(&[message(room)], 100).unwrap()[0].key);
    cluster.run(&address, "UPDATE rooms SET said_at = now() - interval '61 s' WHERE id = 'idle'");
    store.forget_rooms(&[idle, used]).unwrap();
    assert_eq!(store.last_numbers(&[idle, used]).unwrap(), [(used, 1)]);
    assert_eq!(cluster.run(&address, "SELECT count(*) FROM messages"), "1");
}

#[test]
fn what_the_database_refuses_leaves_nothing_behind_and_takes_no_number() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let mut store = opened(&address);
    store.append(&[message("a")], 100).unwrap();
    cluster.run(&address, "ALTER TABLE messages ADD CHECK (content <> '2')");
    let refused = NewMessage { content: "2", ..message("a") };
    let error = store.append(&[message("a"), message("new"), refused], 100).unwrap_err();
    assert_eq!(error.kind, Failure::Refused);
    assert!(error.to_string().contains("violates check constraint"), "{error}");
    assert!(store.find_room("new").unwrap().is_none());
    assert_eq!(store.append(&[message("a")], 100).unwrap()[0].seq, 2);
}

#[test]
fn a_pool_whose_connections_are_all_taken_says_so_and_counts_it() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let mut store =
        Postgres::open(&location(&address, 1, Duration::from_millis(50)), Duration::ZERO).unwrap();
    let pool = store.pool.clone();
    let held = pool.handle().block_on(pool.connection(pool.deadline())).unwrap();
    let error = store.append(&[message("a")], 100).unwrap_err();
    assert_eq!((error.kind, error.kind.problem().status), (Failure::Busy, 503));
    assert_eq!(error.to_string(), "all 1 connections were taken for 0.05 s");
    let levels = pool.levels();
    assert_eq!((levels.most, levels.size, levels.idle, levels.timeouts), (1, 1, 0, 1));
    drop(held);
    assert_eq!(store.append(&[message("a")], 100).unwrap()[0].seq, 1);
    assert_eq!(pool.levels().idle, 1);
}

#[test]
fn a_store_whose_server_comes_back_goes_on_by_itself() {
    let cluster = Cluster::start();
    let address = cluster.database();
    let mut hasty =
        Postgres::open(&location(&address, 2, Duration::from_millis(100)), Duration::ZERO).unwrap();
    let mut patient = opened(&address);
    assert_eq!(hasty.append(&[message("a")], 100).unwrap()[0].seq, 1);
    cluster.crash();
    // The first may still find the connection it has, and lose it.
    for _ in 0..3 {
        let error = hasty.append(&[message("a")], 100).unwrap_err();
        assert_eq!((error.kind, error.kind.problem().status), (Failure::Unreachable, 503), "{error}");
        assert!(!error.to_string().contains("planted"), "{error}");
    }
    // This one waits, and connects when there is somebody to connect to.
    let number = std::thread::scope(|scope| {
        let reading = scope.spawn(|| patient.find_room("a").unwrap().unwrap().last);
        cluster.again();
        reading.join().unwrap()
    });
    assert_eq!(number, 1);
    let mut tries = 0;
    let appended = loop {
        match hasty.append(&[message("a")], 100) {
            Ok(appended) => break appended,
            Err(error) => assert!(tries < 100, "{error}"),
        }
        tries += 1;
    };
    assert_eq!(appended[0].seq, 2);
}

#[test]
fn what_was_stored_though_nobody_heard_of_it_is_not_stored_again() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let relay = Relay::to(cluster.at());
    let through = address.replace(&cluster.port.to_string(), &relay.at().port().to_string());
    let mut store = opened(&through);
    let sent = |id| NewMessage { client_id: Some(id), ..message("a") };
    assert_eq!(store.append(&[sent("1")], 100).unwrap()[0].seq, 1);
    relay.lose_an_answer();
    let error = store.append(&[sent("2"), message("a")], 100).unwrap_err();
    assert_eq!(error.kind, Failure::Unreachable, "{error}");
    assert_eq!(cluster.run(&address, "SELECT last FROM rooms"), "3");
    let again = store.append(&[sent("2"), sent("3")], 100).unwrap();
    let told: Vec<_> = again.iter().map(|appended| (appended.seq, appended.is_repeated)).collect();
    assert_eq!(told, [(2, true), (4, false)]);
}

#[test]
fn lists_from_the_database_and_from_memory_are_the_same() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let mut store = opened(&address);
    let seed = |n: usize| Seed {
        email: format!("user{n}@example.test"),
        username: format!("user{n}"),
        password: "p".into(),
        anew: false,
    };
    store.seed(&(1..=23).map(seed).collect::<Vec<_>>()).unwrap();
    cluster.run(&address, "DELETE FROM sponsors WHERE sponsored_id IN (4, 9) OR user_id = 7");
    let said = |sender| NewMessage { sender, ..message("a") };
    store.append(&[said(2), said(2), said(5), said(0)], 100).unwrap();
    let mut relations = store.relations().unwrap();
    relations.posts = [(2, 2), (5, 1)].into();
    let limits = Limits::default();
    let passwords = Passwords::new(&limits);
    let accounts = Accounts::new(store.users().unwrap(), relations, passwords, None, None, &limits).unwrap();
    let lists = store.user_lists().unwrap();
    let ask = |lists: &dyn UserLists, listed, begin, limit| -> UserPage {
        store.pool.handle().block_on(lists.list(ListRequest { listed, begin, limit })).unwrap()
    };
    let all = [
        Listed::All,
        Listed::AllSponsored,
        Listed::SponsorsOf(5),
        Listed::SponsoredBy(5),
        Listed::SponsoredBy(7),
    ];
    let offsets = [0, 1, 10, 22, 23, u64::MAX].map(Begin::Offset);
    let behind = [0, 1, 5, 9, 24, u64::MAX].map(Begin::Behind);
    let mut shown = 0;
    for listed in all {
        for begin in offsets.into_iter().chain(behind) {
            for limit in [1, 10, 100] {
                let page = ask(&*lists, listed, begin, limit);
                assert_eq!(page, ask(&accounts, listed, begin, limit), "{listed:?} {begin:?} {limit}");
                shown += page.users.len();
            }
        }
    }
    assert_eq!(shown, 400, "users of all pages");
    for lists in [&*lists, &accounts as &dyn UserLists] {
        let page = ask(lists, Listed::Random, Begin::Offset(50), 20);
        let ids: HashSet<u64> = page.users.iter().map(|user| user.id).collect();
        assert_eq!((ids.len(), page.total), (20, Some(23)));
    }
}
