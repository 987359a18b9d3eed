//! Scripts that run: what they see, and how they end.

mod folders;
mod language;
mod looks;
mod peer;
mod requests;
mod setup;
mod socketio;
mod sonagi;
mod sse;
mod stomp;
mod websockets;
mod ws;

use super::*;
use crate::bundle::Bundle;
use crate::executor::Stop;
use crate::metrics::{Detail, Registry, Sample, SystemTags, registry, sampler};
use crate::options::{Tiers, consolidate};
use crate::shard::{Common, Delivery, Limits, LogLine, OPERATIONS, Pace, Shard};
use crate::vu::{Phase, Vu};
use sonagi_engine::Control;
use sonagi_measure::ledger::Batch;
use sonagi_measure::recorder::Recorder;
use sonagi_transport::clock::Clock;
use sonagi_transport::net::Net;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// The output of a script, and the outcome of its default function.
pub(crate) struct Seen {
    pub(crate) lines: Vec<String>,
    /// Every sample: metric, value, tags.
    pub(crate) samples: Vec<String>,
    pub(crate) outcome: Result<Option<String>, Thrown>,
    /// Bytes sent and received.
    traffic: (u64, u64),
    /// Events of the ledger.
    batch: Batch,
}

/// Runs init code and one iteration of a script in simulated time; `stop_after_ms` cuts the iteration off.
pub(crate) fn run_with(folder: &Path, script: &str, stop_after_ms: Option<i64>) -> Seen {
    run_as(folder, script, How { stop_after_ms, ..How::default() })
}

/// [`run_with`], as a user that comes behind the first one: it has the built-ins the script names and no others.
fn run_later(script: &str) -> Seen {
    run_as(Path::new("/test"), script, How { is_later: true, ..How::default() })
}

/// How a script is run.
#[derive(Clone, Copy, Default)]
struct How {
    stop_after_ms: Option<i64>,
    is_later: bool,
    /// Iterations behind the first one; the last one's outcome is seen.
    more_iterations: usize,
    keep_connections: bool,
    /// Its default function is called as `setup` is; the outcome is what it returns.
    is_setup: bool,
}

fn run_as(folder: &Path, script: &str, how: How) -> Seen {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let said: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = Rc::clone(&said);
    let tasks = tokio::task::LocalSet::new();
    let (outcome, samples, traffic, batch) = tasks.block_on(&runtime, async move {
        let clock = Clock::simulated(Instant::now());
        let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
        let (shard, registry) = shard(folder, script, how, &clock, heard);
        if how.is_later {
            let mut first = User::new(Vu::new(Rc::clone(&shard), 0)).unwrap();
            first.perform(Task::Init, Stop::never(&clock)).await.unwrap();
            shard.common.bundle.close();
        }
        let mut user = User::new(Vu::new(Rc::clone(&shard), 1)).unwrap();
        let init = user.perform(Task::Init, Stop::never(&clock)).await;
        let outcome = match init {
            Err(thrown) => Err(thrown),
            Ok(_) => {
                let stop = Stop::never(&clock);
                if let Some(ms) = how.stop_after_ms {
                    let (stop, clock) = (stop.clone(), Rc::clone(&clock));
                    tokio::task::spawn_local(async move {
                        clock.sleep_until(clock.now().plus(ms * 1_000_000)).await;
                        stop.pull();
                    });
                }
                let phase = if how.is_setup { Phase::Setup } else { Phase::Iteration };
                let call = Task::Call { phase, function: "default".into(), given: Given::Data(None) };
                for _ in 0..how.more_iterations {
                    user.perform(call.clone(), stop.clone()).await.unwrap();
                }
                user.perform(call, stop).await
            }
        };
        driver.abort();
        let samples = shard.sampler.borrow_mut().take().samples;
        let samples = samples.iter().map(|sample| shown(&registry, sample)).collect();
        let batch = shard.recorder.borrow_mut().take().ledger;
        (outcome, samples, user.vu.traffic.take(), batch)
    });
    let lines = said.take();
    Seen { lines, samples, outcome, traffic, batch }
}

