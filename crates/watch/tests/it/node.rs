//! The probe of Node against a real one, which knows nothing of it.

use crate::service::{Service, folder, free_port, program};
use crate::support::Watching;
use sonagi_watch::probes::probe;
use sonagi_watch::{Probe, Readings, Unread};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// `/hold` has it call `hashPassword` again and again, some milliseconds each; `/block` has it stop for 0.3 s a second.
const SERVICE: &str = "const { pbkdf2Sync } = require('crypto');
function hashPassword(text) {
  return pbkdf2Sync(text, 'salt', 20000, 32, 'sha512');
}
function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
const block = () => { for (const end = Date.now() + 300; Date.now() < end; ) fibonacci(20); };
const hold = () => { hashPassword('x'); setImmediate(hold); };
require('http').createServer((request, response) => {
  if (request.url === '/hold') hold();
  if (request.url === '/block') setInterval(block, 1000);
  response.end('held');
}).listen(Number(process.argv[2]), '127.0.0.1');
process.stdout.write(`pid ${process.pid}\\n`);
";

/// A Node service whose inspector, when it opens, listens at a port of its own: 9229 may be another test's.
fn start(options: &[&str]) -> Service {
    let (folder, port) = (folder(), free_port());
    std::fs::write(folder.path().join("service.js"), SERVICE).unwrap();
    let mut command = vec![program("node", &[]).display().to_string()];
    command.extend(options.iter().map(|option| (*option).to_owned()));
    command.extend(["service.js".to_owned(), port.to_string()]);
    Service::start(folder, port, command)
}

fn log(service: &Service) -> String {
    std::fs::read_to_string(service.folder.path().join("log")).unwrap()
}

fn pid(service: &Service) -> String {
    let log = log(service);
    log.lines().rev().find_map(|line| line.strip_prefix("pid ")).expect("its number").to_owned()
}

/// Where the inspector listened last, as Node itself said.
fn inspector(service: &Service) -> String {
    let log = log(service);
    let said = log.lines().rev().find_map(|line| line.strip_prefix("Debugger listening on ws://"));
    said.expect("an open inspector").split('/').next().unwrap().to_owned()
}

