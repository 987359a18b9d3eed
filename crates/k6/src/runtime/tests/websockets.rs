//! `k6/websockets`: sockets beside the iteration, and what scripts see of their events.

use super::*;

#[track_caller]
fn check(script: &str, said: &[&str]) {
    expect(&run_later(script), said);
}

const OPEN: &str =
    "import { WebSocket, Blob } from 'k6/websockets'; import { sleep } from 'k6'; import http from 'k6/http';
    const log = (...all) => console.log(...all);
    const open = (path = '/echo', ...more) => {
      const socket = new WebSocket('ws://a' + path, ...more);
      socket.binaryType = 'arraybuffer';
      socket.onerror = ({ error }) => log('error', error);
      socket.onclose = ({ code, reason }) => log('close', code, reason);
      return socket;
    };";

fn with(script: &str) -> String {
    format!("{OPEN}\n{script}")
}

#[test]
fn a_socket_lives_beside_the_iteration_and_holds_it() {
    check(
        &with(
            "export default () => {
               const socket = new WebSocket('ws://a/echo');
               log(socket.readyState, socket.url, socket.bufferedAmount, socket.binaryType, JSON.stringify(socket.extensions), JSON.stringify(socket.protocol), WebSocket.OPEN);
               const keys = (event) => Object.keys(event).sort().join(' ');
               socket.onopen = (event) => { log('open', keys(event), event.type, socket.readyState, typeof event.timestamp, event.target === socket); socket.send('first'); log(socket.bufferedAmount); };
               socket.addEventListener('message', (event) => { log('message', keys(event), event.data, event.origin, socket.bufferedAmount); socket.close(); log(socket.readyState); });
               socket.onclose = (event) => log('close', keys(event), event.code, socket.readyState);
               log('returned');
             };",
        ),
        &[
            "0 ws://a/echo 0 blob [] \"\" undefined",
            "returned",
            "open target timestamp type open 1 number true",
            "5",
            "message data origin target timestamp type first ws://a/echo 0",
            "2",
            "close code reason target timestamp type 1000 3",
        ],
    );
}

#[test]
fn whoever_closes_a_socket_its_code_and_reason_are_told() {
    for (said, lines) in [
        ("socket.close()", &["close 1000 "][..]),
        ("socket.close(4000, 'mine')", &["error websocket: close 4000: mine", "close 4000 mine"]),
        ("socket.close(); socket.close(4000)", &["close 1000 "]),
        ("socket.send('bye 1001 away')", &["close 1001 away"]),
        (
            "socket.send('bye 4001 with a reason')",
            &["error websocket: close 4001: with a reason", "close 4001 with a reason"],
        ),
        ("socket.send('leave')", &["error websocket: close 1005 (no status)", "close 1005 "]),
        (
            "socket.send('drop')",
            &["error websocket: close 1006 (abnormal closure): unexpected EOF", "close 1006 unexpected EOF"],
        ),
        (
            "try { socket.close(999); } catch (e) { log(e.name); socket.close(); }",
            &["GoError", "close 1000 "],
        ),
    ] {
        let script = format!(
            "export default () => {{ const socket = open(); socket.onopen = () => {{ {said}; }}; }};"
        );
        check(&with(&script), lines);
    }
}

#[test]
fn texts_and_bytes_travel_as_what_they_are() {
    check(
        &with(
            "export default () => {
               const socket = open('/greet');
               try { socket.send('early'); } catch (e) { log(e.name, e.message); }
               socket.onopen = () => {
                 for (const wrong of [7, true, null, undefined, {}]) { try { socket.send(wrong); log('taken'); } catch (e) { log(e.name); } }
                 socket.send(new Uint8Array([7, 8]).buffer);
                 socket.send(new Uint16Array([1, 2]).subarray(1));
                 socket.send(new Blob(['ab', new Uint8Array([99])]));
                 socket.send('many 2');
               };
               socket.onmessage = ({ data }) => {
                 log(typeof data === 'string' ? data : new Uint8Array(data).join());
                 if (data === 'word 1') socket.close();
               };
             };",
        ),
        &[
            "GoError InvalidStateError",
            "GoError",
            "GoError",
            "GoError",
            "GoError",
            "GoError",
            "welcome",
            "7,8",
            "2,0",
            "97,98,99",
            "word 0",
            "word 1",
            "close 1000 ",
        ],
    );
}

/// The peer cannot be heard or served while the script goes on: only so much waits for it.
#[test]
fn a_script_that_only_sends_is_told_when_no_more_can_wait() {
    let seen = run_later(&with(
        "export default () => {
           const socket = open();
           socket.onopen = () => {
             const large = 'x'.repeat(1 << 22);
             let sent = 0;
             try { for (; sent < 30; sent += 1) socket.send(large); log('sent all'); } catch (e) { log(e.name, sent > 10); }
             throw new Error('enough');
           };
         };",
    ));
    assert_eq!(seen.lines[0], "GoError true", "{:?}", seen.lines);
}