/// Runs something with a user in simulated time, and returns its result.
pub(crate) fn with_user<T>(what: impl AsyncFnOnce(Rc<Vu>) -> T) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let clock = Clock::simulated(Instant::now());
        let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
        let (shard, _) = shard(Path::new("/test"), "", How::default(), &clock, Rc::default());
        let came = what(Vu::new(shard, 1)).await;
        driver.abort();
        came
    })
}

/// A shard with a simulated network whose peer is [`echo`]; log lines go to `heard`.
fn shard(
    folder: &Path,
    script: &str,
    how: How,
    clock: &Rc<Clock>,
    heard: Rc<RefCell<Vec<String>>>,
) -> (Rc<Shard>, Arc<Registry>) {
    let registry = Arc::new(registry());
    let mut options = consolidate(Tiers::default()).unwrap().options;
    options.sonagi.keep_connections = how.keep_connections;
    let common = Arc::new(Common {
        bundle: Arc::new(Bundle::new(folder.join("script.js"), script.into())),
        registry: Arc::clone(&registry),
        options: Arc::new(options),
        detail: Detail::Total,
        keeps_samples: true,
        environment: vec![("NAME".to_owned(), "value".to_owned())],
        limits: Limits { stack_bytes: 512 << 10, memory_bytes: 64 << 20 },
        without_global: false,
        secrets: Arc::default(),
        pace: Pace::default(),
        delivery: Delivery::default(),
        tally: Default::default(),
    });
    let sampler = sampler(&registry, Detail::Total, SystemTags::default(), true);
    let net = Rc::new(Net::simulated(|pipe| {
        tokio::task::spawn_local(echo(pipe));
    }));
    let log = move |line: LogLine| heard.borrow_mut().push(line.text);
    let recorder = Recorder::new(OPERATIONS.len(), 0);
    let kernel = sonagi_engine::Shard::new(Rc::clone(clock), net, Control::new(), recorder, log);
    (Shard::new(common, Rc::new(kernel), sampler), registry)
}

impl Seen {
    /// The values of a metric, in order.
    fn values(&self, metric: &str) -> Vec<f64> {
        let of_metric =
            self.samples.iter().filter_map(|sample| sample.strip_prefix(metric)?.strip_prefix(' '));
        of_metric.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect()
    }
}

fn shown(registry: &Registry, sample: &Sample) -> String {
    let tags: Vec<String> = sample.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {} {}", registry.metric(sample.metric).name, sample.value, tags.join(" ")).trim().to_owned()
}

