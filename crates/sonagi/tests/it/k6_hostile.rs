//! k6 scripts that are wrong in ways that must stay theirs: the process goes on, and ends as documented.

use crate::support::{Answer, Place};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// A server that answers `/` after 50 ms and anything else never.
fn target() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
                    if buffer[..read].starts_with(b"GET / ") {
                        std::thread::sleep(Duration::from_millis(50));
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                }
            });
        }
    });
    address
}

fn run(script: &str) -> Answer {
    let place = Place::new();
    let script = script.replace("TARGET", &target().to_string());
    place.write("script.js", &script);
    Answer::from(place.command(&["run", "--quiet", "script.js"]).output().unwrap())
}

#[test]
fn a_setup_that_ends_before_its_request_does_fails_the_test_and_no_more() {
    for (setup, said) in [
        ("await http.asyncRequest('GET', 'http://TARGET/never');", "setup() execution timed out"),
        ("http.asyncRequest('GET', 'http://TARGET/never'); throw new Error('odd');", "Error: odd"),
        (
            "const socket = new WebSocket('ws://127.0.0.1:1'); socket.onerror = () => setup; sleep(0.1); throw new Error('odd');",
            "Error: odd",
        ),
    ] {
        let answer = run(&format!(
            "import http from 'k6/http'; import {{ sleep }} from 'k6'; import {{ WebSocket }} from 'k6/websockets';
             export const options = {{ setupTimeout: '1s' }};
             export async function setup() {{ {setup} }}
             export default () => {{}};"
        ));
        assert!(matches!(answer.code, Some(100 | 107 | 255)), "{setup}: {answer:?}");
        assert!(answer.err.contains(said), "{setup}: {answer:?}");
    }
}

#[test]
fn a_script_that_looks_again_and_again_lets_its_request_come() {
    let answer = run("import http from 'k6/http';
         export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 1, maxDuration: '20s', gracefulStop: '0s' } } };
         export default async function () {
           let status = 0;
           http.asyncRequest('GET', 'http://TARGET/').then((answer) => { status = answer.status; });
           (function look() { if (status === 0) setTimeout(look, 0); else console.log('timer', status); })();
         };");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("timer 200"), "{answer:?}");
}

#[test]
fn what_a_script_asks_too_much_of_is_refused_in_the_script() {
    let nested = format!("{}1{}", "[".repeat(3000), "]".repeat(3000));
    let sum = vec!["'a'"; 20_000].join("+");
    let answer = run(&format!(
        "import crypto from 'k6/crypto';
         const long = {sum}; const deep = () => {nested};
         export default () => {{
           console.log(long.length);
           for (const size of [Infinity, 1e15, NaN]) try {{ crypto.randomBytes(size); }} catch (e) {{ console.log(e.message); }}
           (function down(n) {{ try {{ down(n + 1); }} catch (e) {{ if (n === 0) console.log(e.name); throw e; }} }})(0);
         }};"
    ));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("20000") && answer.err.contains("RangeError"), "{answer:?}");
    assert_eq!(answer.err.matches("invalid size").count(), 3, "{answer:?}");
}

#[test]
fn a_busy_limit_ends_an_iteration_that_only_computes() {
    let answer = run("import { sleep } from 'k6';
         export const options = { iterations: 2, sonagi: { busyLimit: '200ms' } };
         export default () => { sleep(0.3); console.log('slept'); try { for (;;); } catch { console.log('caught'); } };");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let said = |what: &str| answer.err.matches(what).count();
    assert_eq!(
        (said("slept"), said("caught"), said("longer than sonagi.busyLimit (200ms)")),
        (2, 0, 2),
        "{answer:?}"
    );
}

#[test]
fn who_brings_an_artillery_script_in_javascript_is_told_how_to_run_it() {
    let script =
        "module.exports = { config: { phases: [] }, scenarios: [{ flow: [{ get: { url: '/' } }] }] };";
    let answer = run(script);
    assert_eq!(answer.code, Some(255), "{answer:?}");
    assert!(answer.err.contains("no exported functions in script\nhint: "), "{answer:?}");
    assert!(answer.err.contains("an Artillery script is run as YAML or JSON"), "{answer:?}");
    let answer = Place::new().sonagi(&["run", "--target", "http://127.0.0.1:1", "artillery.js"]);
    assert_eq!(answer.code, Some(255), "{answer:?}");
    assert!(answer.err.contains("hint: these are k6's flags"), "{answer:?}");
}
