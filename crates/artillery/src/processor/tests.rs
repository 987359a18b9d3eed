//! The sidecar with the Node of this machine.

mod before_the_run;
mod life;
mod printed;
mod requests;
mod shared;

use super::*;
use serde_json::json;
use std::path::Path;
use std::path::PathBuf;

/// Runs a test on a runtime as a shard has it.
fn on_a_shard<F: Future<Output = ()>>(test: impl FnOnce() -> F) {
    let local = tokio::task::LocalSet::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    local.block_on(&runtime, async { tokio::time::timeout(Duration::from_secs(30), test()).await.unwrap() });
}

struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    fn new(name: &str, code: &str) -> Script {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), code).unwrap();
        Script { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn processor(module: &Path, functions: &[&str]) -> Processor {
    Processor {
        module: module.to_owned(),
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        files: Vec::new(),
        environment: vec![("SONAGI_STAND_IN".to_owned(), "here".to_owned())],
        constants: Map::new(),
        timeout: Duration::from_secs(10),
        rewrite: crate::plan::Rewrite::new(|step, _| Ok(step.clone())),
    }
}

async fn started(script: &Script, name: &str) -> Rc<Sidecar> {
    launched(processor(&script.path(name), &[])).await.unwrap()
}

/// Without anything shared.
async fn launched(processor: Processor) -> Result<Rc<Sidecar>, Unloaded> {
    let started = start(processor, LoadedProcessor::default(), Map::new(), Control::new()).await?;
    Ok(started.expect("nobody stops it"))
}

/// With nobody who listens while it is loaded.
async fn start(
    processor: Processor,
    kept: LoadedProcessor,
    shared: Map<String, Value>,
    control: Control,
) -> Result<Option<Rc<Sidecar>>, Unloaded> {
    Sidecar::start(processor, kept, shared, control, &mut |_| {}).await
}

async fn ask(
    sidecar: &Sidecar,
    user: u32,
    kind: Kind,
    function: &str,
    set: Value,
    extra: Value,
) -> Option<FunctionResult> {
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    let call = Call { user, kind, function, set: object(set), extra: object(extra) };
    let (_, answer) = sidecar.call(call);
    answer.await.ok()
}

async fn call(sidecar: &Sidecar, user: u32, function: &str, set: Value) -> FunctionResult {
    ask(sidecar, user, Kind::Function, function, set, json!({})).await.unwrap()
}

fn set(answer: &FunctionResult) -> Value {
    Value::Object(answer.set.clone())
}

const WAYS: &str = "
exports.plain = (context, events, done) => { context.vars.way = 'plain'; setImmediate(done); };
exports.async = async (context) => { await null; context.vars.way = 'async'; };
exports.promise = (context) => Promise.resolve().then(() => { context.vars.way = 'promise'; });
exports.promised = (context, events, done) => Promise.resolve().then(() => { context.vars.way = 'both'; done(); });
exports.direct = (context) => { context.vars.way = 'direct'; };
exports.rest = (...all) => { all[0].vars.way = 'rest'; setImmediate(all[2]); };
exports.arguments = function () { const done = arguments[2]; arguments[0].vars.way = 'arguments'; setImmediate(done); };
exports.spread = (context) => { context.vars = { ...context.vars, way: 'spread' }; };
exports.chained = (context) => Promise.resolve([...'ab']).then(() => { context.vars.way = 'chained'; });
exports.method = { method(context) { [context].concat(...arguments)[0].vars.way = 'method'; } }.method;
exports.gathered = (...all) => Promise.resolve().then(() => { all[0].vars.way = 'gathered'; });
exports.defaulted = (context, { emit } /* ( */, done = () => ')') => setImmediate(() => { context.vars.way = 'defaulted'; done(); });
exports.bound = function (context) { context.vars.way = 'bound'; }.bind(null);
exports.placed = (context, events, done) => { setTimeout(() => { context.vars.way = 'placed'; done(); }, 5); return Promise.resolve(); };
";

#[test]
fn every_way_a_function_ends_is_understood_and_its_variables_come_back() {
    on_a_shard(async || {
        let script = Script::new("p.cjs", WAYS);
        let sidecar = started(&script, "p.cjs").await;
        for (name, way) in [
            ("plain", "plain"),
            ("async", "async"),
            ("promise", "promise"),
            ("promised", "both"),
            ("direct", "direct"),
            ("rest", "rest"),
            ("arguments", "arguments"),
            ("spread", "spread"),
            ("chained", "chained"),
            ("method", "method"),
            ("gathered", "gathered"),
            ("defaulted", "defaulted"),
            ("bound", "bound"),
            ("placed", "placed"),
        ] {
            let answer = call(&sidecar, 1, name, json!({})).await;
            assert_eq!((answer.error.as_ref(), set(&answer)), (None, json!({ "way": way })), "{name}");
        }
    });
}

#[test]
fn only_what_changed_comes_back_however_it_was_changed() {
    on_a_shard(async || {
        let script = Script::new(
            "p.mjs",
            "export const inPlace = async ({ vars }) => { vars.list.push(3); vars.same = 'x'; delete vars.gone; vars.fn = () => 1; };
             export const replaced = async (context) => { context.vars = { token: 't' }; };
             export const kept = async ({ vars }) => { vars.called = vars.fn(); };",
        );
        let sidecar = started(&script, "p.mjs").await;
        let vars = json!({ "list": [1, 2], "same": "x", "gone": 1 });
        let answer = call(&sidecar, 7, "inPlace", vars).await;
        assert_eq!((set(&answer), answer.unset), (json!({ "list": [1, 2, 3] }), vec!["gone".to_owned()]));
        let answer = call(&sidecar, 7, "kept", json!({})).await;
        assert_eq!(set(&answer), json!({ "called": 1 }), "what is no JSON lives on over there");
        let answer = call(&sidecar, 7, "replaced", json!({})).await;
        assert_eq!(set(&answer), json!({ "token": "t" }));
        assert_eq!(answer.unset, ["list", "same", "called"]);
        let answer = call(&sidecar, 8, "inPlace", json!({ "list": [] })).await;
        assert_eq!(set(&answer), json!({ "list": [3], "same": "x" }), "another user's variables are its own");
    });
}

#[test]
fn whatever_goes_wrong_is_told_of_the_call_it_went_wrong_in() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.throws = () => { throw new Error('thrown'); };
             exports.rejects = async () => { throw Object.assign(new Error('rejected'), { code: 'EX' }); };
             exports.done = (context, events, done) => done(new Error('done'));
             exports.text = (context, events, done) => done('a text');
             exports.late = (context, events, done) => setTimeout(() => { throw new Error('in a timer'); }, 1);
             exports.stray = (context, events, done) => { Promise.reject(new Error('nobody waits')); };
             exports.nothing = () => Promise.reject();
             exports.odd = () => { throw { get message() { throw new Error('this too'); } }; };
             exports.twice = (context, events, done) => { done(); done(); };
             exports.once = async (context, events, done) => { await null; done(); };
             exports.throwsLate = (context, events, done) => { done(); throw new Error('too late'); };
             exports.rejectsLate = (context, events, done) => { done(); return Promise.reject(new Error('later')); };
             exports.failsLate = async (context, events, done) => { setImmediate(done, new Error('latest')); };",
        );
        let sidecar = started(&script, "p.cjs").await;
        for (name, message) in [
            ("throws", "thrown"),
            ("rejects", "rejected"),
            ("done", "done"),
            ("text", "a text"),
            ("late", "in a timer"),
            ("stray", "nobody waits"),
            ("nothing", "no reason was given"),
            ("odd", "an error that cannot be put into words"),
            ("nowhere", "the processor exports no function \"nowhere\""),
        ] {
            let answer = call(&sidecar, 1, name, json!({})).await;
            assert_eq!(answer.error.map(|error| error.message), Some(message.to_owned()), "{name}");
        }
        for name in ["twice", "twice", "once", "throwsLate", "rejectsLate", "failsLate"] {
            assert_eq!(call(&sidecar, 1, name, json!({})).await.error, None, "{name}");
        }
        sidecar.finish().await;
        let lines = [
            "the function \"twice\" called done more than once; the first time counted",
            "the function \"throwsLate\" was done already when it failed: too late",
            "the function \"rejectsLate\" was done already when it failed: later",
            "the function \"failsLate\" was done already when it failed: latest",
        ];
        assert_eq!(sidecar.take_said(), lines.map(|line| Said::Line(line.to_owned())));
    });
}

