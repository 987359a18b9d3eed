//! `k6/x/sonagi`: what the ledger makes of what a script does.

use super::*;
use sonagi_measure::At;
use sonagi_measure::ledger::{Counts, Ledger, Move, Rules};

const USED: &str = "import ws from 'k6/ws'; import http from 'k6/http'; import { sleep } from 'k6'; import sse from 'k6/x/sse';
    import { WebSocket } from 'k6/websockets'; import { io } from 'k6/x/socketio'; import { join, leave, stamp } from 'k6/x/sonagi';
    const log = (...all) => console.log(...all);";

fn with(script: &str) -> Seen {
    how(script, How::default())
}

fn how(script: &str, how: How) -> Seen {
    let seen = run_as(Path::new("/test"), &format!("{USED} {script}"), how);
    assert_eq!(seen.outcome, Ok(None), "{:?}", seen.lines);
    seen
}

impl Seen {
    fn counts(self) -> Counts {
        self.judged().0
    }

    /// The fate of the expected deliveries, and how long those that came had taken (ms).
    fn judged(self) -> (Counts, Vec<i64>) {
        let (mut ledger, mut took) = (Ledger::new(Rules::default()), Vec::new());
        ledger.apply(&mut [self.batch], At(3_600_000_000_000), |arrival| {
            took.push(arrival.latency_ns / 1_000_000);
        });
        (ledger.close(At(i64::MAX), |_| {}), took)
    }
}

/// The instants (ms) of all moves of this kind.
fn moves(batch: &Batch, what: Move) -> Vec<i64> {
    batch.moves.iter().filter(|moved| moved.what == what).map(|moved| moved.at.0 / 1_000_000).collect()
}

/// Counts where every message came back to its sender: the peer echoes.
fn came(messages: u64) -> Counts {
    Counts { messages, owed: messages, delivered: messages, ..Counts::default() }
}

#[test]
fn a_message_sent_over_a_websocket_is_followed_to_who_joined() {
    let (counts, took) = with(
        "export default () => ws.connect('ws://a/', (socket) => {
           socket.on('open', () => { join('room-1'); });
           socket.setTimeout(() => socket.send(JSON.stringify({ room: 'room-1', text: `hello ${stamp('room-1')}` })), 200);
           socket.setTimeout(() => { const mark = stamp('room-1'); sleep(0.03); socket.sendBinary(new Uint8Array([...mark].map((c) => c.charCodeAt(0))).buffer); }, 250);
           socket.setTimeout(() => socket.close(), 600);
         });",
    )
    .judged();
    assert_eq!(counts, came(2));
    assert_eq!(took, [0, 30], "from the stamp to the receipt");
}

#[test]
fn so_it_is_over_the_other_websocket() {
    let seen = with(
        "export default () => {
           const socket = new WebSocket('ws://a/');
           socket.onopen = () => { join('room'); setTimeout(() => socket.send(stamp('room') + stamp('room')), 200); setTimeout(() => socket.close(), 600); };
         };",
    );
    assert_eq!(seen.counts(), came(2));
}

#[test]
fn events_of_streams_are_searched_and_requests_tell_what_was_sent() {
    let seen = with(
        "export default () => {
           const mark = stamp('room');
           sse.open(`http://a/events?${mark}`, (client) => {
             client.on('open', () => { join('room'); sleep(0.2); log(http.post('http://a/say', mark).status); });
             client.on('event', (event) => { if (event.data.includes(mark)) { sleep(0.3); client.close(); } });
           });
         };",
    );
    assert_eq!(seen.lines, ["200"]);
    assert_eq!(seen.counts(), came(1));
}

#[test]
fn a_socketio_event_is_a_delivery_and_an_acknowledgement_that_echoes_is_none() {
    let said = |how: &str| {
        let script = format!(
            "export default () => {{ io('http://a', {{}}, (socket) => {{
               socket.on('connect', () => {{ join('room'); socket.setTimeout(() => {how}, 200); socket.setTimeout(() => socket.disconnect(), 600); }});
             }}); }};"
        );
        with(&script).counts()
    };
    assert_eq!(said("socket.emit('tell', stamp('room'))"), came(1));
    let lost = Counts { messages: 1, owed: 1, lost: 1, lost_own: 1, never_accepted: 1, ..Counts::default() };
    assert_eq!(said("socket.emit('say', stamp('room'), () => log('acknowledged'))"), lost);
}

