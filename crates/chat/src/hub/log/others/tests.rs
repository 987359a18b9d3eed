use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::*;
use crate::bus::{Ear, Speaker};
use crate::config::{Config, Limits, StoreLocation};
use crate::connection::source::Source;
use crate::encoding::form::Form;
use crate::hub::receipt::{Receipt, Reply};
use crate::model::room_id::Access;
use crate::rooms::cursor::{Found, Start};
use crate::rooms::peer::{Newcomer, Peer};
use crate::service::{OpenBus, OpenStore, Service, start_over};
use crate::store::{Appended, History, NewMessage, OpenHistory, PageRequest, Relations, Seed, UserRow};
use crate::sync::lock;

/// No wait of a test is longer: reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

/// One store for several services of a process.
#[derive(Clone)]
struct Shared(Arc<Mutex<Box<dyn Store>>>);

impl Shared {
    fn new() -> Shared {
        Shared(Arc::new(Mutex::new(crate::store::open(&StoreLocation::Memory, Duration::ZERO).unwrap())))
    }
}

impl History for Shared {
    fn page(&mut self, room: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError> {
        lock(&self.0).page(room, wanted)
    }
}

impl Store for Shared {
    fn epoch(&mut self) -> Result<String, StoreError> {
        lock(&self.0).epoch()
    }
    fn users(&mut self) -> Result<Vec<UserRow>, StoreError> {
        lock(&self.0).users()
    }
    fn relations(&mut self) -> Result<Relations, StoreError> {
        lock(&self.0).relations()
    }
    fn seed(&mut self, users: &[Seed]) -> Result<(), StoreError> {
        lock(&self.0).seed(users)
    }
    fn rooms(&mut self) -> Result<Vec<RoomRow>, StoreError> {
        lock(&self.0).rooms()
    }
    fn find_room(&mut self, id: &str) -> Result<Option<RoomRow>, StoreError> {
        lock(&self.0).find_room(id)
    }
    fn rooms_above(&mut self, key: i64) -> Result<Vec<RoomRow>, StoreError> {
        lock(&self.0).rooms_above(key)
    }
    fn last_numbers(&mut self, keys: &[i64]) -> Result<Vec<(i64, u64)>, StoreError> {
        lock(&self.0).last_numbers(keys)
    }
    fn insert_room(&mut self, id: &str, access: Access) -> Result<i64, StoreError> {
        lock(&self.0).insert_room(id, access)
    }
    fn forget_rooms(&mut self, keys: &[i64]) -> Result<(), StoreError> {
        lock(&self.0).forget_rooms(keys)
    }
    fn append(&mut self, messages: &[NewMessage<'_>], kept: u64) -> Result<Vec<Appended>, StoreError> {
        lock(&self.0).append(messages, kept)
    }
    fn readers(&self) -> Option<OpenHistory> {
        None
    }
}

/// What becomes of what is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Weather {
    #[default]
    Fine,
    /// Every third payload is lost, and of the others each is heard behind the next.
    Rough,
    /// Nothing gets through.
    Silent,
}

/// A bus within the process, with weather.
#[derive(Clone, Default)]
struct Air(Arc<Mutex<Said>>);

#[derive(Default)]
struct Said {
    weather: Weather,
    ears: Vec<Listening>,
    count: u64,
    held: Option<(Option<String>, Vec<u8>)>,
}

struct Listening {
    own: u64,
    ear: Ear,
    rooms: HashSet<String>,
}

impl Said {
    fn hear(&self, room: Option<&str>, payload: &[u8]) {
        for Listening { own, ear, rooms } in &self.ears {
            if room.is_none_or(|room| rooms.contains(room)) {
                let heard = format::read(*own, room.unwrap_or_default(), payload);
                heard.map(|heard| ear(heard));
            }
        }
    }