#[test]
fn hooks_see_the_request_and_the_response_and_say_what_they_changed() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.sign = (request, context, events, done) => {
               request.headers = { ...request.headers, 'x-user': context.vars.name };
               request.json.seen = true; delete request.qs; request.body = Buffer.from([1, 2]); done();
             };
             exports.look = async (request, response, context) => { context.vars.seen = [request.url, response.statusCode, response.body]; };
             exports.failed = (error, request, context, events, done) => { context.vars.failed = [error.message, error.code, request.url]; done(); };
             exports.connect = (params, context, done) => { params.target = 'ws://elsewhere'; done(); };
             exports.more = (context, next) => next(context.vars.n < 3);
             exports.is = (vars) => vars.n === 2;",
        );
        let sidecar = started(&script, "p.cjs").await;
        let params =
            json!({ "url": "http://a/", "headers": { "a": "b" }, "json": { "n": 1 }, "qs": { "q": 1 } });
        let extra = json!({ "params": params });
        let answer =
            ask(&sidecar, 1, Kind::Before, "sign", json!({ "name": "u1" }), extra.clone()).await.unwrap();
        let changed = json!({
            "headers": { "a": "b", "x-user": "u1" }, "json": { "n": 1, "seen": true }, "body": { "base64": "AQI=" },
        });
        assert_eq!(Value::Object(answer.params), changed);
        assert_eq!(answer.dropped_params, ["qs"]);
        let after =
            json!({ "params": params, "response": { "statusCode": 201, "headers": {}, "body": "ok" } });
        let answer = ask(&sidecar, 1, Kind::After, "look", json!({}), after).await.unwrap();
        assert_eq!(answer.set["seen"], json!(["http://a/", 201, "ok"]));
        let failed = json!({ "params": params, "error": { "message": "refused", "code": "ECONNREFUSED" } });
        let answer = ask(&sidecar, 1, Kind::Error, "failed", json!({}), failed).await.unwrap();
        assert_eq!(answer.set["failed"], json!(["refused", "ECONNREFUSED", "http://a/"]));
        let connect =
            ask(&sidecar, 1, Kind::Connect, "connect", json!({}), json!({ "params": {} })).await.unwrap();
        assert_eq!(connect.params["target"], "ws://elsewhere");
        for (n, goes_on) in [(2, true), (3, false)] {
            let answer = ask(&sidecar, 1, Kind::While, "more", json!({ "n": n }), json!({})).await.unwrap();
            assert_eq!(answer.value, Some(goes_on.into()));
        }
        let answer = ask(&sidecar, 1, Kind::If, "is", json!({ "n": 2 }), json!({})).await.unwrap();
        assert_eq!(answer.value, Some(true.into()));
    });
}

