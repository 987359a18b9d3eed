use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::bus::Said;
use crate::model::message::Message;

/// No wait of a test is longer: reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    child: Child,
    port: u16,
    password: &'static str,
}

impl Server {
    fn start(password: &'static str) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Server { child: spawned(port, password), port, password }
    }

    fn address(&self) -> BusAddress {
        format!("redis://:{}@127.0.0.1:{}", self.password, self.port).parse().unwrap()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn again(&mut self) {
        self.child = spawned(self.port, self.password);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawned(port: u16, password: &str) -> Child {
    let port = port.to_string();
    let flags = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"];
    let mut command = Command::new("redis-server");
    command.args(flags).args(["--requirepass", password]).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().unwrap_or_else(|error| {
        panic!("redis-server: {error}\nhint: scripts/setup.sh installs what the tests need")
    })
}

fn opened(server: &Server, instance: u64) -> (RedisBus, Receiver<Heard>) {
    let (said, heard) = channel();
    let said = Mutex::new(said);
    let ear: Ear = Arc::new(move |heard| lock(&said).send(heard).is_ok());
    let speaker = Speaker { instance, epoch: "0123456789abcdef".into() };
    (RedisBus::open(server.address(), speaker, ear).unwrap(), heard)
}

/// The next that is wanted.
fn next(heard: &Receiver<Heard>, is_wanted: impl Fn(&Heard) -> bool) -> Heard {
    let end = Instant::now() + PATIENCE;
    loop {
        let next = heard.recv_timeout(end.saturating_duration_since(Instant::now()));
        let next = next.unwrap_or_else(|_| panic!("not heard within {PATIENCE:?}"));
        if is_wanted(&next) {
            return next;
        }
    }
}

fn messages(range: std::ops::RangeInclusive<u64>) -> Vec<Message> {
    range.map(|seq| Message::new(seq, 0, 3, "1", 9)).collect()
}

fn say(bus: &RedisBus, instance: u64, room: &str, range: std::ops::RangeInclusive<u64>) {
    assert!(bus.publish(room, format::messages(instance, 7, &messages(range))));
}

/// The numbers of the next that is said.
fn numbers(heard: &Receiver<Heard>, room: &str) -> Vec<u64> {
    let Heard::Said(Said { room: of, messages, .. }) = next(heard, |heard| matches!(heard, Heard::Said(_)))
    else {
        unreachable!()
    };
    assert_eq!(&*of, room);
    messages.iter().map(|message| message.seq).collect()
}

#[test]
fn what_is_said_in_a_room_is_heard_by_who_has_subscribed_and_again_after_redis_was_gone() {
    let mut server = Server::start("secret");
    let ((one, hears_one), (other, hears)) = (opened(&server, 1), opened(&server, 2));
    next(&hears_one, |heard| *heard == Heard::Beat);
    other.subscribe("lobby");
    next(&hears, |heard| *heard == Heard::Subscribed("lobby".into()));
    say(&one, 1, "elsewhere", 1..=1);
    for n in 1..=500 {
        say(&one, 1, "lobby", n..=n);
    }
    assert!((1..=500).all(|n| numbers(&hears, "lobby") == [n]));
    assert!(one.announce(format::made(1, "den")));
    next(&hears, |heard| *heard == Heard::Made("den".into()));
    server.kill();
    next(&hears, |heard| matches!(heard, Heard::Lost(_)));
    // Asked for while nobody is there.
    other.subscribe("late");
    other.unsubscribe("lobby");
    server.again();
    next(&hears, |heard| *heard == Heard::Subscribed("late".into()));
    next(&hears_one, |heard| matches!(heard, Heard::Lost(_)));
    next(&hears_one, |heard| *heard == Heard::Beat);
    say(&one, 1, "lobby", 9..=9);
    say(&one, 1, "late", 10..=12);
    assert_eq!(numbers(&hears, "late"), [10, 11, 12]);
}

#[test]
fn many_rooms_are_heard_and_what_others_put_on_their_channels_is_unreadable() {
    let server = Server::start("secret");
    let (bus, heard) = opened(&server, 1);
    (0..3000).for_each(|n| bus.subscribe(&format!("room-{n}")));
    let mut confirmed = std::collections::HashSet::new();
    while confirmed.len() < 3000 {
        if let Heard::Subscribed(room) = next(&heard, |heard| matches!(heard, Heard::Subscribed(_))) {
            confirmed.insert(room);
        }
    }
    say(&bus, 2, "room-2999", 1..=2);
    assert_eq!(numbers(&heard, "room-2999"), [1, 2]);
    assert!(bus.publish("room-7", b"hello".to_vec()));
    next(&heard, |heard| *heard == Heard::Unreadable);
}

#[test]
fn a_wrong_password_is_what_the_bus_is_lost_by_and_is_not_told() {
    let server = Server::start("secret");
    let (said, heard) = channel();
    let said = Mutex::new(said);
    let ear: Ear = Arc::new(move |heard| lock(&said).send(heard).is_ok());
    let wrong = format!("redis://:wr0ng@127.0.0.1:{}", server.port).parse().unwrap();
    let _bus = RedisBus::open(wrong, Speaker { instance: 1, epoch: "e".into() }, ear).unwrap();
    let refused = |heard: &Heard| matches!(heard, Heard::Lost(why) if why.contains("WRONGPASS"));
    let Heard::Lost(why) = next(&heard, refused) else { unreachable!() };
    assert!(!why.contains("wr0ng"), "{why}");
}