    fn say(&mut self, room: Option<&str>, payload: Vec<u8>) {
        self.count += 1;
        match self.weather {
            Weather::Fine => self.hear(room, &payload),
            Weather::Rough if room.is_some() => {
                if self.count.is_multiple_of(3) {
                    return;
                }
                let before = self.held.replace((room.map(str::to_owned), payload));
                before.into_iter().for_each(|(room, payload)| self.hear(room.as_deref(), &payload));
            }
            Weather::Rough => self.hear(room, &payload),
            Weather::Silent => {}
        }
    }
}

impl Air {
    fn opens(&self) -> OpenBus {
        let air = self.clone();
        Box::new(move |Speaker { instance, .. }, ear| {
            lock(&air.0).ears.push(Listening { own: instance, ear, rooms: HashSet::new() });
            let gone = Arc::<AtomicBool>::default();
            let (beats, ends) = (air.clone(), gone.clone());
            std::thread::spawn(move || {
                while !ends.load(Relaxed) {
                    lock(&beats.0).say(None, format::beat(instance));
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            Ok(Box::new(Radio { air, instance, gone }))
        })
    }

    fn weather(&self, weather: Weather) {
        lock(&self.0).weather = weather;
    }
}

struct Radio {
    air: Air,
    instance: u64,
    gone: Arc<AtomicBool>,
}

impl Drop for Radio {
    fn drop(&mut self) {
        self.gone.store(true, Relaxed);
    }
}

impl Bus for Radio {
    fn subscribe(&self, room: &str) {
        let mut said = lock(&self.air.0);
        let own = said.ears.iter_mut().find(|listening| listening.own == self.instance).unwrap();
        own.rooms.insert(room.to_owned());
        (own.ear)(Heard::Subscribed(room.into()));
    }
    fn unsubscribe(&self, room: &str) {
        let mut said = lock(&self.air.0);
        let own = said.ears.iter_mut().find(|listening| listening.own == self.instance).unwrap();
        own.rooms.remove(room);
    }
    fn publish(&self, room: &str, payload: Vec<u8>) -> bool {
        lock(&self.air.0).say(Some(room), payload);
        true
    }
    fn announce(&self, payload: Vec<u8>) -> bool {
        lock(&self.air.0).say(None, payload);
        true
    }
}

fn opens(store: &Shared) -> OpenStore {
    let store = store.clone();
    Box::new(move || Ok(Box::new(store)))
}

/// Services of one store.
async fn services<const N: usize>(store: &Shared, air: &Air) -> [Service; N] {
    let mut services = Vec::new();
    for _ in 0..N {
        let limits = Limits { bus_linger: Duration::from_millis(10), ..Limits::default() };
        let config = Config { limits, ..Config::default() };
        let service = start_over(config, opens(store), Some(air.opens())).await.unwrap();
        until("the bus is up", || service.hub().metrics.bus_up.get() == 1).await;
        services.push(service);
    }
    services.try_into().ok().unwrap()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Says something and gives its number.
async fn say(service: &Service, room: &str) -> u64 {
    let hub = service.hub();
    let sender = hub.senders.of(None, &hub.peers, hub.now(), &hub.config.limits);
    let content = RawValue::from_string("1".to_owned()).unwrap();
    let (reply, replied) = Reply::channel();
    hub.say(&sender, Some(room), Some(&content), None, Receipt::Reply(reply));
    replied.await.unwrap().unwrap()
}

struct Receiver {
    peer: Arc<Peer>,
    got: VecDeque<Bytes>,
    /// What it was told when it joined: the last number, and whether there was a gap.
    told: Arc<Mutex<Option<(u64, bool)>>>,
}

impl Receiver {
    fn join(service: &Service, room: &str, start: Start) -> Receiver {
        let hub = service.hub();
        let newcomer = Newcomer { queue_bytes: 100_000_000, polled: true, ..Newcomer::default() };
        let peer = hub.peers.add(newcomer, hub.now(), &hub.config.limits);
        let told = Arc::<Mutex<Option<(u64, bool)>>>::default();
        let telling = told.clone();
        let joined = hub.join(&peer, room, Form::Object, start, move |joined| {
            *lock(&telling) = Some((joined.seq, joined.gap.is_some()));
            None
        });
        assert!(joined.is_ok());
        Receiver { peer, got: VecDeque::new(), told }
    }

    async fn told(&self) -> (u64, bool) {
        until("it is told", || lock(&self.told).is_some()).await;
        lock(&self.told).unwrap()
    }

    async fn next(&mut self) -> u64 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(object) = self.got.pop_front() {
                let object: serde_json::Value = serde_json::from_slice(&object).unwrap();
                return object["seq"].as_u64().unwrap();
            }
            self.peer.outbox.take(&mut self.got);
            if self.got.is_empty() {
                assert!(Instant::now() < end, "no message within {PATIENCE:?}");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    async fn gets(&mut self, seqs: impl IntoIterator<Item = u64>) {
        for seq in seqs {
            assert_eq!(self.next().await, seq);
        }
    }
}

#[tokio::test]
async fn whatever_the_bus_loses_and_mixes_up_every_receiver_gets_every_message_once_and_in_order() {
    let (store, air) = (Shared::new(), Air::default());
    let three: [Service; 3] = services(&store, &air).await;
    let three = Arc::new(three);
    let mut receivers: Vec<Receiver> =
        three.iter().map(|service| Receiver::join(service, "location:7", Start::After(0))).collect();
    air.weather(Weather::Rough);
    let senders: Vec<_> = (0..30)
        .map(|n| {
            let three = three.clone();
            tokio::spawn(async move {
                let mut seqs = Vec::new();
                for _ in 0..20 {
                    seqs.push(say(&three[n % 3], "location:7").await);
                }
                seqs
            })
        })
        .collect();
    let mut seqs = Vec::new();
    for sender in senders {
        seqs.extend(sender.await.unwrap());
    }
    seqs.sort_unstable();
    assert!(seqs.into_iter().eq(1..=600), "numbers are dense");
    for receiver in &mut receivers {
        receiver.gets(1..=600).await;
    }
    // The last of all may have been lost as well; nothing is doubled behind it.
    assert_eq!(say(&three[0], "location:7").await, 601);
    for receiver in &mut receivers {
        receiver.gets([601]).await;
    }
    let filled: u64 = three.iter().map(|service| service.hub().metrics.filled.get()).sum();
    let heard: u64 = three.iter().map(|service| service.hub().metrics.heard.get()).sum();
    assert!(filled > 0 && heard > 0, "{filled} {heard}");
}

#[tokio::test]
async fn while_the_bus_is_silent_messages_come_from_the_store_and_who_comes_is_told_right() {
    let (store, air) = (Shared::new(), Air::default());
    let [here, there] = services(&store, &air).await;
    let mut receiver = Receiver::join(&here, "location:7", Start::Now);
    assert_eq!(receiver.told().await, (0, false));
    air.weather(Weather::Silent);
    until("it is down", || here.hub().metrics.bus_up.get() == 0).await;
    for seq in 1..=3 {
        assert_eq!(say(&there, "location:7").await, seq);
        receiver.gets([seq]).await;
    }
    assert_eq!(here.hub().metrics.filled.get(), 3);
    // Not yet known here.
    assert_eq!(say(&there, "location:7").await, 4);
    assert_eq!(Receiver::join(&here, "location:7", Start::Now).told().await, (4, false));
    receiver.gets([4]).await;
    air.weather(Weather::Fine);
    until("it is up", || here.hub().metrics.bus_up.get() == 1).await;
    say(&there, "location:7").await;
    receiver.gets([5]).await;
}

#[tokio::test]
async fn a_cursor_of_one_service_is_good_at_another_that_has_heard_nothing_of_it() {
    let (store, air) = (Shared::new(), Air::default());
    let [here, there] = services(&store, &air).await;
    // Before it is asked for here, and more than a room keeps in memory.
    for seq in 1..=300 {
        assert_eq!(say(&there, "location:7").await, seq);
    }
    let mut behind = Receiver::join(&here, "location:7", Start::After(5));
    assert_eq!(behind.told().await, (300, false));
    behind.gets(6..=300).await;
    // It has got that there, and here nothing of it is published yet.
    air.weather(Weather::Silent);
    assert_eq!(say(&there, "location:7").await, 301);
    let mut ahead = Receiver::join(&here, "location:7", Start::After(301));
    assert_eq!(ahead.told().await, (301, false));
    assert_eq!(say(&there, "location:7").await, 302);
    ahead.gets([302]).await;
    behind.gets([301, 302]).await;
    // A number that nobody has given is told to be none.
    assert_eq!(Receiver::join(&here, "location:7", Start::After(1000)).told().await, (302, true));
}

#[tokio::test]
async fn its_own_next_message_comes_to_whoever_joins_a_room_that_others_have_used() {
    let (store, air) = (Shared::new(), Air::default());
    let [here, there] = services(&store, &air).await;
    assert_eq!(say(&there, "location:7").await, 1);
    let mut receiver = Receiver::join(&here, "location:7", Start::Now);
    // Not waiting for the answer to the join.
    assert_eq!(say(&here, "location:7").await, 2);
    assert_eq!(receiver.told().await, (1, false));
    receiver.gets([2]).await;
}

#[tokio::test]
async fn what_was_committed_by_a_service_that_died_before_it_said_so_comes_from_the_store() {
    let (store, air) = (Shared::new(), Air::default());
    let [here] = services(&store, &air).await;
    let mut receiver = Receiver::join(&here, "location:7", Start::Now);
    receiver.told().await;
    let (room, access) = ("location:7", Access::Open);
    let dead = NewMessage { room, access, key: 0, above: 0, sender: 0, client_id: None, content: "1", at: 9 };
    store.clone().append(&[dead, dead], 100).unwrap();
    receiver.gets([1, 2]).await;
    assert_eq!(say(&here, "location:7").await, 3);
    receiver.gets([3]).await;
}

#[tokio::test]
async fn a_room_begun_anew_elsewhere_is_noticed_though_its_numbers_have_come_as_far() {
    let (store, air) = (Shared::new(), Air::default());
    let [here] = services(&store, &air).await;
    for seq in 1..=3 {
        assert_eq!(say(&here, "location:7").await, seq);
    }
    let listening = Receiver::join(&here, "location:7", Start::Now);
    assert_eq!(listening.told().await, (3, false));
    let room = here.hub().rooms.find("location:7").unwrap();
    store.clone().forget_rooms(&[room.key()]).unwrap();
    let (name, access) = ("location:7", Access::Open);
    let new =
        NewMessage { room: name, access, key: 0, above: 0, sender: 0, client_id: None, content: "1", at: 9 };
    store.clone().append(&[new; 5], 100).unwrap();
    // Whoever was there comes back, and begins the new room: its first messages are none of the old ones.
    until("it is sent back", || !listening.peer.outbox.is_open()).await;
    assert!(!here.hub().rooms.has(&room));
    let mut back = Receiver::join(&here, "location:7", Start::After(0));
    assert_eq!(back.told().await, (5, false));
    back.gets(1..=5).await;
    assert!(here.hub().refresh(&room).await.is_err(), "the old one is none any more");
}

#[tokio::test]
async fn a_room_that_another_service_made_is_found_and_told_of() {
    let (store, air) = (Shared::new(), Air::default());
    let [here] = services(&store, &air).await;
    let hub = here.hub();
    store.clone().insert_room("den", Access::Group).unwrap();
    assert!(hub.may_be_elsewhere("den") && !hub.may_be_elsewhere("location:den"));
    hub.look_for("den").await.unwrap();
    assert!(hub.rooms.find("den").is_some());
    hub.look_for("nowhere").await.unwrap();
    assert!(hub.rooms.find("nowhere").is_none());
    store.clone().insert_room("told", Access::Group).unwrap();
    lock(&air.0).say(None, format::made(1, "told"));
    until("it is told of", || hub.rooms.find("told").is_some()).await;
    store.clone().insert_room("untold", Access::Group).unwrap();
    until("it is found by its key", || hub.rooms.find("untold").is_some()).await;
}

#[tokio::test]
async fn a_room_is_heard_once_for_all_who_need_it_and_no_more_when_nobody_does() {
    let (store, air) = (Shared::new(), Air::default());
    let [here, there] = services(&store, &air).await;
    let metrics = &here.hub().metrics;
    let receivers =
        [Start::Now, Start::After(0), Start::Last(3)].map(|start| Receiver::join(&here, "location:7", start));
    receivers[2].told().await;
    assert_eq!(metrics.bus_subscriptions.get(), 1);
    // A poll that waits needs it as well, and is woken by what is said elsewhere.
    let room = here.hub().group("8", Source::default()).unwrap();
    assert!(matches!(room.look(Start::After(0), false, 1000), Some(Found::Stale)));
    here.hub().refresh(&room).await.unwrap();
    assert_eq!(metrics.bus_subscriptions.get(), 2);
    let mut ticket = None;
    assert!(!room.wait(0, &mut ticket, std::task::Waker::noop()));
    for receiver in receivers {
        receiver.peer.leave_all(metrics);
    }
    until("one is given back", || metrics.bus_subscriptions.get() == 1).await;
    assert_eq!(say(&there, "location:8").await, 1);
    until("it has come", || room.last_published() == 1).await;
    until("none is left", || metrics.bus_subscriptions.get() == 0).await;
    assert!(lock(&air.0).ears.iter().all(|listening| listening.rooms.is_empty()));
    // What is said now is not heard, and who comes is told of it all the same.
    let heard = metrics.heard.get();
    assert_eq!(say(&there, "location:8").await, 2);
    assert_eq!(Receiver::join(&here, "location:8", Start::Now).told().await, (2, false));
    assert_eq!(metrics.heard.get(), heard);
}

#[tokio::test]
async fn what_cannot_be_read_on_the_bus_is_counted_and_dropped() {
    let (store, air) = (Shared::new(), Air::default());
    let [here] = services(&store, &air).await;
    for payload in [&b""[..], b"\x02\x01", &[0xff; 100]] {
        lock(&air.0).say(None, payload.to_owned());
    }
    until("they are counted", || here.hub().metrics.unreadable.get() == 3).await;
    assert_eq!(say(&here, "location:7").await, 1);
}