#[test]
fn metrics_and_the_console_are_heard_and_so_is_what_is_said_at_the_very_end() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.count = async (context, events) => {
               events.emit('counter', 'carts', 2); events.emit('histogram', 'basket', 12.5); events.emit('rate', 'checkouts');
               events.emit('counter', 'bad', 'x'); console.log('user %d', 5, { a: 1 });
               events.emit('error', 'ECART'); events.emit('started', 1); events.emit('started', 2);
             };
             exports.later = (context, events, done) => { done(); setImmediate(() => events.emit('counter', 'last', 1)); };",
        );
        let sidecar = started(&script, "p.cjs").await;
        call(&sidecar, 1, "count", json!({})).await;
        let metric = |kind, name: &str, value| Said::Metric(Metric { kind, name: name.to_owned(), value });
        use sonagi_measure::metrics::{Kind, Unit};
        let counter = (Kind::Counter, Unit::Number);
        let histogram = (Kind::Trend, Unit::Number);
        let odd =
            "events.emit('started', …) means nothing here: the kinds are counter, rate, histogram and error";
        let refused = "events.emit('counter', …) needs a name and a number, got bad and x";
        assert_eq!(
            sidecar.take_said(),
            [
                metric(counter, "carts", 2.0),
                metric(histogram, "basket", 12.5),
                metric((Kind::Counter, Unit::Events), "checkouts", 1.0),
                Said::Line(refused.to_owned()),
                Said::Printed { is_error: false, text: "user 5 { a: 1 }".to_owned() },
                metric(counter, "errors.ECART", 1.0),
                Said::Line(odd.to_owned()),
            ]
        );
        call(&sidecar, 1, "later", json!({})).await;
        sidecar.finish().await;
        assert_eq!(sidecar.take_said(), [metric(counter, "last", 1.0)]);
    });
}