/// Answers every request with its own head and body.
async fn echo(mut pipe: tokio::io::DuplexStream) {
    let mut buffer = vec![0; 16 << 10];
    let mut turn = 0;
    while let Ok(read) = pipe.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        let request = String::from_utf8_lossy(&buffer[..read]).into_owned();
        turn += 1;
        if let Some(answer) = requests::answer(&request, turn) {
            if pipe.write_all(&answer).await.is_err() {
                return;
            }
            continue;
        }
        if request.starts_with("CONNECT\n") {
            return stomp::serve(pipe, &buffer[..read]).await;
        }
        if peer::is_asked(&request) {
            return peer::serve(pipe, &request).await;
        }
        let answer = match request.split(' ').nth(1) {
            Some("/away") => "HTTP/1.1 302 Found\r\nLocation: /there\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Some(path) if path == "/events" || path.starts_with("/events?") => {
                let events = format!(": alive\n\nid: 7\nevent: own\ndata: a\ndata: b\n\ndata: {}\n\n", request.lines().next().unwrap());
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nx-own: 1\r\n\r\n{events}")
            }
            Some("/last-events") => "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\ndata: last\n\n".to_owned(),
            Some("/refused") => "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Some("/cut-events") => {
                let cut = "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\ndata: last\n\n";
                let _ = pipe.write_all(cut.as_bytes()).await;
                return;
            }
            Some("/page/") => {
                let body = r#"<title>a page</title><form method="post" action="sent"><input name="user" value="me">
                    <input type="hidden" name="csrf" value="c-42"><input type="submit" name="go" value="went"></form>
                    <form id="asks" action="/asked?old=1"><input name="q"></form><a href="next">1</a><a href="/away?b=1">2</a>"#;
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            Some("/json") => {
                let body = r#"{"a":[1,{"b":"c"}]}"#;
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            _ => format!("HTTP/1.1 200 OK\r\nX-Foo: 1\r\nContent-Length: {}\r\n\r\n{request}", request.len()),
        };
        if pipe.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

pub(crate) fn run(script: &str) -> Seen {
    run_with(Path::new("/test"), script, None)
}

/// Runs a script, of which every line on the console is expected.
#[track_caller]
pub(crate) fn check(script: &str, said: &[&str]) {
    expect(&run(script), said);
}

#[track_caller]
fn expect(seen: &Seen, said: &[&str]) {
    assert_eq!(seen.lines, said, "{:?}", seen.outcome);
    assert_eq!(seen.outcome, Ok(None));
}

#[test]
fn a_script_has_its_globals_and_keeps_its_state_in_modules() {
    check(
        "let turns = 0; export default function () { turns += 1; console.log(turns, __VU, __ITER, __ENV.NAME, {a: [1]}); }",
        &["1 1 0 value { a: [ 1 ] }"],
    );
}

#[test]
fn what_blocks_takes_the_time_it_says() {
    check(
        "import { sleep } from 'k6';
         export default () => { const begun = Date.now(); sleep(0.2); console.log('slept'); }",
        &["slept"],
    );
}

#[test]
fn timers_fire_in_order_and_hold_the_iteration() {
    check(
        "export default () => {
           setTimeout((what) => console.log(what), 20, 'second');
           setTimeout(() => console.log('first'), 10);
           const gone = setTimeout(() => console.log('never'), 5);
           clearTimeout(gone);
           let count = 0;
           const ticks = setInterval(() => { count += 1; console.log('tick'); if (count === 2) clearInterval(ticks); }, 30);
           Promise.resolve().then(() => console.log('at once'));
         }",
        &["at once", "first", "second", "tick", "tick"],
    );
}

#[test]
fn an_async_function_is_awaited() {
    check(
        "export default async () => { await new Promise((go) => setTimeout(go, 10)); console.log('after'); }",
        &["after"],
    );
}

#[test]
fn what_is_thrown_ends_the_iteration_with_its_place() {
    let seen = run("export default function () {\n  throw new TypeError('odd');\n}");
    let Err(Thrown::Error(text)) = seen.outcome else { panic!("{:?}", seen.outcome) };
    assert!(text.starts_with("TypeError: odd\n\tat default (/test/script.js:2:"), "{text}");
    let seen = run("export default async () => { throw 'a text'; }");
    assert_eq!(seen.outcome, Err(Thrown::Rejected("Uncaught (in promise) a text".to_owned())));
    let seen = run("export default () => { Promise.reject(new Error('lost')); }");
    assert!(
        matches!(&seen.outcome, Err(Thrown::Rejected(text)) if text.starts_with("Uncaught (in promise) Error: lost")),
        "{:?}",
        seen.outcome
    );
}

#[test]
fn an_interruption_cannot_be_caught() {
    let script = "import { sleep } from 'k6';
        export default () => { try { sleep(10); } catch { console.log('caught'); } finally { console.log('finally'); } }";
    let seen = run_with(Path::new("/test"), script, Some(50));
    assert_eq!((seen.outcome, seen.lines), (Err(Thrown::Interrupted), vec![]));
}

#[test]
fn endless_recursion_and_hunger_are_errors_of_the_script() {
    let seen = run(
        "const again = () => again(); export default () => { try { again(); } catch (e) { console.log(e.name); } }",
    );
    assert_eq!(seen.lines, ["RangeError"]);
    let seen =
        run("export default () => { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length); }");
    assert!(
        matches!(&seen.outcome, Err(Thrown::Error(text)) if text.contains("out of memory")),
        "{:?}",
        seen.outcome
    );
}

