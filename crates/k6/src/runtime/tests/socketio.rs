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