#[test]
fn who_polls_finds_messages_in_answers_to_get_and_nobody_else_does() {
    let polled = |options: &str| {
        let script = format!(
            "export default () => {{
               join('room', {options}); sleep(0.2);
               const mark = stamp('room');
               http.post('http://a/say', mark);
               for (let i = 0; i < 2; i += 1) http.get(`http://a/${{mark}}`);
               sleep(0.3);
             }};"
        );
        with(&script).counts()
    };
    assert_eq!(polled("{ polling: true }"), Counts { duplicate: 1, ..came(1) });
    assert_eq!(
        polled("{}"),
        Counts { messages: 1, owed: 1, lost: 1, lost_own: 1, never_accepted: 1, ..Counts::default() }
    );
}

#[test]
fn what_is_sent_to_who_has_left_is_not_owed() {
    let seen = with(
        "export default () => ws.connect('ws://a/', (socket) => {
           socket.on('open', () => { join('room'); join(7); });
           socket.setTimeout(() => leave('room'), 200);
           socket.setTimeout(() => socket.send(stamp('room') + stamp(7)), 400);
           socket.setTimeout(() => socket.close(), 800);
         });",
    );
    assert_eq!(seen.counts(), Counts { messages: 2, owed: 1, delivered: 1, leaked: 1, ..Counts::default() });
}

#[test]
fn who_drains_is_owed_all_that_was_sent_before() {
    let left = |how: &str| {
        let script = format!(
            "export default () => ws.connect('ws://a/', (socket) => {{
               socket.on('open', () => {{ join('room'); }});
               socket.setTimeout(() => {{ socket.send(stamp('room')); leave('room'{how}); }}, 300);
               socket.setTimeout(() => socket.send(stamp('room')), 500);
               socket.setTimeout(() => socket.close(), 800);
             }});"
        );
        with(&script).counts()
    };
    assert_eq!(
        left(", { drain: true }"),
        Counts { messages: 2, owed: 1, delivered: 1, settling: 1, ..Counts::default() }
    );
    assert_eq!(left(""), Counts { messages: 2, settling: 1, leaked: 1, ..Counts::default() });
}

#[test]
fn memberships_end_with_the_last_connection_and_with_the_iteration() {
    let of = |after: &str| {
        let script = format!(
            "export default () => {{
               ws.connect('ws://a/', (socket) => {{ join('room'); socket.setTimeout(() => socket.close(), 300); }});
               sleep(0.5); {after}
             }};"
        );
        with(&script).batch
    };
    let batch = of("");
    let (left, gone) = (moves(&batch, Move::Leave), moves(&batch, Move::Go));
    assert_eq!((left, gone[0], batch.departed[0].at), (vec![300], 300, At(800_000_000)));
    assert_eq!(moves(&batch, Move::Interrupt), [0; 0]);
    let batch = of("join('other'); sleep(0.1);");
    assert_eq!(moves(&batch, Move::Leave), [300, 900]);
}

#[test]
fn who_comes_back_and_resumes_is_owed_what_it_missed() {
    let again = |meanwhile: &str, options: &str| {
        let script = format!(
            "export default () => {{
               ws.connect('ws://a/', (socket) => {{ join('room'); socket.setTimeout(() => socket.send('drop'), 300); }});
               const mark = stamp('room');
               http.post('http://a/say', mark);
               {meanwhile}; sleep(0.5);
               ws.connect('ws://a/', (socket) => {{
                 socket.on('open', () => {{ join('room', {options}); socket.send(mark); }});
                 socket.setTimeout(() => socket.close(), 300);
               }});
             }};"
        );
        with(&script).counts()
    };
    let replayed = Counts { messages: 1, owed: 1, replayed: 1, ..Counts::default() };
    assert_eq!(again("", "{ resume: true }"), replayed);
    let missed = Counts { messages: 1, settling: 1, ..Counts::default() };
    assert_eq!(again("", "undefined"), missed);
    assert_eq!(again("leave('room')", "{ resume: true }"), missed, "it had given up");
}