#[test]
fn bytes_come_as_blobs_unless_the_script_says_otherwise() {
    check(
        &with(
            "export default () => {
               const socket = new WebSocket('ws://a/');
               try { socket.binaryType = 'text'; } catch (e) { log(e.name); }
               socket.onopen = () => socket.send(new Uint8Array([97, 98]));
               socket.onmessage = async ({ data }) => {
                 log(data instanceof Blob, data.size, await data.text(), new Uint8Array(await data.arrayBuffer()).join(), await data.slice(1).text());
                 socket.close();
               };
             };",
        ),
        &["GoError", "true 2 ab 97,98 b"],
    );
}

#[test]
fn listeners_are_called_behind_the_on_property_in_their_order() {
    check(
        &with(
            "export default () => {
               const socket = open('/greet');
               socket.addEventListener('message', () => log('listener 1'));
               socket.onmessage = () => log('on');
               socket.addEventListener('message', () => { log('listener 2'); socket.close(); });
               log(typeof socket.onmessage, typeof socket.removeEventListener);
               socket.addEventListener('nothing', () => {});
               try { socket.onopen = 7; } catch (e) { log(e.name); }
               socket.onping = null;
             };",
        ),
        &[
            "function undefined",
            "can't add event handler: unknown event type: nothing",
            "GoError",
            "on",
            "listener 1",
            "listener 2",
            "close 1000 ",
        ],
    );
}

#[test]
fn pings_and_pongs_are_events_and_measured() {
    let seen = run(&with(
        "export default () => {
           const socket = open();
           socket.onopen = () => { socket.ping(); socket.send('ping x'); setTimeout(() => socket.close(), 250); };
           socket.onping = (event) => log(event.type, event.data);
           socket.onpong = (event) => log(event.type, event.data);
           socket.onmessage = ({ data }) => log(data);
         };",
    ));
    assert_eq!(
        seen.lines,
        ["pong undefined", "ping undefined", "ponged x", "close 1000 "],
        "{:?}",
        seen.outcome
    );
    let tags = "name=ws://a/echo status=101 subproto= url=ws://a/echo";
    for sample in ["ws_sessions 1", "ws_connecting 0", "ws_msgs_sent 1", "ws_msgs_received 1", "ws_ping 0"] {
        assert!(seen.samples.contains(&format!("{sample} {tags}")), "{sample}: {:?}", seen.samples);
    }
    assert_eq!(seen.values("ws_session_duration"), [250.0]);
    assert_eq!(seen.values("ws_msgs_sent").len(), 3, "the ping, the text and the close frame");
    assert!(seen.traffic.0 > 100 && seen.traffic.1 > 100, "{:?}", seen.traffic);
}

#[test]
fn a_handshake_that_fails_is_an_error_and_an_end_without_a_code() {
    check(
        &with("export default () => { open('/refuse'); open('/hangup'); new WebSocket('ws://a/refuse'); };"),
        &["error websocket: bad handshake", "close undefined ", "error unexpected EOF", "close undefined "],
    );
    let wrong = "export default () => { for (const [url, params] of [['http://a/'], ['nonsense'], ['ws://a/#x'], [], ['ws://a/', { odd: 1 }], ['ws://a/', { compression: 'gzip' }]]) {
        try { new WebSocket(url, null, params); log('taken'); } catch (e) { log(e.name); } } };";
    check(&with(wrong), &["GoError"; 6]);
}

#[test]
fn protocols_and_parameters_shape_the_handshake() {
    check(
        &with(
            "export default () => {
               const jar = new http.CookieJar(); jar.set('http://a/', 'of', 'jar');
               const socket = open('/headers', ['one', 'two'], { headers: { 'x-own': '1' }, jar });
               socket.onmessage = ({ data }) => {
                 log(/^X-Own: 1\\r$/m.test(data), /^Cookie: of=jar\\r$/m.test(data), /^Sec-WebSocket-Protocol: one, two\\r$/m.test(data), socket.protocol);
                 socket.close();
               };
             };",
        ),
        &["true true true one", "close 1000 "],
    );
}

#[test]
fn an_async_script_waits_for_its_answers_and_reactions_run_between_messages() {
    check(
        &with(
            "export default async () => {
               const socket = open();
               await new Promise((done) => { socket.onopen = done; });
               const answered = new Promise((done) => { socket.onmessage = ({ data }) => { log('first', data); done(data); }; });
               socket.send('many 3');
               log(await answered);
               socket.onmessage = ({ data }) => { log('then', data); if (data === 'word 2') socket.close(); };
             };",
        ),
        &["first word 0", "word 0", "then word 1", "then word 2", "close 1000 "],
    );
}

