//! `k6/x/socketio`: a session's events, acknowledgements and ends.

use super::*;

#[track_caller]
fn check(script: &str, said: &[&str]) {
    expect(&run_later(script), said);
}

const IO: &str = "import { io } from 'k6/x/socketio'; const log = (...all) => console.log(...all);";

#[test]
fn a_session_opens_answers_and_is_left() {
    check(
        &format!(
            "{IO} export default () => {{
               const r = io('http://a', {{ auth: {{ token: 't' }}, query: {{ env: 'l&x' }} }}, (socket) => {{
                 socket.on('connect', () => log('connect', socket.connected));
                 socket.on('hello', (...given) => log('hello', JSON.stringify(given)));
                 socket.on('ponged', () => socket.emit('ask', 1, (...answer) => {{ log('answered', answer.join()); socket.emit('ask me'); }}));
                 socket.on('question', (value, answer) => answer(value + 1));
                 socket.on('heard', (text) => {{ log('heard', text); if (text.startsWith('437')) socket.disconnect(); }});
                 socket.on('disconnect', (reason) => log('disconnect', reason, socket.connected));
                 socket.emit('early', {{ a: 1 }}, 2);
                 socket.send('message');
               }});
               log(r.status, r.url);
             }};"
        ),
        &[
            "connect true",
            "hello [{\"token\":\"t\"},2]",
            "heard 42[\"early\",{\"a\":1},2]",
            "heard 42[\"message\",\"message\"]",
            "answered answer,2",
            "heard 437[2]",
            "disconnect io client disconnect false",
            "101 ws://a/socket.io/?EIO=4&transport=websocket&env=l%26x",
        ],
    );
}

#[test]
fn namespaces_refusals_and_the_servers_goodbye_are_told() {
    check(
        &format!(
            "{IO} export default () => {{
               io('ws://a/ignored', {{ namespace: 'room' }}, (socket) => {{
                 socket.on('hello', (...given) => {{ log('hello', JSON.stringify(given)); socket.close(); }});
                 socket.on('disconnect', (reason) => log('disconnect', reason));
               }});
               io('http://a', {{ namespace: '/closed' }}, (socket) => {{
                 socket.on('connect', () => log('never'));
                 socket.on('connect_error', (error) => {{ log('refused', error.message); socket.close(); }});
               }});
               io('http://a', null, (socket) => {{ socket.emit('leave'); socket.on('disconnect', (reason) => log('disconnect', reason)); }});
               for (const wrong of [() => io('nonsense'), () => io('http://a', {{}}, 7), () => io('http://a', {{ path: '/refuse' }})]) {{ try {{ wrong(); log('taken'); }} catch (e) {{ log(e.message); }} }}
             }};"
        ),
        &[
            "hello [null,2]",
            "disconnect transport close",
            "refused not you",
            "disconnect io server disconnect",
            "unsupported scheme: ",
            "handler must be a function",
            "socket.io connect failed: 403 (ws://a/refuse?EIO=4&transport=websocket)",
        ],
    );
}

#[track_caller]
fn check_io(script: &str, said: &[&str]) {
    check(&format!("{IO}\n{script}"), said);
}

#[test]
fn events_and_acknowledgements_carry_bytes_both_ways() {
    check_io(
        r#"const hex = (bytes) => Array.from(new Uint8Array(bytes)).join();
           const place = '{"_placeholder":true,"num":0}';
           export default () => io('http://a', null, (socket) => {
             const [one, three] = [new Uint8Array([1]).buffer, new Uint8Array([0, 3, 4, 0]).subarray(1, 3)];
             socket.on('connect', () => socket.emit('echo', one, { deep: [three] }, 'text'));
             socket.on('echo', (bytes, { deep }, text) => {
               log(bytes instanceof ArrayBuffer, hex(bytes), deep[0] instanceof ArrayBuffer, hex(deep[0]), text);
               socket.emit('raw', `451-7["question",${place}]`, 9);
             });
             socket.on('question', (bytes, answer) => answer(bytes, { more: new DataView(new ArrayBuffer(2)) }));
             socket.on('acknowledged', (bytes, { more }) => {
               log('acknowledged', hex(bytes), hex(more));
               socket.emit('raw', `461-0[${place},"x"]`, 5, (bytes, x) => { log('answered', hex(bytes), x); socket.close(); });
             });
           });"#,
        &["true 1 true 3,4 text", "acknowledged 9 0,0", "answered 5 x"],
    );
}

