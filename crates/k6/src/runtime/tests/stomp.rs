//! `k6/x/stomp`: sessions over TCP and over a WebSocket, and all a script says and hears in them.

use super::*;
use sonagi_wire::stomp::{Command, Decoder, Event, Frame, Limits, Side, Version, Versions, Writer};
use tokio::io::DuplexStream;

/// A broker for scripts: what is sent to a destination goes to those who subscribed to it.
///
/// | what | what it does |
/// |---|---|
/// | CONNECT of `nobody` | ERROR `denied` |
/// | CONNECT with `x-version`, `x-beat` | that version, those heart-beats |
/// | SEND to `/error`, `/gone`, `/mute` | ERROR; ends the connection; gives no receipt |
/// | anything | is told to who subscribed to `/log` |
pub(super) struct Broker {
    decoder: Decoder,
    subscriptions: Vec<(String, String)>,
    messages: usize,
}

impl Default for Broker {
    fn default() -> Broker {
        let decoder = Decoder::new(Side::Server, Versions::ALL, Limits::default());
        Broker { decoder, subscriptions: Vec::new(), messages: 0 }
    }
}

impl Broker {
    /// False: the connection is over.
    pub(super) fn feed(&mut self, bytes: &[u8], said: &mut Vec<Vec<u8>>) -> bool {
        let mut goes_on = true;
        let Broker { decoder, subscriptions, messages } = self;
        let fed = decoder.feed(bytes, |event| match event {
            Event::Frame(frame) => goes_on &= answer(&frame, subscriptions, messages, said),
            // A heart-beat, or the line end behind a frame: told to who wants to know.
            Event::HeartBeat => deliver("/log", b"heart-beat", Version::V1_2, subscriptions, messages, said),
        });
        fed.unwrap();
        goes_on
    }
}

fn answer(
    frame: &Frame<'_>,
    subscriptions: &mut Vec<(String, String)>,
    messages: &mut usize,
    said: &mut Vec<Vec<u8>>,
) -> bool {
    let header = |name: &str| frame.header(name).unwrap().map(|value| value.into_owned());
    let version = frame.version;
    let mut say = |command, headers: &[(&str, &str)]| {
        let mut out = Vec::new();
        let writer = Writer::new(command, version, &mut out);
        headers.iter().fold(writer, |writer, (name, value)| writer.header(name, value)).end().unwrap();
        said.push(out);
    };
    let shown: Vec<String> = frame
        .headers()
        .map(|header| header.unwrap())
        .filter(|(name, _)| name != "content-length")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let shown = format!("{} {}", frame.command.name(), shown.join(" "));
    let destination = header("destination").unwrap_or_default();
    match frame.command {
        Command::Connect if header("login").as_deref() == Some("nobody") => {
            say(Command::Error, &[("message", "denied")]);
            return false;
        }
        Command::Connect => {
            let version = header("x-version").unwrap_or_else(|| version.name().to_owned());
            let beat = header("x-beat").unwrap_or_else(|| "0,0".to_owned());
            let headers = [
                ("version", &*version),
                ("server", "broker/1"),
                ("session", &*shown),
                ("heart-beat", &*beat),
            ];
            say(Command::Connected, &headers);
        }
        Command::Send if destination == "/error" => say(Command::Error, &[("message", "no such place")]),
        Command::Send if destination == "/gone" => return false,
        Command::Send => deliver(&destination, frame.body, version, subscriptions, messages, said),
        Command::Subscribe => subscriptions.push((header("id").unwrap(), destination.clone())),
        Command::Unsubscribe => subscriptions.retain(|(id, _)| Some(id) != header("id").as_ref()),
        _ => {}
    }
    if frame.command != Command::Connect {
        deliver("/log", shown.as_bytes(), version, subscriptions, messages, said);
    }
    if let Some(receipt) = header("receipt").filter(|_| destination != "/mute") {
        let mut out = Vec::new();
        Writer::new(Command::Receipt, version, &mut out).header("receipt-id", &receipt).end().unwrap();
        said.push(out);
    }
    true
}