fn ask(service: &Service, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[track_caller]
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_function_that_holds_the_event_loop_is_named_and_the_inspector_closed_again() {
    let service = start(&["--inspect-port=0"]);
    let mut watching = Watching::start(probe(&format!("node:{}", pid(&service))).unwrap());
    watching
        .until("an idle loop", |seen| seen.one("runtime.loop_utilisation").is_some_and(|share| share < 0.5));
    watching.until("its heap", |seen| seen.one("runtime.heap") > Some(1e6));
    assert!(watching.seen.one("runtime.heap.limit") > watching.seen.one("runtime.heap"));
    assert!(watching.seen.one("runtime.gc").is_some_and(|share| share < 0.5));
    assert!(ask(&service, "/hold").ends_with("held"));
    watching.until("a busy loop", |seen| seen.one("runtime.loop_utilisation") > Some(0.9));
    watching.until("its holder", |seen| seen.told().contains("is held by hashPassword (service.js:2): "));
    assert_eq!(watching.seen.told().matches("is held by").count(), 1, "{}", watching.seen.told());
    let inspector = inspector(&service);
    assert!(TcpStream::connect(&inspector).is_ok());
    drop(watching);
    wait("the inspector closes", || TcpStream::connect(&inspector).is_err());
    assert!(ask(&service, "/").ends_with("held"), "the service goes on");
}

#[test]
fn a_loop_that_is_blocked_at_times_is_late_although_it_is_mostly_idle() {
    let service = start(&["--inspect-port=0"]);
    let mut watching = Watching::start(probe(&format!("node:{}", pid(&service))).unwrap());
    watching.until("figures", |seen| seen.one("runtime.loop_utilisation").is_some());
    assert!(ask(&service, "/block").ends_with("held"));
    watching.until("a late loop", |seen| seen.one("runtime.loop_lag") > Some(100.0));
    watching.until("its holder", |seen| seen.told().contains("is held by fibonacci (service.js:5): "));
}

#[test]
fn an_idle_loop_is_not_late_and_nobody_is_named() {
    let service = start(&["--inspect-port=0"]);
    let mut watching = Watching::start(probe(&format!("node:port:{}", service.port)).unwrap());
    // Twice the resolution of the measure is more than an idle loop ever reads.
    watching.until("no delay", |seen| seen.one("runtime.loop_lag").is_some_and(|ms| ms < 10.0));
    assert!(watching.seen.notes.is_empty(), "{}", watching.seen.told());
}

/// A probe that is killed: it does not say goodbye.
struct Killed(Box<dyn Probe>);

impl Probe for Killed {
    fn subject(&self) -> String {
        self.0.subject()
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        self.0.look(readings)
    }
}

#[test]
fn an_inspector_that_a_killed_probe_left_open_is_closed_by_the_next() {
    let service = start(&["--inspect-port=0"]);
    let look = |probe: Box<dyn Probe>| {
        let mut watching = Watching::start(probe);
        watching.until("figures", |seen| seen.one("runtime.loop_utilisation").is_some());
    };
    let subject = format!("node:{}", pid(&service));
    look(Box::new(Killed(probe(&subject).unwrap())));
    let inspector = inspector(&service);
    assert!(TcpStream::connect(&inspector).is_ok());
    look(probe(&subject).unwrap());
    wait("the inspector closes", || TcpStream::connect(&inspector).is_err());
    assert_eq!(log(&service).matches("Debugger listening").count(), 1);
}

#[test]
fn an_inspector_that_was_open_stays_open() {
    let service = start(&["--inspect=127.0.0.1:0"]);
    let inspector = inspector(&service);
    let mut watching = Watching::start(probe(&format!("node:{}", pid(&service))).unwrap());
    watching.until("figures", |seen| seen.one("runtime.loop_utilisation").is_some());
    drop(watching);
    assert!(TcpStream::connect(&inspector).is_ok());
    assert_eq!(log(&service).matches("Debugger listening").count(), 1);
}

#[test]
fn a_node_that_ends_and_comes_back_is_told_and_watched_again() {
    let mut service = start(&["--inspect-port=0"]);
    let mut watching = Watching::start(probe(&format!("node:port:{}", service.port)).unwrap());
    watching.until("figures", |seen| seen.one("runtime.loop_utilisation").is_some());
    service.kill();
    watching.until("its end", |seen| seen.told().contains("it stopped answering: "));
    watching.seen.values.clear();
    service.again();
    watching.until("its return", |seen| seen.told().contains("it answers again"));
    watching.until("figures again", |seen| seen.one("runtime.loop_utilisation").is_some());
}

/// A process that SIGUSR1 would end.
struct Fragile(Child);

impl Fragile {
    fn start(program: &Path) -> Fragile {
        Fragile(Command::new(program).arg("60").spawn().unwrap())
    }

    #[track_caller]
    fn is_refused(&mut self, why: &str) {
        let mut watching = Watching::start(probe(&format!("node:{}", self.0.id())).unwrap());
        watching.until("a refusal", |seen| seen.told().contains(why));
        drop(watching);
        assert_eq!(self.0.try_wait().unwrap(), None, "it lives");
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn what_is_not_node_is_refused_and_lives() {
    let sleep = program("sleep", &[]);
    Fragile::start(&sleep).is_refused(" runs sleep, not Node");
    let folder = folder();
    let named = folder.path().join("node");
    std::fs::copy(&sleep, &named).unwrap();
    Fragile::start(&named).is_refused("it does not listen to SIGUSR1: ");
}

#[test]
fn a_process_that_there_is_not_is_told_once() {
    // Beyond the largest number that Linux gives.
    let mut watching = Watching::start(probe("node:200000000").unwrap());
    watching.until("a refusal", |seen| seen.told().contains("there is no process 200000000"));
    watching.seen.values.clear();
    watching.until("another look", |seen| seen.one("watch.look").is_some());
    assert_eq!(watching.seen.notes.len(), 1);
    assert_eq!(probe("node:x").err().unwrap(), "a process id is a number from 1; got `x`");
    assert_eq!(probe("node:port:0").err().unwrap(), "a port is a number from 1 to 65535; got `0`");
}
