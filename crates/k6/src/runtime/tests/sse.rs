//! `k6/x/sse`: what a script sees of an event stream, whoever ends it.

use super::*;

#[track_caller]
fn check(script: &str, said: &[&str]) {
    expect(&run_later(script), said);
}

const LISTEN: &str = "import sse from 'k6/x/sse'; import { sleep } from 'k6';
    const log = (...all) => console.log(...all);
    const listen = (client) => {
      client.on('open', () => log('open'));
      client.on('event', (event) => log(JSON.stringify(event)));
      client.on('error', (e) => log('error', e.error()));
      client.on('nothing', () => {});
    };";

fn with(script: &str) -> String {
    format!("{LISTEN}\n{script}")
}

#[test]
fn events_come_with_all_their_parts_until_the_script_closes() {
    let seen = run(&with(
        "export default () => {
           const params = { method: 'POST', body: '{}', headers: { 'x-own': 1 }, tags: { mine: 'b' } };
           const r = sse.open('http://a/events', params, (client) => {
             listen(client);
             client.on('event', ({ data }) => { if (data.startsWith('POST')) { sleep(0.25); client.close(); } });
           });
           log(Object.keys(r).sort().join(' '), r.url, r.status, r.headers['X-Own'], r.error === '');
         };",
    ));
    assert_eq!(
        seen.lines,
        [
            "open",
            r#"{"id":"","comment":"alive","name":"","data":""}"#,
            r#"{"id":"7","comment":"","name":"own","data":"a\nb"}"#,
            r#"{"id":"7","comment":"","name":"","data":"POST /events HTTP/1.1"}"#,
            "error headers status url http://a/events 200 1 true",
        ],
        "{:?}",
        seen.outcome
    );
    let tags = "mine=b status=200 url=http://a/events";
    for sample in ["sse_event 1", "http_reqs 1", "http_req_duration 250", "http_req_sending 0"] {
        assert!(seen.samples.contains(&format!("{sample} {tags}")), "{sample}: {:?}", seen.samples);
    }
    assert_eq!(seen.values("sse_event").len(), 3);
    assert!(seen.traffic.0 > 50 && seen.traffic.1 > 50, "{:?}", seen.traffic);
}

#[test]
fn the_servers_end_is_an_error_only_in_the_middle_of_its_answer() {
    check(
        &with(
            "export default () => {
               log(sse.open('http://a/last-events', listen).status);
               log(sse.open('http://a/cut-events', listen).status);
               const gone = sse.open('nonsense', listen);
               log(gone.status, gone.error.length > 0, gone.url === '');
               for (const wrong of [() => sse.open('http://a/'), () => sse.open('http://a/', {}, 7)]) { try { wrong(); } catch (e) { log(e.name, e.message); } }
             };",
        ),
        &[
            "open",
            r#"{"id":"","comment":"","name":"","data":"last"}"#,
            "200",
            "open",
            r#"{"id":"","comment":"","name":"","data":"last"}"#,
            "error the server ended the event stream in the middle of its response",
            "200",
            "0 true true",
            "GoError invalid number of arguments to sse.open",
            "GoError last argument to sse.open must be a function",
        ],
    );
}

#[test]
fn what_a_listener_throws_comes_out_of_open_and_an_interruption_ends_it() {
    let thrower = "export default () => { try { sse.open('http://a/events', (client) => client.on('event', () => { throw new TypeError('odd'); })); } catch (e) { log(e instanceof TypeError); } };";
    check(&with(thrower), &["true"]);
    let script = with(
        "export default () => { sse.open('http://a/events', (client) => client.on('open', () => log('open'))); };",
    );
    let seen = run_with(Path::new("/test"), &script, Some(50));
    assert_eq!((&seen.outcome, &*seen.lines), (&Err(Thrown::Interrupted), &["open".to_owned()][..]));
}
