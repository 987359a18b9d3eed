//! What every machine does, this one and one behind a shell; and what becomes of a shell that fails.

use crate::support::Watching;
use rustix::process::{Pid, Signal, kill_process};
use sonagi_watch::machine::{Local, Machine, Shell};
use sonagi_watch::probes::{Target, on_machine, probe};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

fn shell() -> Shell {
    Shell::by("there", "sh", &["-s"])
}

/// A folder with files, links and folders.
fn folder() -> TempDir {
    let folder = TempDir::with_prefix("sonagi machine's ").unwrap();
    let path = folder.path();
    fs::write(path.join("lines"), "a: b\n\n/proc/x:y\nlast\n").unwrap();
    fs::write(path.join("empty"), "").unwrap();
    fs::write(path.join("it's"), "here\n").unwrap();
    fs::write(path.join("long"), "0123456789".repeat(20_000)).unwrap();
    fs::create_dir_all(path.join("links/none")).unwrap();
    fs::write(path.join("links/.hidden"), "").unwrap();
    symlink("socket:[7]", path.join("links/0")).unwrap();
    symlink("/dev/null", path.join("links/1")).unwrap();
    folder
}

/// All links of a folder.
fn links(machine: &mut dyn Machine, path: &str) -> io::Result<Vec<String>> {
    let mut told = Vec::new();
    machine.links(path, &mut |link| {
        told.push(link.to_owned());
        ControlFlow::Continue(())
    })?;
    Ok(told)
}

fn machine_keeps_its_contract(machine: &mut dyn Machine, folder: &Path) {
    let at = |name: &str| format!("{}/{name}", folder.display());
    for _ in 0..2 {
        machine.look().unwrap();
        assert_eq!(machine.read(&at("lines")).unwrap(), b"a: b\n\n/proc/x:y\nlast\n");
        assert_eq!(machine.read(&at("empty")).unwrap(), b"");
        assert_eq!(machine.read(&at("it's")).unwrap(), b"here\n");
        assert_eq!(machine.head(&at("long"), 25).unwrap(), b"0123456789012345678901234");
        assert_eq!(machine.head(&at("lines"), usize::MAX).unwrap(), b"a: b\n\n/proc/x:y\nlast\n");
        assert_eq!(machine.head(&at("long"), 150_001).unwrap().len(), 150_001);
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(machine.list(&at("links")).unwrap()), [".hidden", "0", "1", "none"]);
        assert_eq!(sorted(links(machine, &at("links")).unwrap()), ["/dev/null", "socket:[7]"]);
        let mut told = 0;
        let first = |_: &str| {
            told += 1;
            ControlFlow::Break(())
        };
        machine.links(&at("links"), &mut { first }).unwrap();
        assert_eq!(told, 1, "one was enough");
        assert!(machine.count(&at("links")).is_ok_and(|count| count >= 4));
        assert_eq!(machine.list(&at("links/none")).unwrap(), [""; 0]);
        assert_eq!(links(machine, &at("links/none")).unwrap(), [""; 0]);
        let gone = at("gone");
        for error in [
            machine.read(&gone).unwrap_err(),
            machine.head(&gone, 9).unwrap_err(),
            machine.list(&gone).unwrap_err(),
            links(machine, &gone).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
        assert!(machine.read(&at("links")).is_err(), "a folder is no file");
        assert!(machine.read("/proc/self/stat").unwrap().ends_with(b"\n"));
    }
    let (here, there) = (Local.units(), machine.units());
    assert_eq!(
        (here.ticks, here.page, here.is_little_endian),
        (there.ticks, there.page, there.is_little_endian)
    );
}

#[test]
fn this_machine_and_one_behind_a_shell_keep_the_same_contract() {
    let folder = folder();
    machine_keeps_its_contract(&mut Local, folder.path());
    machine_keeps_its_contract(&mut shell(), folder.path());
}

