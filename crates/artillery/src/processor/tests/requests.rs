//! Functions that change requests, and the other arguments of theirs.

use super::*;

/// The request after a function before it, or the function's failure.
async fn made(sidecar: &Sidecar, function: &str, params: Value) -> Result<Value, String> {
    let extra = json!({ "params": params });
    let answer = ask(sidecar, 1, Kind::Before, function, json!({}), extra).await.unwrap();
    match answer.error {
        Some(error) => Err(error.message),
        None => Ok(Value::Object(answer.params)),
    }
}

const BODIES: &str = "
const bodies = {
  bytes: new Uint8Array([1, 2]),
  part: new Uint16Array(new Uint8Array([9, 9, 3, 4, 9, 9]).buffer, 2, 1),
  buffer: new Uint8Array([1, 2]).buffer,
  query: new URLSearchParams([['a', 'b c'], ['a', 'd']]),
  form: { getBuffer: () => Buffer.from('x'), getHeaders: () => ({ 'content-type': 'multipart/form-data; boundary=b' }) },
  map: new Map([['a', 1]]),
  object: { a: 1 },
  unread: { getBuffer() { throw new Error('a stream is in it'); } },
  number: 7,
  nothing: null,
};
for (const [name, body] of Object.entries(bodies)) exports[name] = async (request) => { request.body = body; };
exports.typed = async (request) => { request.headers = { 'Content-Type': 'a/b' }; request.body = bodies.query; };
exports.again = async (request) => { request.body[0] = 9; };
exports.same = async (request) => { request.agent = request; };
exports.cycle = async (request) => { request.json = {}; request.json.again = request.json; };
exports.big = async (request) => { request.headers = { n: 1n }; };
exports.pairs = async (request) => { request.qs = bodies.query; };
exports.after = async (request, response) => { request.body = bodies.map; request.json = request; request.seen = 1; };
";

#[test]
fn a_body_is_sent_as_the_bytes_or_the_text_it_is_and_what_is_neither_fails_the_call_by_name() {
    on_a_shard(async || {
        let script = Script::new("p.cjs", BODIES);
        let sidecar = started(&script, "p.cjs").await;
        let bytes = |encoded: &str| json!({ "body": { "base64": encoded } });
        let query = "application/x-www-form-urlencoded;charset=UTF-8";
        let sent = [
            ("bytes", json!({}), bytes("AQI=")),
            ("part", json!({}), bytes("AwQ=")),
            ("buffer", json!({}), bytes("AQI=")),
            ("query", json!({}), json!({ "body": "a=b+c&a=d", "headers": { "content-type": query } })),
            ("typed", json!({}), json!({ "body": "a=b+c&a=d", "headers": { "Content-Type": "a/b" } })),
            (
                "form",
                json!({ "headers": { "x": "y" } }),
                json!({
                    "body": { "base64": "eA==" },
                    "headers": { "x": "y", "content-type": "multipart/form-data; boundary=b" },
                }),
            ),
            ("number", json!({}), json!({ "body": 7 })),
            ("nothing", json!({ "body": "a" }), json!({ "body": null })),
            ("again", bytes("AQI="), bytes("CQI=")),
            ("same", json!({ "body": "a" }), json!({})),
        ];
        for (function, params, expected) in sent {
            assert_eq!(made(&sidecar, function, params).await, Ok(expected), "{function}");
        }
        let rule = "it may be text, a Buffer, a typed array, URLSearchParams or a form with getBuffer()";
        let refused = [
            ("map", format!("the request's `body` cannot be sent: {rule}, got Map")),
            ("object", format!("the request's `body` cannot be sent: {rule}, got Object")),
            (
                "unread",
                "the request's `body` cannot be sent: its getBuffer() failed: a stream is in it".to_owned(),
            ),
            (
                "cycle",
                "the request's `json` cannot be sent: JSON does not hold all of it, got Object".to_owned(),
            ),
            (
                "big",
                "the request's `headers` cannot be sent: JSON does not hold all of it, got Object".to_owned(),
            ),
            (
                "pairs",
                "the request's `qs` cannot be sent: JSON does not hold all of it, got URLSearchParams"
                    .to_owned(),
            ),
        ];
        for (function, why) in refused {
            assert_eq!(made(&sidecar, function, json!({})).await, Err(why), "{function}");
        }
        let extra = json!({ "params": {}, "response": {} });
        let after = ask(&sidecar, 1, Kind::After, "after", json!({}), extra).await.unwrap();
        assert_eq!(after.error, None, "what was sent already is only looked at");
        assert_eq!(Value::Object(after.params), json!({ "seen": 1 }), "by the next function");
    });
}

#[test]
fn random_numbers_of_functions_lie_between_their_limits_as_artillerys_do() {
    on_a_shard(async || {
        let code = "exports.draw = async ({ vars, funcs }) => {
            const all = (...limits) => Array.from({ length: 400 }, () => funcs.$randomNumber(...limits));
            const ends = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
            vars.drawn = [[1, 4], [4, 1], [3], [-3], [], [7, 7]].map((limits) => ends(all(...limits)));
            const parts = all(1.5, 2.5);
            vars.parts = [parts.every((n) => n >= 1.5 && n <= 2.5), new Set(parts).size > 100];
            vars.text = funcs.$randomString(40).replace(/[A-Za-z0-9]/g, 'x');
        };";
        let script = Script::new("p.cjs", code);
        let sidecar = started(&script, "p.cjs").await;
        let drawn = call(&sidecar, 1, "draw", json!({})).await;
        let expected = json!({
            "drawn": [[1, 4], [1, 4], [0, 3], [-3, 0], [0, 1], [7, 7]],
            "parts": [true, true],
            "text": "x".repeat(40),
        });
        assert_eq!((set(&drawn), drawn.error), (expected, None));
    });
}
