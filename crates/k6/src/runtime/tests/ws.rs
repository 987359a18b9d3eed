//! `k6/ws`: what a script sees of a socket, whoever ends it.

use super::*;

const CONNECT: &str = "import ws from 'k6/ws'; import http from 'k6/http'; import { sleep } from 'k6';
    const log = (...all) => console.log(...all);
    const listen = (socket) => {
      socket.on('message', (text) => log('message', text));
      socket.on('error', (e) => log('error', e.error()));
      socket.on('close', (code) => log('close', code));
    };";

fn with(script: &str) -> String {
    format!("{CONNECT}\n{script}")
}

#[test]
fn a_socket_opens_behind_its_callback_echoes_and_returns_its_handshake() {
    check(
        &with(
            "export default () => {
               const r = ws.connect('ws://a/echo', null, (socket) => {
                 log(Object.keys(socket).sort().join(' '));
                 listen(socket);
                 socket.on('open', () => { log('open'); socket.send('first'); });
                 socket.on('message', () => socket.close());
                 socket.on('nothing', () => {});
                 log('called');
               });
               log(Object.keys(r).sort().join(' '), r.status, r.url, r.body === '', r.error === '', r.headers['X-Own']);
             };",
        ),
        &[
            "close on ping send sendBinary setInterval setTimeout",
            "called",
            "open",
            "message first",
            "close 1001",
            "body error headers status url 101 ws://a/echo true true 1",
        ],
    );
}

#[test]
fn whoever_closes_a_socket_its_code_is_told() {
    for (said, lines) in [
        ("socket.close()", &["close 1001"][..]),
        ("socket.close(4000)", &["close 4000"]),
        ("socket.close(1000); socket.close(1001)", &["close 1000"]),
        ("socket.send('bye 1000 fine')", &["close 1000"]),
        (
            "socket.send('bye 4001 with a reason')",
            &["error websocket: close 4001: with a reason", "close 4001"],
        ),
        ("socket.send('leave')", &["error websocket: close 1005 (no status)", "close 1005"]),
        (
            "socket.send('drop')",
            &["error websocket: close 1006 (abnormal closure): unexpected EOF", "close 1006"],
        ),
        ("socket.send('broken')", &["error websocket: close sent", "close 1001"]),
        ("socket.close(); socket.send('late')", &["close 1001", "error websocket: close sent"]),
    ] {
        let script = format!(
            "export default () => {{ ws.connect('ws://a/', (socket) => {{ listen(socket); socket.on('open', () => {{ {said}; }}); }}); }};"
        );
        check(&with(&script), lines);
    }
}

#[test]
fn texts_bytes_pings_and_pongs_arrive_in_order() {
    check(
        &with(
            "export default () => { ws.connect('ws://a/greet', (socket) => {
               listen(socket);
               socket.on('message', (text) => { if (text === 'last') socket.close(); });
               socket.on('binaryMessage', (bytes) => log('bytes', bytes instanceof ArrayBuffer, new Uint8Array(bytes).join()));
               socket.on('ping', (...given) => log('ping', given.length));
               socket.on('pong', (...given) => { log('pong', given.length); socket.on('message', () => log('set late')); });
               for (const value of [7, true, null, undefined, {}, 'ü']) socket.send(value);
               socket.sendBinary(new Uint8Array([1, 255]).buffer);
               for (const wrong of ['text', 7, new Uint8Array([1]), null]) { try { socket.sendBinary(wrong); } catch (e) { log(e.message); } }
               socket.send('ping x');
               socket.ping();
               socket.send('many 2');
               socket.send('last');
             }); };",
        ),
        &[
            "expected ArrayBuffer as argument, received: String",
            "expected ArrayBuffer as argument, received: Number",
            "expected ArrayBuffer as argument, received: Uint8Array",
            "expected ArrayBuffer as argument, received: null",
            "message welcome",
            "message 7",
            "message true",
            "message ",
            "message ",
            "message [object Object]",
            "message ü",
            "bytes true 1,255",
            "ping 0",
            "pong 0",
            "message word 0",
            "set late",
            "message word 1",
            "set late",
            "message last",
            "close 1001",
            "set late",
        ],
    );
}