#[test]
fn a_look_like_the_one_before_is_one_question() {
    let (files, log) = (folder(), TempDir::new().unwrap());
    let log = log.path().join("log");
    let copied = format!("tee '{}' | sh -s", log.display());
    let mut machine = Shell::by("there", "sh", &["-c", &copied]);
    let at = |name: &str| format!("{}/{name}", files.path().display());
    let questions = || fs::read_to_string(&log).unwrap().matches("-end\n").count();
    let look = |machine: &mut Shell| {
        machine.look().unwrap();
        machine.read(&at("lines")).unwrap();
        machine.head(&at("long"), 10).unwrap();
        machine.list(&at("links")).unwrap();
        machine.read(&at("lines")).unwrap();
        assert!(machine.read(&at("gone")).is_err());
    };
    look(&mut machine);
    // Its units, and each of the four when it was asked for.
    assert_eq!(questions(), 5);
    look(&mut machine);
    look(&mut machine);
    assert_eq!(questions(), 7);
}

#[test]
fn a_service_behind_a_shell_is_seen_like_one_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut watching = Watching::start(on_machine(shell(), Target::Port(port)));
    watching.until("its CPU", |seen| seen.one("target.cpu").is_some() && seen.one("host.cpu").is_some());
    assert!(watching.seen.one("target.memory") > Some(1e6));
    assert!(watching.seen.one("target.open_files") > Some(4.0));
    assert_eq!(watching.seen.one("target.accept_queue"), Some(0.0));
    assert_eq!(watching.seen.by("host.cores", "on").len(), 1);
    assert_eq!(watching.seen.by("host.cores", "on").keys().next().unwrap(), "there");
    // Shells that other tests have begun are children of the service, and end.
    let ended = format!("process {} ", std::process::id());
    assert!(!watching.seen.told().contains(&ended), "{}", watching.seen.told());
    let mut machine = Watching::start(on_machine(shell(), Target::Machine));
    machine.until("its CPU", |seen| seen.one("host.cpu").is_some());
    assert_eq!(
        (machine.seen.one("target.cpu"), machine.seen.notes.len()),
        (None, 0),
        "{}",
        machine.seen.told()
    );
}

#[test]
fn a_machine_that_refuses_is_told_once_and_watched_when_it_does_not() {
    let place = TempDir::new().unwrap();
    let (flag, pid) = (place.path().join("flag"), place.path().join("pid"));
    let script = format!(
        "[ -e '{}' ] || {{ echo 'u@h: Permission denied (publickey).' >&2; exit 255; }}; echo $$ >'{}'; exec sh -s",
        flag.display(),
        pid.display()
    );
    let shell = Shell::by("there", "sh", &["-c", &script]);
    let mut watching = Watching::start(on_machine(shell, Target::Machine));
    watching
        .until("a refusal", |seen| seen.told().contains("not measured: u@h: Permission denied (publickey)."));
    fs::write(&flag, "").unwrap();
    watching.until("figures", |seen| seen.one("host.cpu").is_some());
    assert_eq!(watching.seen.notes.len(), 1, "{}", watching.seen.told());
    assert!(watching.seen.notes[0].hint.as_ref().is_some_and(|hint| hint.contains("BatchMode=yes")));

    fs::remove_file(&flag).unwrap();
    let dying: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(dying).unwrap(), Signal::KILL).unwrap();
    watching.until("its loss", |seen| seen.told().contains("it stopped answering: u@h: Permission denied"));
    watching.seen.values.clear();
    fs::write(&flag, "").unwrap();
    watching.until("its return", |seen| seen.told().contains("it answers again"));
    watching.until("figures again", |seen| seen.one("host.cpu").is_some());
    let last: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    drop(watching);
    assert!(!Path::new(&format!("/proc/{last}")).exists(), "its shell ended with it");
}

#[test]
fn a_machine_that_never_answers_is_given_up() {
    let mut machine = Shell::by("there", "sh", &["-c", "exec sleep 600"]);
    let error = machine.look().unwrap_err();
    assert_eq!(error.to_string(), "it does not answer within 8 s");
    assert_eq!(machine.read("/proc/stat").unwrap_err().kind(), ErrorKind::NotConnected);
}

#[test]
fn a_machine_is_refused_with_the_rule() {
    let why = |text: &str| probe(text).err().unwrap();
    assert_eq!(why("ssh:-oX"), "a machine is ssh:[USER@]HOST[:PORT]; got `-oX`");
    assert_eq!(why("ssh:h/port:x"), "a port is a number from 1 to 65535; got `x`");
    assert_eq!(why("ssh:h/sun"), "there it is port:NUMBER or pid:NUMBER; got `sun`");
}