#[test]
fn what_was_said_just_before_hanging_up_may_not_have_been_read() {
    const BLOCKING: &str = "ws.connect('ws://a/', (socket) => { socket.setTimeout(() => { socket.send(stamp('room')); sleep(__); socket.close(); }, 10); });";
    const EVENTED: &str = "const socket = new WebSocket('ws://a/'); socket.onopen = () => setTimeout(() => { socket.send(stamp('room')); sleep(__); sleep(9); }, 10);";
    let said = |ms: i64, what: &str| {
        let what = what.replace("__", &format!("{ms} / 1000"));
        let cut = How { stop_after_ms: Some(ms + 15), ..How::default() };
        run_as(Path::new("/test"), &format!("{USED} export default () => {{ {what} }};"), cut).batch
    };
    let doubtful = |batch: Batch| (batch.sent.len(), batch.settled.iter().filter(|one| !one.acked).count());
    assert_eq!(doubtful(said(50, BLOCKING)), (1, 1));
    assert_eq!(doubtful(said(150, BLOCKING)), (1, 0), "longer ago than the settle window");
    assert_eq!(doubtful(said(50, EVENTED)), (1, 1), "cut off");
}

#[test]
fn a_request_that_is_refused_leaves_its_message_in_doubt_and_one_that_cannot_be_made_sends_none() {
    let seen = with(
        "export default () => { join('room'); sleep(0.2); http.post('http://a/refused', stamp('room')); http.post('nope', stamp('room')); sleep(0.2); };",
    );
    assert_eq!(seen.counts(), Counts { messages: 1, unknown: 1, ..Counts::default() });
}

#[test]
fn a_member_lives_for_an_iteration_and_longer_where_connections_do() {
    let script = "let socket;
        export default () => {
          if (!socket) { socket = new WebSocket('ws://a/'); socket.onopen = () => join('room'); }
          setTimeout(() => socket.send(stamp('room')), 200);
        };";
    let kept = How { more_iterations: 2, keep_connections: true, ..How::default() };
    let seen = how(script, kept);
    let kinds = [Move::Join, Move::Resume, Move::Leave, Move::Interrupt];
    let moved = kinds.map(|what| moves(&seen.batch, what).len());
    assert_eq!((moved, seen.batch.departed.len()), ([1, 0, 0, 0], 0));
    let senders: Vec<u32> = seen.batch.sent.iter().map(|sent| sent.sender).collect();
    assert_eq!(senders, [0, 0, 0]);
    let script = "export default () => { http.post('http://a/say', stamp('room')); };";
    let seen = how(script, How { more_iterations: 2, ..How::default() });
    let senders: Vec<u32> = seen.batch.sent.iter().map(|sent| sent.sender).collect();
    assert_eq!((senders, seen.batch.departed.len()), (vec![0, 1, 2], 3));
}

#[test]
fn what_makes_no_sense_is_told() {
    let seen = with(
        "for (const early of [() => stamp('room'), () => join('room')]) { try { early(); } catch (e) { log(e.name, e.message); } }
         export default () => {
           for (const wrong of [() => join(), () => leave(''), () => stamp({}), () => join('room', 7), () => join('room', { after: 1 })]) {
             try { wrong(); } catch (e) { log(e.message); }
           }
         };",
    );
    assert_eq!(
        seen.lines,
        [
            "GoError stamp() is for iterations: there are no rooms in init code, setup, teardown and handleSummary",
            "GoError join() is for iterations: there are no rooms in init code, setup, teardown and handleSummary",
            "join(room): a room has a name, a text or a number",
            "leave(room): a room has a name, a text or a number",
            "stamp(room): a room has a name, a text or a number",
            "join(room, options): options are an object, as { resume: true }",
            "join(room, options): there is no option after, there is resume and polling",
        ]
    );
}

#[test]
fn a_script_without_the_module_has_nothing_to_do_with_the_ledger() {
    let said = "~sngAAABAAA_AABA_____8";
    let script = |imported: &str| {
        format!(
            "import ws from 'k6/ws'; {imported} export default () => ws.connect('ws://a/', (socket) => {{ socket.on('message', () => socket.close()); socket.send('{said}'); }});"
        )
    };
    assert_eq!(run(&script("")).batch.foreign, 0);
    assert_eq!(run(&script("import 'k6/x/sonagi';")).batch.foreign, 1, "of another run");
}