#[test]
fn a_handshake_that_fails_returns_why_and_calls_nobody() {
    check(
        &with(
            "export default () => { for (const url of ['ws://a/refuse', 'ws://a/hangup', 'http://a/', 'nonsense']) {
               const r = ws.connect(url, () => log('never'));
               log(r.status, r.error, r.body, r.headers['X-Why'], JSON.stringify(r.url));
             } };",
        ),
        &[
            "403  why? because \"\"",
            "0 unexpected EOF  undefined \"\"",
            "0 malformed ws or wss URL  undefined \"\"",
            "0 malformed ws or wss URL  undefined \"\"",
        ],
    );
}

#[test]
fn parameters_shape_the_handshake_and_its_cookies_are_kept() {
    let seen = run(&with(
        "export default () => {
           const ask = (params) => { let head; ws.connect('ws://a/headers', params, (socket) => socket.on('message', (text) => { head = text; socket.close(); })); return head; };
           http.cookieJar().set('http://a', 'of', 'the jar');
           const line = (head, name) => (new RegExp('^' + name + ': (.*)\\r$', 'mi').exec(head) || [])[1];
           let head = ask({ headers: { 'x-own': 1, 'Sec-WebSocket-Protocol': 'one, two' } });
           log(line(head, 'X-Own'), line(head, 'Sec-WebSocket-Protocol'), line(head, 'Cookie'));
           head = ask({ headers: { cookie: 'own=1' } });
           log(line(head, 'Cookie'));
           const jar = new http.CookieJar();
           head = ask({ jar, compression: 'deflate', tags: { mine: 'b' } });
           log(line(head, 'Cookie'), jar.cookiesForURL('http://a/').from[0], http.cookieJar().cookiesForURL('http://a/').from[0]);
           for (const wrong of [() => ask({ compression: 'gzip' }), () => ws.connect('ws://a/'), () => ws.connect('ws://a/', {}, 7)]) {
             try { wrong(); } catch (e) { log(e.message); }
           }
         };",
    ));
    assert_eq!(
        seen.lines,
        [
            "1 one, two of=\"the jar\"",
            "own=1",
            "undefined shake shake",
            "compression must be 'deflate', got 'gzip'",
            "invalid number of arguments to ws.connect",
            "last argument to ws.connect must be a function",
        ],
        "{:?}",
        seen.outcome
    );
    let session = seen.samples.iter().rfind(|sample| sample.starts_with("ws_sessions ")).unwrap();
    assert_eq!(session, "ws_sessions 1 mine=b status=101 subproto= url=ws://a/headers");
}

#[test]
fn a_socket_is_measured_from_its_handshake_to_its_end() {
    let seen = run(&with(
        "export default () => {
           ws.connect('ws://a/', (socket) => {
             socket.on('open', () => { socket.ping(); socket.send('one'); socket.send('two'); });
             socket.setTimeout(() => socket.close(), 250);
           });
           ws.connect('ws://a/refuse', () => {});
         };",
    ));
    assert_eq!(seen.outcome, Ok(None));
    assert_eq!(seen.values("ws_sessions"), [1.0, 1.0]);
    assert_eq!(seen.values("ws_connecting"), [0.0, 0.0], "in simulated time");
    assert_eq!(seen.values("ws_msgs_sent"), [1.0, 1.0]);
    assert_eq!(seen.values("ws_msgs_received"), [1.0, 1.0]);
    assert_eq!(seen.values("ws_ping"), [0.0]);
    assert_eq!(seen.values("ws_session_duration"), [250.0, 0.0]);
    let (sent, received) = seen.traffic;
    assert!(sent > 200 && received > 200, "{:?}", seen.traffic);
}

