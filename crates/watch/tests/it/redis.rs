//! The Redis probe against a real server.

use crate::service::{Service, folder, free_port, program};
use crate::support::Watching;
use redis::{Client, Connection};
use sonagi_watch::probes::probe;

/// The server's password. It may be seen nowhere.
const PASSWORD: &str = "planted-1";

struct Server(Service);

impl Server {
    fn start(settings: &[&str]) -> Server {
        let (folder, port) = (folder(), free_port());
        let mut command = vec![program("redis-server", &[]).display().to_string()];
        let fixed = ["--save", "", "--appendonly", "no", "--requirepass", PASSWORD, "--bind", "127.0.0.1"];
        command.extend(fixed.iter().chain(settings).map(|word| (*word).to_owned()));
        command.extend(["--port".to_owned(), port.to_string()]);
        Server(Service::start(folder, port, command))
    }

    fn address(&self, login: &str) -> String {
        format!("redis://{login}@127.0.0.1:{}", self.0.port)
    }

    fn watched(&self, login: &str) -> Watching {
        Watching::start(probe(&self.address(login)).unwrap())
    }

    fn client(&self) -> Connection {
        Client::open(self.address(&format!(":{PASSWORD}"))).unwrap().get_connection().unwrap()
    }

    fn run(&self, words: &[&str]) {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.exec(&mut self.client()).unwrap();
    }
}

#[test]
fn clients_memory_and_what_redis_refuses_are_seen() {
    let server =
        Server::start(&["--maxclients", "8", "--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru"]);
    let mut watching = server.watched(&format!(":{PASSWORD}"));
    watching.until("nobody", |seen| seen.one("redis.clients") == Some(0.0));
    watching.until("its CPU", |seen| seen.one("redis.cpu").is_some());
    assert_eq!(watching.seen.one("redis.clients.limit"), Some(8.0));
    assert_eq!(watching.seen.one("redis.memory.limit"), Some(4.0 * f64::from(1 << 20)));
    assert_eq!(watching.seen.one("redis.rejected"), Some(0.0));
    let clients: Vec<_> = (0..7).map(|_| server.client()).collect();
    assert!(Client::open(server.address(&format!(":{PASSWORD}"))).unwrap().get_connection().is_err());
    watching.until("the clients", |seen| seen.one("redis.clients") == Some(7.0));
    watching.until("a refusal", |seen| seen.one("redis.rejected") == Some(1.0));
    drop(clients);
    watching.until("they are gone", |seen| seen.one("redis.clients") == Some(0.0));
    let fill = "for i = 1, 2000 do redis.call('SET', 'k' .. i, string.rep('x', 4000)) end";
    server.run(&["EVAL", fill, "0"]);
    watching.until("evictions", |seen| seen.one("redis.evicted").is_some_and(|keys| keys > 100.0));
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn a_slow_command_is_told_by_its_key_and_without_what_it_stores() {
    let server = Server::start(&["--slowlog-log-slower-than", "0"]);
    server.run(&["SET", "before", "planted"]);
    let mut watching = server.watched(&format!(":{PASSWORD}"));
    watching.until("the log", |seen| seen.one("redis.slow").is_some());
    server.run(&["SET", "sess:aB3dE5gH7jK9mN1p", "planted-2"]);
    watching.until("the command", |seen| seen.told().contains("`SET sess:*** …` took 0 ms"));
    assert!(watching.seen.one("redis.slow").unwrap() >= 1.0);
    let all = format!("{:?}", watching.seen);
    assert!(!all.contains("planted") && !all.contains("before"), "{all}");
}

#[test]
fn a_wrong_password_is_told_once_without_it_and_tried_again() {
    let server = Server::start(&[]);
    let mut watching = server.watched(":planted-wrong");
    watching.until("a refusal", |seen| seen.told().contains("it is not measured: it refuses the password"));
    server.run(&["CONFIG", "SET", "requirepass", "planted-wrong"]);
    watching.until("figures", |seen| seen.one("redis.clients").is_some());
    assert_eq!(watching.seen.notes.len(), 1);
    assert_eq!(watching.seen.notes[0].subject, format!("redis://127.0.0.1:{}", server.0.port));
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn a_user_that_may_not_ask_is_told_what_it_lacks() {
    let server = Server::start(&[]);
    server.run(&["ACL", "SETUSER", "watcher", "on", ">planted-2", "+info"]);
    let mut watching = server.watched("watcher:planted-2");
    watching.until("figures", |seen| seen.one("redis.clients").is_some());
    watching
        .until("no log", |seen| seen.told().contains("its slow log is not measured: its user may not ask"));
    server.run(&["ACL", "SETUSER", "watcher", "-info"]);
    watching.until("nothing", |seen| seen.told().contains("it is not measured: its user may not ask"));
    assert!(
        watching.seen.notes.iter().any(|note| note.hint.as_ref().is_some_and(|hint| hint.contains("+info")))
    );
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn a_redis_that_dies_and_comes_back_is_told_and_watched_again() {
    let mut server = Server::start(&[]);
    let mut watching = server.watched(&format!(":{PASSWORD}"));
    watching.until("figures", |seen| seen.one("redis.clients") == Some(0.0));
    server.0.kill();
    watching.until("its end", |seen| seen.told().contains("it stopped answering: nothing listens there"));
    watching.seen.values.clear();
    server.0.again();
    watching.until("its return", |seen| seen.told().contains("it answers again"));
    watching.until("figures again", |seen| seen.one("redis.clients") == Some(0.0));
}

#[test]
fn an_address_of_redis_is_refused_with_the_rule() {
    let why = |text: &str| probe(text).err().unwrap();
    assert!(why("rediss://:planted@h").starts_with("Redis is watched without TLS; got `rediss://h`\nhint: "));
    assert_eq!(
        why("redis://:planted@h:port"),
        "an address is redis://USER:PASSWORD@HOST:PORT; got `redis://h:port`"
    );
}
