//! When the process starts and ends, and who may end it.

use super::*;
use rustix::process::{Pid, Signal, getpgid, kill_process};
use std::io::Write;
use std::os::unix::net::UnixStream as Socket;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

async fn pid(sidecar: &Sidecar) -> Pid {
    let pid = call(sidecar, 0, "pid", json!({})).await.set["pid"].as_i64().unwrap();
    Pid::from_raw(pid as i32).unwrap()
}

/// Whether it has ended with all its threads, though perhaps nobody took note of it: its socket is closed.
fn is_over(pid: Pid) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let threads =
        std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).map_or(0, Iterator::count);
    state.is_empty() || state.contains(") Z ") && threads < 2
}

const PID: &str = "exports.pid = async ({ vars }) => { vars.pid = process.pid; };";

#[test]
fn a_signal_that_ends_the_run_does_not_end_node() {
    on_a_shard(async || {
        let script = Script::new("p.cjs", PID);
        let sidecar = started(&script, "p.cjs").await;
        let node = pid(&sidecar).await;
        assert_eq!(getpgid(Some(node)).unwrap(), node, "a terminal's signals go to groups");
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            kill_process(node, signal).unwrap();
            let answer = ask(&sidecar, 1, Kind::Function, "pid", json!({}), json!({})).await;
            assert!(answer.is_some(), "it ended with {signal:?}");
        }
        assert_eq!((sidecar.generation(), sidecar.take_said()), (0, vec![]));
    });
}

#[test]
fn a_module_that_is_never_loaded_ends_the_wait_at_its_limit_or_with_the_run() {
    on_a_shard(async || {
        for (name, code) in
            [("p.mjs", "await new Promise(() => setInterval(() => {}, 1e6));"), ("p.cjs", "for (;;);")]
        {
            let script = Script::new(name, code);
            let limit = Duration::from_millis(400);
            let slow = Processor { timeout: limit, ..processor(&script.path(name), &[]) };
            let error = launched(slow).await.err().unwrap().to_string();
            assert!(error.contains(&format!("{name} was not loaded within 400 ms")), "{error}");
            let control = Control::new();
            let stop = control.clone();
            let patient =
                Processor { timeout: Duration::from_secs(600), ..processor(&script.path(name), &[]) };
            tokio::task::spawn_local(async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                stop.stop();
            });
            let started = start(patient, LoadedProcessor::default(), Map::new(), control).await;
            assert!(matches!(started, Ok(None)), "{name}: there is nothing to load it for any more");
        }
    });
}

#[test]
fn a_module_that_hangs_when_it_is_loaded_again_gives_up_its_calls() {
    on_a_shard(async || {
        let code = "const flag = __dirname + '/flag';
             if (require('fs').existsSync(flag)) for (;;);
             require('fs').writeFileSync(flag, '');
             exports.exit = () => process.exit(3); exports.fine = async () => {};";
        let script = Script::new("p.cjs", code);
        let limit = Duration::from_secs(3);
        let sidecar = launched(Processor { timeout: limit, ..processor(&script.path("p.cjs"), &[]) });
        let sidecar = sidecar.await.unwrap();
        assert_eq!(ask(&sidecar, 1, Kind::Function, "exit", json!({}), json!({})).await, None);
        assert_eq!(ask(&sidecar, 1, Kind::Function, "fine", json!({}), json!({})).await, None);
        let said = sidecar.take_said();
        let told =
            |part: &str| said.iter().any(|said| matches!(said, Said::Line(line) if line.contains(part)));
        assert!(told("ended by itself") && told("was not loaded within 3000 ms"), "{said:?}");
    });
}

#[test]
fn a_run_that_is_ending_starts_no_node_anew() {
    on_a_shard(async || {
        let script = Script::new("p.cjs", "exports.exit = () => process.exit(3);");
        let control = Control::new();
        let started = start(
            processor(&script.path("p.cjs"), &[]),
            LoadedProcessor::default(),
            Map::new(),
            control.clone(),
        );
        let sidecar = started.await.unwrap().unwrap();
        control.stop();
        assert_eq!(ask(&sidecar, 1, Kind::Function, "exit", json!({}), json!({})).await, None);
        sidecar.finish().await;
        assert_eq!(sidecar.generation(), 0);
    });
}

#[test]
fn calls_that_were_meant_for_a_process_that_is_gone_are_not_made_in_the_next() {
    on_a_shard(async || {
        let code = format!(
            "{PID} let n = 0; exports.mark = async () => {{ n += 1; }}; exports.marks = async ({{ vars }}) => {{ vars.n = n; }};
             exports.leave = (context, events, done) => {{ done(); setTimeout(() => process.exit(0), 5); }};"
        );
        let script = Script::new("p.cjs", &code);
        let sidecar = started(&script, "p.cjs").await;
        for generation in 1..=RESTARTS {
            let node = pid(&sidecar).await;
            call(&sidecar, 1, "leave", json!({})).await;
            // The thread is held until Node is gone.
            while !is_over(node) {
                std::thread::sleep(Duration::from_millis(1));
            }
            // The runtime hears of that and of this byte in one breath: the call is made before the shard has taken
            // note.
            let (ours, mut theirs) = Socket::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            theirs.write_all(b"x").unwrap();
            UnixStream::from_std(ours).unwrap().read_u8().await.unwrap();
            assert_eq!(ask(&sidecar, 1, Kind::Function, "mark", json!({}), json!({})).await, None);
            assert_eq!(sidecar.generation(), generation);
            assert_eq!(set(&call(&sidecar, 2, "marks", json!({})).await), json!({ "n": 0 }));
        }
    });
}

#[test]
fn what_comes_faster_than_it_is_taken_is_counted() {
    on_a_shard(async || {
        let code = "exports.flood = async (context, events) => { for (let n = 0; n < 100_005; n += 1) events.emit('rate', 'drops'); };";
        let script = Script::new("p.cjs", code);
        let sidecar = started(&script, "p.cjs").await;
        call(&sidecar, 1, "flood", json!({})).await;
        let said = sidecar.take_said();
        let left_out = "5 metrics and lines of functions were left out: they came too fast".to_owned();
        assert_eq!((said.len(), said.last()), (SAID_MAX + 1, Some(&Said::Line(left_out))));
        assert_eq!(sidecar.take_said(), []);
    });
}

#[test]
fn an_answer_beyond_all_measure_fails_its_own_call() {
    on_a_shard(async || {
        let code = "exports.huge = async ({ vars }) => { vars.text = 'x'.repeat(65 << 20); };
             exports.fine = async ({ vars }) => { vars.fine = true; };";
        let script = Script::new("p.cjs", code);
        let sidecar = started(&script, "p.cjs").await;
        let why = call(&sidecar, 1, "huge", json!({})).await.error.unwrap().message;
        assert!(why.ends_with("characters of variables, and 67108864 can be told"), "{why}");
        assert_eq!(set(&call(&sidecar, 2, "fine", json!({})).await), json!({ "fine": true }));
    });
}