#[test]
fn timers_of_a_socket_tick_in_step_and_end_with_it() {
    check(
        &with(
            "export default () => {
               const begun = Date.now();
               let ticks = 0;
               ws.connect('ws://a/', (socket) => {
                 socket.setTimeout(() => log('timeout'), 300);
                 socket.setTimeout(() => log('never'), 3000);
                 socket.setInterval(() => { ticks += 1; log('tick', ticks); if (ticks < 4) sleep(0.1); else socket.close(); }, 200);
                 for (const wrong of [0, -1, undefined]) { try { socket.setTimeout(() => {}, wrong); } catch (e) { log(e.message); } }
                 try { socket.setInterval(() => {}, 0); } catch (e) { log(e.message); }
                 try { socket.setInterval(7, 10); } catch (e) { log(e.name); }
               });
             };",
        ),
        &[
            "setTimeout requires a >0 timeout parameter, received 0.00",
            "setTimeout requires a >0 timeout parameter, received -1.00",
            "setTimeout requires a >0 timeout parameter, received NaN",
            "setInterval requires a >0 interval parameter, received 0.00",
            "TypeError",
            "tick 1",
            "timeout",
            "tick 2",
            "tick 3",
            "tick 4",
        ],
    );
    let seen = run(&with(
        "export default () => { ws.connect('ws://a/', (socket) => {
           let ticks = 0;
           socket.setInterval(() => { ticks += 1; if (ticks === 4) socket.close(); else sleep(0.1); }, 200);
         }); };",
    ));
    assert_eq!(seen.values("ws_session_duration"), [800.0]);
}

#[test]
fn what_is_said_leaves_while_the_script_waits_for_something_else() {
    check(
        &with(
            "export default () => { ws.connect('ws://a/', (socket) => {
               listen(socket);
               socket.on('open', () => { socket.send('early'); log(http.get('http://a/').status); sleep(1); socket.setTimeout(() => socket.close(), 1); });
               socket.on('message', () => log('heard'));
             }); };",
        ),
        &["200", "message early", "heard", "close 1001"],
    );
}

#[test]
fn what_a_callback_handler_or_timer_throws_closes_the_socket_and_comes_out_of_connect() {
    for thrower in [
        "throw new TypeError('odd')",
        "socket.on('open', () => { throw new TypeError('odd'); })",
        "socket.on('message', () => { throw new TypeError('odd'); }); socket.send('x')",
        "socket.setTimeout(() => { throw new TypeError('odd'); }, 10)",
    ] {
        let script = format!(
            "export default () => {{
               try {{ ws.connect('ws://a/', (socket) => {{ socket.on('close', (code) => log('close', code)); {thrower}; }}); log('never'); }}
               catch (e) {{ log(e instanceof TypeError, e.message); }}
               const again = ws.connect('ws://a/', (socket) => socket.on('open', () => socket.close()));
               log(again.status);
             }};"
        );
        check(&with(&script), &["close 1001", "true odd", "101"]);
    }
}

#[test]
fn an_interruption_ends_the_socket_without_a_word_to_the_script() {
    let script = with(
        "export default () => { try { ws.connect('ws://a/', (socket) => { listen(socket); socket.send('in'); }); } catch { log('caught'); } finally { log('finally'); } };",
    );
    let seen = run_with(Path::new("/test"), &script, Some(50));
    assert_eq!((&seen.outcome, &*seen.lines), (&Err(Thrown::Interrupted), &["message in".to_owned()][..]));
    assert!(seen.values("ws_session_duration").is_empty());
    assert_eq!(seen.values("ws_sessions"), [1.0]);
}

#[test]
fn sockets_are_none_of_the_init_codes_business() {
    let seen = run(&with("ws.connect('ws://a/', () => {}); export default () => {};"));
    let Err(Thrown::Error(text)) = &seen.outcome else { panic!("{:?}", seen.outcome) };
    assert!(text.contains("using websockets in the init context is not supported"), "{text}");
}
