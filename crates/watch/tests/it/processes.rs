//! A real service on this machine.

use crate::support::{Watching, python};
use sonagi_watch::probes::probe;
use std::io::Write;
use std::net::TcpStream;
use std::process::Child;

/// A service that accepts nothing, burns what it is told, and has a child.
const SERVICE: &str = "
import os, socket, sys, threading, time
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(8)
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(listener.getsockname()[1], child, flush=True)
accepted = []
for line in sys.stdin:
    word = line.strip()
    if word == 'burn':
        threading.Thread(target=lambda: [hash(str(n)) for n in iter(int, 1)], daemon=True, name='burner').start()
    if word == 'accept':
        accepted.append(listener.accept())
    if word == 'fork':
        second = os.fork()
        if second == 0:
            time.sleep(60)
            os._exit(0)
    if word == 'lose':
        os.kill(second, 9)
        os.waitpid(second, 0)
    if word == 'end':
        os.kill(child, 9)
        os.waitpid(child, 0)
        os._exit(0)
";

struct Service {
    process: Child,
    port: u16,
}

impl Service {
    fn start() -> Service {
        let (process, line) = python(SERVICE);
        let port = line.split_whitespace().next().unwrap().parse().unwrap();
        Service { process, port }
    }

    fn say(&mut self, word: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{word}").unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = writeln!(self.process.stdin.as_mut().unwrap(), "end");
        let _ = self.process.wait();
    }
}

#[test]
fn a_service_is_found_by_its_port_with_its_children() {
    let mut service = Service::start();
    let mut watching = Watching::start(probe(&format!("port:{}", service.port)).unwrap());
    watching.until("two processes", |seen| seen.get("target.processes") == Some(2.0));
    assert!(watching.seen.get("target.memory").unwrap() > 1e6);
    assert!(watching.seen.get("target.open_files").unwrap() >= 4.0);
    assert!(watching.seen.get("target.open_files.limit").unwrap() > 4.0);

    // Two connections wait, one is accepted and has unread bytes.
    let mut clients: Vec<TcpStream> =
        (0..3).map(|_| TcpStream::connect(("127.0.0.1", service.port)).unwrap()).collect();
    watching.until("three wait", |seen| seen.get("target.accept_queue") == Some(3.0));
    assert_eq!(watching.seen.get("target.accept_queue.limit"), Some(8.0), "what it asked for");
    service.say("accept");
    clients[0].write_all(&[b'x'; 1_000]).unwrap();
    watching.until("two wait", |seen| seen.get("target.accept_queue") == Some(2.0));
    watching.until("bytes wait", |seen| seen.get("target.receive_queue") == Some(1_000.0));

    service.say("burn");
    watching.until("it burns", |seen| seen.get("target.cpu").is_some_and(|cores| cores > 0.2));
    watching.until("a thread burns", |seen| {
        seen.by("target.cpu.thread", "thread").values().any(|share| *share > 0.2)
    });
    watching.until("not the first thread", |seen| {
        seen.get("target.cpu.other_threads") > seen.get("target.cpu.main_thread")
    });

    service.say("end");
    watching.until("it ended", |seen| seen.get("target.processes") == Some(0.0));
    assert_eq!(watching.seen.get("target.ended"), Some(2.0));
}

#[test]
fn a_worker_that_ends_beside_another_one_is_told_apart_from_a_death() {
    let mut service = Service::start();
    let mut watching = Watching::start(probe(&format!("port:{}", service.port)).unwrap());
    watching.until("two processes", |seen| seen.get("target.processes") == Some(2.0));
    service.say("fork");
    watching.until("three processes", |seen| seen.get("target.processes") == Some(3.0));
    service.say("lose");
    watching.until("one ended", |seen| seen.get("target.ended") == Some(1.0));
    assert_eq!(watching.seen.get("target.ended.workers"), Some(1.0));
    service.say("end");
    watching.until("all ended", |seen| seen.get("target.ended") == Some(3.0));
    assert_eq!(watching.seen.get("target.ended.workers"), Some(1.0), "no other one was left");
}

#[test]
fn a_port_that_nobody_listens_at_is_told_once() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut watching = Watching::start(probe(&format!("port:{free}")).unwrap());
    watching.until("the machine", |seen| seen.get("host.cpu").is_some());
    let told = watching.seen.told();
    assert_eq!(told.matches("the target's processes are not measured").count(), 1, "{told}");
    assert_eq!(watching.seen.get("target.processes"), None);
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_rule() {
    let why = |text: &str| probe(text).err().unwrap();
    assert_eq!(why("port:0"), "a port is a number from 1 to 65535; got `0`");
    assert_eq!(why("pid:x"), "a process id is a number from 1; got `x`");
    let sun = why("sun");
    assert!(sun.starts_with("what to watch is one of port:NUMBER, pid:NUMBER, "), "{sun}");
    assert!(sun.ends_with("; got `sun`"), "{sun}");
}