#[test]
fn a_process_that_ends_takes_its_calls_with_it_and_is_started_again_a_few_times() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "let n = 0; exports.exit = () => process.exit(3); exports.never = (context, events, done) => {};
             exports.next = async (context) => { context.vars.n = n += 1; };",
        );
        let sidecar = started(&script, "p.cjs").await;
        for generation in 0..=RESTARTS {
            assert_eq!(sidecar.generation(), generation);
            assert_eq!(
                set(&call(&sidecar, 1, "next", json!({})).await),
                json!({ "n": 1 }),
                "module state is new"
            );
            let waits = sidecar.call(Call {
                user: 2,
                kind: Kind::Function,
                function: "never",
                set: Map::new(),
                extra: Map::new(),
            });
            assert_eq!(ask(&sidecar, 1, Kind::Function, "exit", json!({}), json!({})).await, None);
            assert!(waits.1.await.is_err(), "the call beside it is lost, too");
            while generation < RESTARTS && sidecar.generation() == generation {
                tokio::task::yield_now().await;
            }
        }
        sidecar.finish().await;
        assert_eq!(ask(&sidecar, 1, Kind::Function, "next", json!({}), json!({})).await, None);
    });
}

#[test]
fn a_module_that_cannot_be_loaded_says_why_and_what_to_do() {
    on_a_shard(async || {
        let told = async |name: &str, code: &str, functions: &[&str]| {
            let script = Script::new(name, code);
            let module = script.path(name);
            let error = launched(processor(&module, functions)).await.err().unwrap().to_string();
            error.replace(&*script.folder.path().to_string_lossy(), "…")
        };
        let error = told("p.cjs", "require('nowhere-to-be-found')", &[]).await;
        assert!(
            error.starts_with(
                "the processor …/p.cjs could not be loaded: Cannot find module 'nowhere-to-be-found'"
            ),
            "{error}"
        );
        assert!(error.contains("hint: run `npm install nowhere-to-be-found` in"), "{error}");
        let error = told("p.mjs", "export const a = ;", &[]).await;
        assert!(error.contains("could not be loaded: Unexpected token"), "{error}");
        let error = told("p.cjs", "exports.login = () => {}; exports.limit = 3;", &["login", "logon"]).await;
        assert_eq!(error, "the processor …/p.cjs exports no function logon\n  hint: it exports login");
        let error = told("p.cjs", "process.exit(0)", &[]).await;
        assert!(error.contains("Node ended before it was loaded"), "{error}");
        assert!(error.contains("try `node -e 'import(\"./p.cjs\")'` in its folder"), "{error}");
    });
}