#[test]
fn bytes_come_and_go_where_a_script_names_no_class_of_them() {
    check_io(
        r#"export default () => io('http://a', null, (socket) => {
             socket.on('connect', () => socket.emit('raw', '451-["echo",{"_placeholder":true,"num":0}]', 9));
             socket.on('echo', (bytes) => socket.emit('back', bytes));
             socket.on('back', (bytes) => { log(typeof bytes); socket.close(); });
           });"#,
        &["object"],
    );
}

#[test]
fn packets_that_break_the_protocol_end_the_session_and_no_more() {
    let table = [
        (
            r#"'451-["x",{"_placeholder":true,"num":0}]', '42["y"]'"#,
            r#"attachment 1 of 1 must follow; got 42["y"]"#,
        ),
        ("7", "an attachment must follow the packet that announces it; got one that none announced"),
        (
            r#"'451-["x",{"_placeholder":true,"num":1}]', 7"#,
            "a placeholder must name one of 1 attachments, from 0; got 1",
        ),
        (
            r#"'451-["x",{"_placeholder":true,"num":"length"}]', 7"#,
            "a placeholder must name one of 1 attachments, from 0; got length",
        ),
        (r#"'45x-["x"]'"#, r#"a packet must say how many attachments follow, up to 1000; got 5x-["x"]"#),
        (
            r#"'451001-["x"]'"#,
            r#"a packet must say how many attachments follow, up to 1000; got 51001-["x"]"#,
        ),
        ("'42[]'", "an event must be a list that begins with its name, an acknowledgement a list; got []"),
        (
            r#"'43{"a":1}'"#,
            r#"an event must be a list that begins with its name, an acknowledgement a list; got {"a":1}"#,
        ),
    ];
    for (frames, why) in table {
        let script = "export default () => { io('http://a', null, (socket) => {
             socket.on('x', () => log('never'));
             socket.on('error', ({ type, message }) => log(type, message));
             socket.on('disconnect', (reason) => log(reason));
             socket.emit('raw', FRAMES);
           }); log('on it goes'); };";
        check_io(&script.replace("FRAMES", frames), &[&format!("parser {why}"), "parse error", "on it goes"]);
    }
}

#[test]
fn a_connection_that_never_was_is_an_event_and_a_warning_where_nobody_listens() {
    check_io(
        "const dead = { path: '/hangup' };
         export default () => {
           let why;
           const r = io('http://a', dead, (socket) => {
             socket.setTimeout(() => log('never'), 10);
             socket.on('connect', () => log('never'));
             socket.on('connect_error', (error) => { why = error.message; log('connect_error', error.type, socket.connected); });
             socket.emit('early', 1); socket.close();
           });
           log(r.status, r.error === why, why !== '');
           io('http://a', dead, (socket) => { socket.on('error', (error) => log('error', error.type)); });
           io('http://a', dead, () => {}); io('http://a', dead);
         };",
        &[
            "connect_error transport false",
            "0 true true",
            "error transport",
            "Socket.IO session failed",
            "Socket.IO session failed",
        ],
    );
}

#[test]
fn a_handshake_that_opens_nothing_is_an_event_whatever_it_is_answered_with() {
    check_io(
        "const listen = (socket) => socket.on('connect_error', (error) => log(error.type, error.message));
         export default () => {
           for (const path of ['/page', '/moved']) log(io('http://a', { path }, listen).status);
           log(io('http://a', { path: '/forged' }, (socket) => socket.on('error', (error) => log(error.type, error.message !== ''))).status);
           io('http://a', { path: '/page' });
         };",
        &[
            "transport the handshake was answered with status 200, not 101",
            "200",
            "transport the handshake was answered with status 301, not 101",
            "301",
            "transport true",
            "101",
            "Socket.IO session failed",
        ],
    );
}
