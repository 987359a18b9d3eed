//! Services that scripts launch: started anew for every run, limited, and ended with everything they started; or
//! restarted, where they run already.

mod limits;
mod network;
mod restarts;
mod scripts;
mod searches;
mod served;
mod time_limits;

use crate::support::{Answer, Place, Running};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// This binary, as a command of scripts.
const SONAGI: &str = env!("CARGO_BIN_EXE_sonagi");
/// What a run says that cannot have the limits it asks for.
const NO_LIMITS: &str = "limits of CPU and memory are not possible here: ";

/// A port that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The reference service on this port, as a command.
fn serve(port: u16) -> String {
    format!("exec {SONAGI} serve --listen=127.0.0.1:{port} --grace=0s --seed-users=1")
}

/// A script whose users ask the service on this port whether it is well, for so many seconds; `rest` stands under
/// `config.launch`, `below` at the end.
fn script(port: u16, seconds: u32, launch: &[&str], below: &str) -> String {
    let launch: String = launch.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "config:\n  target: http://127.0.0.1:{port}\n  phases: [{{ duration: {seconds}, arrivalRate: 4 }}]\n  \
         launch:\n{launch}scenarios: [{{ flow: [{{ get: {{ url: /healthz }} }}] }}]\n{below}"
    )
}

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// A process's number that somebody wrote into a file.
fn written(place: &Place, name: &str) -> Option<u32> {
    fs::read_to_string(place.path().join(name)).ok()?.trim().parse().ok()
}

/// Whether a process is there, and has not ended.
fn is_alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits until this holds, or fails.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The children of a process.
fn children_of(parent: u32) -> Vec<u32> {
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_child = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        fields.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    all.filter(is_child).collect()
}

/// Sends a signal to the keeper of a run.
fn signal_keeper(running: &Running, signal: Signal) {
    let keeper = Pid::from_raw(children_of(running.id())[0] as i32).unwrap();
    kill_process(keeper, signal).unwrap();
}

/// The folder of each control group that a process is in, by its controllers.
fn groups_of(id: u32) -> Vec<(String, PathBuf)> {
    let root = Path::new("/sys/fs/cgroup");
    let text = fs::read_to_string(format!("/proc/{id}/cgroup")).unwrap_or_default();
    let group = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let folder = if controllers.is_empty() { root.join(path) } else { root.join(controllers).join(path) };
        Some((controllers.to_owned(), folder))
    };
    text.lines()
        .filter_map(group)
        .filter(|(_, folder)| folder.to_string_lossy().contains("/sonagi-"))
        .collect()
}

/// A run that asked for limits which cannot be had here says what is needed, and nothing was run.
fn is_refused(answer: &Answer) -> bool {
    if !answer.err.contains(NO_LIMITS) {
        return false;
    }
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{answer:?}");
    assert!(answer.err.contains("hint: a control group is needed: run as root"), "{answer:?}");
    true
}