#[test]
fn what_we_turned_into_javascript_is_loaded_by_the_file_it_was_written_in() {
    on_a_shard(async || {
        let script = Script::new("entry.ts", "this is no JavaScript");
        let files = [
            (
                "entry.ts",
                "import { two } from './two'; export const call = async ({ vars }) => { vars.n = two(); };",
                false,
            ),
            ("two.ts", "import three from './three'; export const two = () => three.three;", false),
            ("three.cts", "exports.three = require('./four') - 1;", true),
            ("four.ts", "module.exports = 4;", true),
        ];
        for (name, ..) in &files {
            std::fs::write(script.path(name), "this is no JavaScript").unwrap();
        }
        let file = |(name, code, is_common): &(&str, &str, bool)| crate::plan::ProcessorFile {
            path: script.path(name),
            code: (*code).to_owned(),
            is_common: *is_common,
            imports: vec![
                ("./two".to_owned(), script.path("two.ts")),
                ("./three".to_owned(), script.path("three.cts")),
                ("./four".to_owned(), script.path("four.ts")),
            ],
        };
        let processor = Processor {
            files: files.iter().map(file).collect(),
            ..processor(&script.path("entry.ts"), &["call"])
        };
        let sidecar = launched(processor).await.unwrap();
        assert_eq!(set(&call(&sidecar, 1, "call", json!({})).await), json!({ "n": 3 }));
    });
}

#[test]
fn functions_see_the_variables_the_run_adds_to_its_environment() {
    on_a_shard(async || {
        let code = "exports.see = async ({ vars }) => { vars.seen = process.env.SONAGI_STAND_IN; };";
        let script = Script::new("p.cjs", code);
        let sidecar = started(&script, "p.cjs").await;
        assert_eq!(set(&call(&sidecar, 1, "see", json!({})).await), json!({ "seen": "here" }));
    });
}

#[test]
fn node_is_gone_when_the_sidecar_is() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.pid = async ({ vars }) => { vars.pid = process.pid; setInterval(() => {}, 1000); };",
        );
        let sidecar = started(&script, "p.cjs").await;
        let pid = call(&sidecar, 1, "pid", json!({})).await.set["pid"].as_u64().unwrap();
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        sidecar.finish().await;
        drop(sidecar);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    });
}

#[test]
fn functions_find_artillerys_global_and_their_exit_code_is_heard() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.end = async (context) => {
               artillery.suggestedExitCode = 17;
               context.vars.code = global.artillery.suggestedExitCode;
               context.vars.text = artillery.util.template('{{ word }}!', context);
               context.vars.stash = typeof artillery.stash;
               artillery.suggestedExitCode = 'many';
             };",
        );
        let sidecar = started(&script, "p.cjs").await;
        let answer = call(&sidecar, 1, "end", json!({ "word": "Sesam" })).await;
        assert_eq!(
            (answer.error.as_ref(), set(&answer)),
            (None, json!({ "code": 17, "text": "Sesam!", "stash": "undefined" }))
        );
        let lines = [
            "artillery.stash has no effect here",
            "artillery.suggestedExitCode is a whole number, got many: it has no effect",
        ];
        let said = [Said::ExitCode(17)].into_iter().chain(lines.map(|line| Said::Line(line.to_owned())));
        assert_eq!(sidecar.take_said(), said.collect::<Vec<_>>());
    });
}

#[test]
fn a_function_that_asks_for_the_engines_connection_is_told_what_to_do_in_its_place() {
    on_a_shard(async || {
        let script = Script::new(
            "p.cjs",
            "exports.emit = async ({ sockets }) => sockets[''].emit('say', 1);
             exports.send = async ({ ws }) => { if (ws) ws.send('x'); };",
        );
        let sidecar = started(&script, "p.cjs").await;
        let step = "functions have no connection: emit with a step, `emit: [channel, \"{{ variable }}\"]`";
        let sockets =
            format!("context.sockets is not supported, for {step}, and set the variable in the function");
        let step = "functions have no connection: send with a step, `send: \"{{ variable }}\"`";
        let ws = format!("context.ws is not supported, for {step}, and set the variable in the function");
        for (name, expected) in [("emit", sockets), ("send", ws)] {
            let answer = call(&sidecar, 1, name, json!({})).await;
            assert_eq!(answer.error.map(|error| error.message), Some(expected));
        }
    });
}