#[test]
fn sockets_go_on_while_the_script_blocks_and_each_keeps_its_order() {
    check(
        &with(
            "export default () => {
               const [one, two] = [open(), open()];
               one.onopen = () => { one.send('many 3'); sleep(0.1); };
               two.onopen = () => two.send('many 2');
               one.onmessage = ({ data }) => { log('one', data); if (data === 'word 1') log(http.get('http://a/').status); if (data === 'word 2') one.close(); };
               two.onmessage = ({ data }) => { log('two', data); if (data === 'word 1') two.close(); };
               one.onclose = two.onclose = null;
             };",
        ),
        &["one word 0", "one word 1", "200", "one word 2", "two word 0", "two word 1"],
    );
}

#[test]
fn what_a_listener_throws_ends_its_socket_and_the_iteration() {
    for listener in [
        "onopen = () => { throw new TypeError('odd'); }",
        "onmessage = () => { throw new TypeError('odd'); }",
    ] {
        let script = format!("export default () => {{ const socket = open('/greet'); socket.{listener}; }};");
        let seen = run(&with(&script));
        assert!(
            matches!(&seen.outcome, Err(Thrown::Error(text)) if text.starts_with("TypeError: odd")),
            "{:?}",
            seen.outcome
        );
        let [error, close] = &*seen.lines else { panic!("{:?}", seen.lines) };
        assert!(error.starts_with("error TypeError: odd at "), "{error}");
        assert_eq!(close, "close undefined ");
    }
}

#[test]
fn a_socket_nobody_closes_holds_the_iteration_until_it_is_cut_off() {
    let script = with(
        "export default () => { const socket = open(); socket.onopen = () => { socket.send('in'); }; socket.onmessage = ({ data }) => log(data); };",
    );
    let seen = run_with(Path::new("/test"), &script, Some(5_000));
    assert_eq!((&seen.outcome, &*seen.lines), (&Err(Thrown::Interrupted), &["in".to_owned()][..]));
    assert!(seen.values("ws_session_duration").is_empty());
}

#[test]
fn a_kept_socket_outlives_its_iteration_and_tells_the_next_one_what_it_missed() {
    let script = with(
        "let turns = 0; let socket;
         export default () => {
           turns += 1;
           if (turns === 1) {
             socket = open();
             socket.onopen = () => { log('open'); socket.send('many 2'); };
             socket.onmessage = ({ data }) => log(turns, data);
           }
           if (turns === 2) { log(socket.readyState); sleep(0.1); socket.send('again'); }
           if (turns === 3) setTimeout(() => { socket.close(); setTimeout(() => {}, 100); }, 100);
         };",
    );
    let how = How { more_iterations: 2, keep_connections: true, ..How::default() };
    let seen = run_as(Path::new("/test"), &script, how);
    assert_eq!(
        seen.lines,
        ["open", "1", "2 word 0", "2 word 1", "3 again", "close 1000 "],
        "{:?}",
        seen.outcome
    );
    assert_eq!(
        (seen.outcome, seen.samples.iter().filter(|sample| sample.starts_with("ws_sessions")).count()),
        (Ok(None), 1)
    );
}

#[test]
fn bytes_that_a_script_has_no_word_for_are_blobs_nevertheless() {
    check(
        "import { WebSocket } from 'k6/websockets';
         export default () => {
           const socket = new WebSocket('ws://a/bytes');
           try { socket.send({}); } catch (e) { console.log(e.name); }
           socket.onopen = () => { try { socket.send({}); } catch (e) { console.log(e.name); } };
           socket.onmessage = async ({ data }) => { console.log(data.size, await data.text()); socket.close(); };
         };",
        &["GoError", "GoError", "3 raw"],
    );
}

#[test]
fn the_old_name_still_loads() {
    check(
        "import { WebSocket } from 'k6/experimental/websockets'; export default () => console.log(typeof WebSocket);",
        &["k6/experimental/websockets is deprecated, k6/websockets is the same", "function"],
    );
}

#[test]
fn a_blob_is_read_as_a_stream_also_by_who_names_nothing_binary() {
    check(
        "import { WebSocket } from 'k6/websockets';
         export default () => {
           const socket = new WebSocket('ws://a/bytes');
           socket.onmessage = async ({ data }) => {
             const reader = data.stream().getReader();
             for (;;) { const { done, value } = await reader.read(); if (done) break; console.log(typeof value, value); }
             socket.close();
           };
         };",
        &["string raw"],
    );
}
