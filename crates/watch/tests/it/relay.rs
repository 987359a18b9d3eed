//! What another Sonagi hands over: nothing is lost, and nothing counts twice.

use crate::pages::Server;
use crate::support::Watching;
use sonagi_watch::probes::probe;
use std::ops::RangeInclusive;

/// Seconds in each of which five requests came.
fn answer(watch: &str, seconds: RangeInclusive<u64>) -> String {
    let newest = *seconds.end();
    let second = |number: u64| {
        format!(
            r#"{{"second":{number},"metrics":[
              {{"metric":"nginx.requests","kind":"counter","tags":{{"at":"h"}},"value":5}},
              {{"metric":"host.cpu","kind":"gauge","unit":"share","tags":{{}},"value":0.{number}}}],
              "notes":[{{"kind":"target","subject":"port 3000","text":"process {number} ended","hint":null}}]}}"#
        )
    };
    let seconds: Vec<String> = seconds.map(second).collect();
    format!(r#"{{"watch":"{watch}","newest":{newest},"seconds":[{}]}}"#, seconds.join(","))
}

#[test]
fn seconds_that_were_missed_are_read_later_and_count_once() {
    let server = Server::start(&answer("a1", 1..=1));
    let mut watching = Watching::start(probe(&format!("sonagi:http://127.0.0.1:{}", server.port)).unwrap());
    watching.until("the first", |seen| seen.one("nginx.requests") == Some(5.0));
    server.put(&answer("a1", 1..=4));
    watching.until("what was missed", |seen| seen.one("nginx.requests") == Some(20.0));
    assert_eq!(watching.seen.one("host.cpu"), Some(0.4));
    let on = format!("127.0.0.1:{}", server.port);
    assert_eq!(watching.seen.by("nginx.requests", "on").keys().collect::<Vec<_>>(), [&on]);
    assert_eq!(watching.seen.by("nginx.requests", "at").keys().collect::<Vec<_>>(), ["h"]);
    let served = server.served();
    watching.until("another look", |_| server.served() > served + 1);
    assert_eq!(watching.seen.one("nginx.requests"), Some(20.0));
    assert_eq!(watching.seen.told().matches("process 4 ended").count(), 1);

    // It was restarted, and counts from 1 again.
    server.put(&answer("b2", 1..=2));
    watching.until("those of the new one", |seen| seen.one("nginx.requests") == Some(30.0));
    // More was missed than it keeps.
    server.put(&answer("b2", 7..=8));
    watching
        .until("a gap", |seen| seen.told().contains("some seconds are not measured: it keeps ten minutes"));
    watching.until("what there is", |seen| seen.one("nginx.requests") == Some(40.0));
}

#[test]
fn what_is_no_watch_is_told_and_its_address_without_the_token() {
    let server = Server::start("hello");
    let address = format!("sonagi:http://127.0.0.1:{}", server.port);
    let mut watching = Watching::start(probe(&format!("{address}#token=plan@ted/x")).unwrap());
    watching
        .until("a refusal", |seen| seen.told().contains("what it answers is not of `sonagi watch --serve`"));
    assert_eq!(watching.seen.notes[0].subject, address);
    for text in ["sonagi:plan@ted", "sonagi:ftp://h#token=planted", "sonagi:http://:planted@"] {
        let why = probe(text).err().unwrap();
        assert!(why.starts_with("a watch is at sonagi:http://HOST:PORT, ") && !why.contains("ted"), "{why}");
    }
}