#[test]
fn files_are_imported_required_and_opened_from_where_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    write("lib/a.js", "import { b } from './b.js'; export const a = 'a' + b; export default 'the default';");
    write("lib/b.js", "exports.b = 'b' + require('../c.js').c;");
    write("c.js", "module.exports = { c: typeof this, d: 4 };");
    write("data.json", "{\"n\": 1}");
    write("types.ts", "interface A { x: number } export const typed = (a: A): number => a.x;");
    let script = "import whole, { a } from './lib/a.js';
        import common, { d } from './c.js';
        import { typed } from './types.ts';
        const data = require('./data.json');
        const text = open('./data.json');
        export default () => console.log(whole, a, common.d, d, typed({ x: 5 }), data.n, text.length);";
    let seen = run_with(folder.path(), script, None);
    assert_eq!(seen.lines, ["the default abobject 4 4 5 1 8"], "{:?}", seen.outcome);
}

#[test]
fn a_file_that_several_import_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("state.js", "export const state = { turns: 0 };");
    write("other.js", "import { state } from './state.js'; export const turn = () => { state.turns += 1; };");
    let script = "import { turn } from './other.js'; import { state } from './state.js';
        export default () => { turn(); console.log(state.turns); }";
    assert_eq!(run_with(folder.path(), script, None).lines, ["1"]);
}

#[test]
fn checks_and_groups_do_what_they_say() {
    check(
        "import { check, group, fail } from 'k6';
         export default () => {
           console.log(check(3, { yes: (v) => v === 3, no: (v) => v > 5 }), check(1, { also: true }));
           console.log(group('outer', () => group('inner', () => 'returned')));
           try { fail('why'); } catch (e) { console.log(e.message); }
         }",
        &["false true", "returned", "why"],
    );
}

#[test]
fn requests_are_answered_redirected_and_side_by_side() {
    check(
        "import http from 'k6/http';
         const line = (r) => r.body.split('\\r\\n')[0];
         export default () => {
           const r = http.post('http://a/x?q=1', { b: 2, a: '1 &' }, { headers: { 'x-own': 'h' } });
           console.log(r.status, r.status_text, line(r), r.headers['X-Foo'], r.body.split('\\r\\n\\r\\n')[1]);
           const away = http.get('http://a/away');
           console.log(away.url, /cookie: a=b/i.test(away.body), /referer: http:\\/\\/a\\/away/i.test(away.body));
           console.log(http.get('http://a/json').json('a.1.b'), http.get('http://a/json').json().a[0]);
           const both = http.batch({ one: 'http://a/1', two: ['PUT', http.url`http://a/${2}`, 'x'] });
           console.log(line(both.one), line(both.two));
           console.log(http.get('nope').error_code, http.get('http://a/', { responseType: 'none' }).body);
         }",
        &[
            "200 200 OK POST /x?q=1 HTTP/1.1 1 a=1+%26&b=2",
            "http://a/there true true",
            "c 1",
            "GET /1 HTTP/1.1 PUT /2 HTTP/1.1",
            "Request Failed",
            "1000 null",
        ],
    );
}

#[test]
fn a_request_can_be_awaited() {
    check(
        "import http from 'k6/http';
         export default async () => {
           const [a, b] = await Promise.all([http.asyncRequest('GET', 'http://a/1'), http.asyncRequest('GET', 'http://a/2')]);
           console.log(a.status, b.status);
         }",
        &["200 200"],
    );
}

#[test]
fn an_error_of_typescript_is_where_the_file_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = "interface Thing {\n  size: number;\n}\n\nexport function broken(thing: Thing): never {\n  \
                  throw new Error(`odd ${thing.size}`);\n}\n";
    std::fs::write(folder.path().join("thing.ts"), source).unwrap();
    let script = "import { broken } from './thing.ts';\nexport default () => broken({ size: 1 });";
    let Err(Thrown::Error(text)) = run_as(folder.path(), script, How::default()).outcome else { panic!() };
    assert!(text.contains("/thing.ts:6:") && text.contains("/script.js:2:"), "{text}");
}

#[test]
fn what_is_random_is_each_users_own() {
    let drawn = |seed| {
        fastrand::seed(seed);
        run_later("export default () => console.log(Math.random());").lines
    };
    assert_eq!(drawn(1), drawn(1), "drawn of the thread's numbers, not of the clock");
    assert_ne!(drawn(1), drawn(2));
}