#[test]
fn a_service_is_started_anew_for_every_run_of_a_matrix_and_everything_it_started_is_gone_after_it() {
    let (place, port) = (Place::new(), free_port());
    let command = format!(
        "command: (setsid sleep 1000 & echo $! > daemon-$POOL); echo pool $POOL in $PWD >> said; {}",
        serve(port)
    );
    let launch = [
        command.as_str(),
        "env: { POOL: \"{{ pool }}\" }",
        "folder: inner",
        "before: echo before >> said",
        "after: [sh, -c, echo after >> said]",
    ];
    fs::create_dir(place.path().join("inner")).unwrap();
    place.write("pools.yml", &script(port, 1, &launch, "matrix: { pool: [2, 10] }\n"));
    let answer = place.sonagi(&["run", "pools.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let said = fs::read_to_string(place.path().join("inner/said")).unwrap();
    let inner = place.path().join("inner").canonicalize().unwrap();
    let inner = inner.display();
    let expected = format!("before\npool 2 in {inner}\nafter\nbefore\npool 10 in {inner}\nafter\n");
    assert_eq!(said, expected);
    for pool in [2, 10] {
        let daemon = written(&place, &format!("inner/daemon-{pool}")).unwrap();
        assert!(!is_alive(daemon), "the daemon of run {pool}");
    }
    assert!(!is_open(port), "nobody listens any more");
    let runs = answer.json();
    for run in runs.as_array().unwrap() {
        assert_eq!(run["service"]["ended"], Value::Null);
        assert!(run["service"]["resident_peak_mb"].as_f64().unwrap() > 1.0, "{}", run["service"]);
        let log = Path::new(run["run_folder"].as_str().unwrap()).join("service.log");
        let log = fs::read_to_string(place.path().join(log)).unwrap();
        assert!(log.contains(&format!("listening on http://127.0.0.1:{port}\n")), "{log}");
    }
}

/// What a service's first process leaves when it ends: a daemon. The numbers of both are in files.
const WITH_DAEMON: &str = "echo $$ > first; (setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); ";

/// A run of a minute with a daemon.
fn long_run(place: &Place, port: u16, limits: &str) -> Running {
    let command = format!("command: {WITH_DAEMON}{}", serve(port));
    place.write("long.yml", &script(port, 60, &[&command, limits, "after: echo cleaned > after"], ""));
    Running::start(place.command(&["run", "long.yml"]))
}

/// Waits until nothing of a launched service is there any more.
fn is_gone(place: &Place, port: u16, groups: &[(String, PathBuf)]) {
    let ids = ["first", "daemon"].map(|name| written(place, name).unwrap());
    wait_until("its processes end", || !ids.iter().any(|id| is_alive(*id)));
    wait_until("its port is free", || !is_open(port));
    wait_until("`after` has run", || place.path().join("after").exists());
    wait_until("its groups are removed", || !groups.iter().any(|(_, folder)| folder.exists()));
}

#[test]
fn whoever_kills_a_run_leaves_no_process_no_port_and_no_limit() {
    let (place, port) = (Place::new(), free_port());
    // Where there can be no group, a limit that needs none.
    for limits in ["limits: { cpu: 0.5, memory: 1 GB, nofile: 4096 }", "limits: { nofile: 4096 }"] {
        for name in ["first", "daemon", "after"] {
            let _ = fs::remove_file(place.path().join(name));
        }
        let mut running = long_run(&place, port, limits);
        wait_until("the service or a refusal", || is_open(port) || !is_alive(running.id()));
        if !is_open(port) {
            assert!(is_refused(&running.end()), "it ended early");
            continue;
        }
        running.wait_for("0:01/");
        let keeper = children_of(running.id());
        assert_eq!(keeper.len(), 1, "{keeper:?}");
        let name = fs::read_to_string(format!("/proc/{}/comm", keeper[0])).unwrap();
        assert_eq!(name, "sonagi-keeper\n");
        let groups = groups_of(written(&place, "first").unwrap());
        assert_eq!(groups.is_empty(), !limits.contains("cpu"), "{groups:?}");
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        is_gone(&place, port, &groups);
        wait_until("its keeper ends", || !is_alive(keeper[0]));
    }
}

#[test]
fn a_keeper_that_is_killed_takes_the_service_along_and_the_next_one_removes_what_it_left() {
    let (place, port) = (Place::new(), free_port());
    let limits = "limits: { cpu: 0.5, memory: 1 GB }";
    let mut running = long_run(&place, port, limits);
    wait_until("the service or a refusal", || is_open(port) || !is_alive(running.id()));
    if !is_open(port) {
        assert!(is_refused(&running.end()), "it ended early");
        return;
    }
    running.wait_for("0:01/");
    let [first, daemon] = ["first", "daemon"].map(|name| written(&place, name).unwrap());
    let groups = groups_of(first);
    signal_keeper(&running, Signal::KILL);
    wait_until("the service dies with it", || !is_alive(first));
    assert!(is_alive(daemon), "nobody is left who would end it");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert_eq!(place.reported()["service"]["ended"], "the process that keeps it was killed");
    let command = format!("command: {}", serve(port));
    place.write("next.yml", &script(port, 1, &[&command, limits], ""));
    let answer = place.sonagi(&["run", "next.yml"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!is_alive(daemon) && groups.iter().all(|(_, folder)| !folder.exists()), "{groups:?}");
}

#[test]
fn ctrl_c_ends_a_run_and_its_service() {
    let (place, port) = (Place::new(), free_port());
    let mut running = long_run(&place, port, "stop: { signal: SIGINT, grace: 2s }");
    running.wait_for("0:01/");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    is_gone(&place, port, &[]);
    assert_eq!(place.reported()["service"]["ended"], Value::Null, "we ended it");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_service_that_is_not_ready() {
    let (place, port) = (Place::new(), free_port());
    let command = "command: echo $$ > first; exec sleep 1000";
    place.write("never.yml", &script(port, 1, &[command, "patience: 10m"], ""));
    let running = Running::start(place.command(&["run", "never.yml"]));
    wait_until("the service", || written(&place, "first").is_some());
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!((answer.code, answer.out.as_str()), (Some(130), ""), "{answer:?}");
    assert!(answer.err.contains("stopped before the service was ready"), "{answer:?}");
    let first = written(&place, "first").unwrap();
    assert!(!is_alive(first), "the service is ended");
}

/// The error of a run whose service does not get ready: exit code 4, with `after` run and nothing left.
fn error_of(launch: &[&str]) -> String {
    let (place, port) = (Place::new(), free_port());
    let launch: Vec<&str> = launch.iter().copied().chain(["after: echo cleaned > after"]).collect();
    place.write("bad.yml", &script(port, 1, &launch, ""));
    let answer = place.sonagi(&["run", "bad.yml"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{answer:?}");
    assert!(place.folders().is_empty(), "nothing was run");
    if let Some(first) = written(&place, "first") {
        assert!(!is_alive(first), "the service is ended");
    }
    assert!(place.path().join("after").exists(), "whatever happens, `after` runs");
    answer.err.replace(&port.to_string(), "PORT")
}

#[test]
fn a_service_that_does_not_get_ready_is_a_clear_error_with_its_last_lines() {
    let told = error_of(&["command: [no-such-program, --flag]"]);
    let expected = "error: launch: the service `no-such-program --flag` could not be started: cannot run \
                    `no-such-program`: command not found\nhint: ";
    assert!(told.starts_with(expected), "{told}");

    let told = error_of(&["command: echo one; echo two >&2; exit 3"]);
    let expected = "error: launch: the service `echo one; echo two >&2; exit 3` ended before it was ready, with exit \
                    status: 3\n  | one\n  | two\nhint: ";
    assert!(told.starts_with(expected), "{told}");

    let told = error_of(&["command: echo $$ > first; echo almost; exec sleep 1000", "patience: 300ms"]);
    let expected = "error: launch: the service `echo $$ > first; echo almost; exec sleep 1000` was not ready within \
                    0.3 s: 127.0.0.1:PORT: Connection refused (os error 111)\n  | almost\nhint: ";
    assert!(told.starts_with(expected), "{told}");

    let told =
        error_of(&["command: echo almost; exec sleep 1000", "patience: 300ms", "ready: { line: listening }"]);
    assert!(told.contains(" 0.3 s: it printed no line with `listening`\n  | almost\nhint: "), "{told}");

    let told = error_of(&["command: echo never", "before: echo no database; exit 2"]);
    let expected =
        "error: launch: `echo never` was not started: `before` ended with exit status: 2\n  | no database\n";
    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn a_folder_that_is_not_there_is_told_before_anything_is_started() {
    let place = Place::new();
    place.write("lost.yml", &script(free_port(), 1, &["command: echo never", "folder: nowhere"], ""));
    let answer = place.sonagi(&["run", "lost.yml"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{answer:?}");
    let expected =
        "error: launch: the folder nowhere is not there\nhint: `folder` is relative to the script's\n";
    assert_eq!(answer.err, expected);
}

#[test]
fn a_port_in_use_is_told_before_anything_is_started() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    place.write("taken.yml", &script(port, 1, &["command: echo x > started"], ""));
    let answer = place.sonagi(&["run", "taken.yml"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    let expected =
        format!("error: launch: 127.0.0.1:{port} is in use already, by process {} (", std::process::id());
    assert!(answer.err.starts_with(&expected), "{answer:?}");
    assert!(!place.path().join("started").exists());
}

#[test]
fn a_service_is_ready_when_its_page_answers_or_its_line_is_printed() {
    for ready in ["ready: http://127.0.0.1:PORT/healthz", "ready: port PORT", "ready: { line: listening on }"]
    {
        let (place, port) = (Place::new(), free_port());
        let (command, ready) =
            (format!("command: {}", serve(port)), ready.replace("PORT", &port.to_string()));
        place.write("ready.yml", &script(port, 1, &[&command, &ready], ""));
        let answer = place.sonagi(&["run", "ready.yml"]);
        assert_eq!(answer.code, Some(0), "{ready}: {answer:?}");
    }
}

#[test]
fn a_service_that_ends_during_its_run_fails_it() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: (sleep 1.5; kill -9 $$) & {}", serve(port));
    place.write("dying.yml", &script(port, 3, &[&command], ""));
    let answer = place.sonagi(&["run", "dying.yml", "--json"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let run = answer.json();
    assert_eq!(run["service"]["ended"], "signal: 9 (SIGKILL)");
    assert_eq!(run["verdict"]["reasons"][0], "the service ended during the run: signal: 9 (SIGKILL)");
}