fn deliver(
    destination: &str,
    body: &[u8],
    version: Version,
    subscriptions: &[(String, String)],
    messages: &mut usize,
    said: &mut Vec<Vec<u8>>,
) {
    for (id, _) in subscriptions.iter().filter(|(_, own)| own == destination) {
        *messages += 1;
        let mut out = Vec::new();
        let number = messages.to_string();
        Writer::new(Command::Message, version, &mut out)
            .header("subscription", id)
            .header("message-id", &number)
            .header("destination", destination)
            .header("content-type", "text/x")
            .header("ack", &format!("a{number}"))
            .body(body)
            .unwrap();
        said.push(out);
    }
}

/// A broker behind TCP.
pub(super) async fn serve(mut pipe: DuplexStream, first: &[u8]) {
    let mut broker = Broker::default();
    let mut buffer = vec![0; 16 << 10];
    let mut said = Vec::new();
    let mut goes_on = broker.feed(first, &mut said);
    loop {
        // In two pieces: a stream knows no frames.
        let bytes = said.concat();
        let (one, other) = bytes.split_at(bytes.len() / 2);
        for piece in [one, other] {
            if pipe.write_all(piece).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        said.clear();
        if !goes_on {
            return;
        }
        let Ok(read @ 1..) = pipe.read(&mut buffer).await else { return };
        goes_on = broker.feed(&buffer[..read], &mut said);
    }
}

const STOMP: &str = "import stomp from 'k6/x/stomp'; import { sleep } from 'k6';
    const log = (...all) => console.log(...all);
    const wrong = (what) => { try { log('taken', what()); } catch (e) { log(e.name, e.message.split('\\n')[0]); } };";

fn with(script: &str) -> String {
    format!("{STOMP}\nexport default () => {{ {script} }};")
}

#[track_caller]
fn check(script: &str, said: &[&str]) {
    expect(&run_later(&with(script)), said);
}

#[test]
fn a_message_is_sent_read_and_acknowledged_whatever_carries_it() {
    for options in [
        "{ addr: 'a:61613', user: 'me', pass: 'p', headers: { own: 1 }, host: '/' }",
        "{ addr: 'a:8080', protocol: 'ws', path: '/stomp', query: 'a=b', user: 'me', pass: 'p', headers: { own: 1 }, host: '/' }",
    ] {
        let seen = run_later(&with(&format!(
            "const client = stomp.connect({options});
             log(client.server(), client.session());
             const subscription = client.subscribe('/a', {{ ack: 'client', id: 'mine', headers: {{ more: 'x:y' }} }});
             log(subscription.id(), subscription.destination(), subscription.ackMode(), subscription.active());
             client.send('/a', 'text/plain', 'gr\u{fc}\u{df} {{}}', {{ headers: {{ extra: 2 }} }});
             const message = subscription.read();
             log(message.string(), message.destination, message.content_type, message.body.length, message.shouldAck());
             log(message.header.get('message-id'), message.header.get('none') === '', JSON.stringify(message.header.contains('ack')), message.header.len());
             client.send('/a', '', JSON.stringify({{ deep: [1, {{ b: 2 }}] }}));
             const second = subscription.read();
             log(second.json().deep[0], second.json('deep.1.b'), second.json('nothing'));
             const watch = client.subscribe('/log');
             client.ack(message); client.nack(second); client.ack(null);
             client.send('/mute', 'text/x', new Uint8Array([255, 0, 1]).buffer, {{ receipt: false }});
             log(watch.read().string()); log(watch.read().string()); log(watch.read().string()); log(watch.read().string());
             subscription.unsubscribe(); subscription.unsubscribe();
             log(watch.read().string(), subscription.active());
             client.disconnect(); client.disconnect();
             log(client.send('/a', '', 'x'), client.subscribe('/a'), watch.active());"
        )));
        expect(
            &seen,
            &[
                "broker/1 CONNECT accept-version=1.0,1.1,1.2 host=/ heart-beat=60000,60000 login=me passcode=p own=1",
                "mine /a client true",
                "grüß {} /a text/x 9 true",
                "1 true [\"a1\",true] 6",
                "1 2 undefined",
                "SUBSCRIBE id=1 destination=/log ack=auto",
                "ACK id=a1",
                "NACK id=a2",
                "SEND destination=/mute content-type=text/x",
                "UNSUBSCRIBE id=mine false",
                "undefined null false",
            ],
        );
        let counts = |name: &str| seen.values(name).len();
        assert_eq!(
            (counts("stomp_send_count"), counts("stomp_send_time"), counts("stomp_send_error_count")),
            (3, 3, 0),
            "{:?}",
            seen.samples
        );
        assert_eq!(
            (counts("stomp_read_count"), counts("stomp_ack_count"), counts("stomp_nack_count")),
            (7, 1, 1)
        );
        assert!(seen.traffic.0 > 400 && seen.traffic.1 > 400, "{:?}", seen.traffic);
    }
}

#[test]
fn a_listener_hears_one_message_and_the_next_when_it_asks() {
    check(
        "const client = stomp.connect({ addr: 'a:1' });
         const heard = [];
         const subscription = client.subscribe('/a', { listener: (message) => {
           log('heard', message.string(), message.subscription === subscription);
           if (heard.push(1) < 2) message.subscription.continue(); else client.disconnect();
         } });
         for (const word of ['one', 'two', 'three']) client.send('/a', '', word);
         log('sent');",
        &["sent", "heard one true", "heard two true"],
    );
    // It does not hold its iteration once it has heard what it waited for.
    check(
        "const client = stomp.connect({ addr: 'a:1' });
         client.subscribe('/a', { listener: (message) => log('heard', message.string()) });
         for (const word of ['one', 'two']) client.send('/a', '', word);
         const other = client.subscribe('/b', { listener: () => log('never') });
         other.unsubscribe();",
        &["heard one"],
    );
}

#[test]
fn receipts_are_waited_for_but_not_longer_than_told() {
    let seen = run_later(&with(
        "const client = stomp.connect({ addr: 'a:1', receipt_timeout: '250ms' });
         client.send('/a', '', 'x', { receipt: true });
         log('confirmed');
         wrong(() => client.send('/mute', '', 'x', { receipt: true }));",
    ));
    expect(&seen, &["confirmed", "GoError msg receipt timeout"]);
    assert_eq!(seen.values("stomp_send_time")[1], 250.0);
    assert_eq!(seen.values("stomp_send_error_count"), [1.0]);
}

#[test]
fn a_transaction_names_itself_in_all_it_does() {
    let seen = run_later(&with(
        "const client = stomp.connect({ addr: 'a:1' });
         const watch = client.subscribe('/log');
         const source = client.subscribe('/a', { ack: 'client-individual' });
         client.send('/a', '', 'x');
         const message = source.read();
         const transaction = client.begin();
         transaction.send('/b', 'text/x', 'y', { headers: { z: 1 } });
         transaction.ack(message);
         transaction.nack(message);
         transaction.commit();
         client.beginWithError().abort();
         for (let n = 0; n < 9; n += 1) log(watch.read().string());
         log(transaction.id());",
    ));
    expect(
        &seen,
        &[
            "SUBSCRIBE id=1 destination=/log ack=auto",
            "SUBSCRIBE id=2 destination=/a ack=client-individual",
            "SEND destination=/a",
            "BEGIN transaction=3",
            "SEND destination=/b content-type=text/x transaction=3 z=1",
            "ACK id=a3 transaction=3",
            "NACK id=a3 transaction=3",
            "COMMIT transaction=3",
            "BEGIN transaction=4",
            "3",
        ],
    );
    assert!(seen.samples.iter().any(|sample| sample == "stomp_send_count 1 queue=/b"), "{:?}", seen.samples);
}

#[test]
fn what_goes_wrong_is_said_where_it_is_waited_for() {
    check(
        "wrong(() => stomp.connect()); wrong(() => stomp.connect({ addr: 'a' })); wrong(() => stomp.connect({ addr: 'a:1', protocol: 'udp' }));
         wrong(() => stomp.connect({ addr: 'a:1', timeout: 'soon' })); wrong(() => stomp.connect({ addr: 'a:1', user: 'nobody' }));
         wrong(() => stomp.connect({ addr: 'a:1', protocol: 'ws', path: 'refuse' }));
         const client = new stomp.Client({ addr: 'a:1' });
         wrong(() => client.subscribe('/a', { ack: 'never' })); wrong(() => client.send('/a', '', 7)); wrong(() => client.ack({}));
         const gone = client.subscribe('/a', 'client'); gone.unsubscribe(); wrong(() => gone.read());
         const auto = client.subscribe('/a'); client.send('/a', '', 'x');
         const message = auto.read(); client.ack(message); wrong(() => client.nack(message));
         wrong(() => message.json());
         client.send('/error'); wrong(() => auto.read()); wrong(() => auto.read()); wrong(() => client.send('/a', '', 'x'));
         const other = stomp.connect({ addr: 'a:1', protocol: 'ws', path: '/stomp' });
         const last = other.subscribe('/a', { listener: () => log('never'), error: (why) => { log('told', why.error); wrong(() => last.continue()); } });
         other.send('/gone', '', 'x');",
        &[
            "GoError stomp.connect needs an address",
            "GoError addr must be HOST:PORT, got \"a\"",
            "GoError a stomp session has no protocol \"udp\"",
            "GoError timeout: \"soon\" is not a number with its unit",
            "GoError denied",
            "GoError websocket: bad handshake: upgrade to WebSocket was answered with status 403: why?",
            "GoError ackMode should be 'auto', 'client' or 'client-individual'",
            "GoError the body of a message is a text, an ArrayBuffer or a typed array",
            "GoError cannot ack/nack a message, not from server",
            "GoError subscription is unsubscribed",
            "GoError cannot send NACK for a subscription with ack:auto",
            "SyntaxError unexpected token: 'x'",
            "GoError no such place",
            "GoError no such place",
            "GoError connection already closed",
            "told connection closed unexpectedly: the peer ended the connection without a close frame",
            "GoError connection closed unexpectedly: the peer ended the connection without a close frame",
        ],
    );
}

#[test]
fn a_lost_session_without_an_error_function_fails_its_iteration() {
    let seen = run_later(&with(
        "const client = stomp.connect({ addr: 'a:1' });
         client.subscribe('/a', { listener: () => log('never') });
         client.send('/error');",
    ));
    assert!(
        matches!(&seen.outcome, Err(Thrown::Error(text)) if text.starts_with("GoError: no such place")),
        "{:?}",
        seen.outcome
    );
    assert_eq!(seen.values("stomp_read_error_count"), [1.0]);
}

#[test]
fn old_versions_are_spoken_as_they_want_it() {
    check(
        "const client = stomp.connect({ addr: 'a:1', headers: { 'accept-version': '1.0', 'x-version': '1.0' } });
         wrong(() => client.subscribe('/a', { ack: 'client-individual' }));
         const own = client.subscribe('/a', { ack: 'client' }); client.send('/a', '', 'x');
         const message = own.read(); wrong(() => client.nack(message));
         const watch = client.subscribe('/log'); client.ack(message);
         watch.read(); log(watch.read().string()); own.unsubscribe(); log(watch.read().string());",
        &[
            "GoError client-individual needs STOMP 1.1, the session is 1.0",
            "GoError NACK not supported in STOMP 1.0",
            "ACK message-id=1 subscription=1",
            "UNSUBSCRIBE id=1 destination=/a",
        ],
    );
}

#[test]
fn heart_beats_are_kept_while_the_script_sleeps_and_missed_ones_end_it() {
    let seen = run_later(&with(
        "const client = stomp.connect({ addr: 'a:1', heartbeat: { incoming: '0s', outgoing: '1s' }, headers: { 'x-beat': '0,500' } });
         log(client.session().match(/heart-beat=\\S+/)[0]);
         const watch = client.subscribe('/log');
         watch.read();
         sleep(3.5);
         for (let n = 0; n < 3; n += 1) log(watch.read().string());
         const silent = stomp.connect({ addr: 'a:1', headers: { 'x-beat': '400,0' }, heartbeat: { incoming: '200ms' } });
         wrong(() => silent.subscribe('/a').read());",
    ));
    expect(
        &seen,
        &[
            "heart-beat=1000,0",
            "heart-beat",
            "heart-beat",
            "heart-beat",
            "GoError read timeout: no heart-beat from the server for 800 ms",
        ],
    );
    // The messages sent while it slept have been answered by then.
    let read = seen.values("stomp_read_time");
    assert_eq!(read[1..], [0.0, 0.0, 0.0, 800.0], "{:?}", seen.samples);
}

#[test]
fn a_session_of_init_code_goes_on_from_iteration_to_iteration_and_others_end_with_theirs() {
    let script = "import stomp from 'k6/x/stomp';
        const kept = stomp.connect({ addr: 'a:1' });
        const watch = kept.subscribe('/log');
        let last;
        export default () => {
          if (last) { try { last.send('/a', '', 'x'); console.log('sent in vain'); } catch (e) { console.log(e.message); } }
          last = stomp.connect({ addr: 'a:1' });
          kept.send('/a', '', `turn ${__ITER}`);
          console.log(watch.read().string());
        };";
    let seen =
        run_as(Path::new("/test"), script, How { more_iterations: 1, is_later: true, ..How::default() });
    expect(&seen, &["SUBSCRIBE id=1 destination=/log ack=auto", "sent in vain", "SEND destination=/a"]);
    let seen = run_as(
        Path::new("/test"),
        script,
        How { more_iterations: 1, keep_connections: true, ..How::default() },
    );
    // Kept, it says what it is told.
    expect(&seen, &["SUBSCRIBE id=1 destination=/log ack=auto", "sent in vain", "SEND destination=/a"]);
}

#[test]
fn an_interruption_ends_a_read_and_frames_are_shown_to_who_asks() {
    let seen = run_as(
        Path::new("/test"),
        &with(
            "const client = stomp.connect({ addr: 'a:1', protocol: 'ws', path: '/stomp', verbose: true });
             try { client.subscribe('/a').read(); } catch { log('caught'); }",
        ),
        How { stop_after_ms: Some(50), ..How::default() },
    );
    assert_eq!(seen.outcome, Err(Thrown::Interrupted));
    let begins: Vec<&str> = seen.lines.iter().map(|line| line.split('\n').next().unwrap()).collect();
    assert_eq!(begins, ["WRITE: CONNECT", "READ: CONNECTED", "WRITE: SUBSCRIBE", "WRITE: DISCONNECT"]);
}

#[test]
fn what_nobody_reads_is_left_to_the_server_until_somebody_does() {
    check(
        "const client = stomp.connect({ addr: 'a:1' });
         const own = client.subscribe('/a');
         const body = 'x'.repeat(8000);
         for (let n = 0; n < 200; n += 1) client.send('/a', '', `${n} ${body}`);
         sleep(1);
         let bytes = 0;
         for (let n = 0; n < 200; n += 1) { const text = own.read().string(); if (!text.startsWith(`${n} `)) log('out of order'); bytes += text.length; }
         log(bytes > 200 * 8000);",
        &["true"],
    );
}
