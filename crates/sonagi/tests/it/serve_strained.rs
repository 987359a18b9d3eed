//! `sonagi serve` where something is short: what it keeps of logins, and what it says of a full disk.

use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// One request on a connection of its own: its status and body.
fn ask(url: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn hundreds_of_logins_leave_no_memory_of_their_hashes_behind() {
    let place = Place::new();
    let service = Service::start(&place, &["--seed-users=16", "--login-rate=1000"]);
    std::thread::scope(|scope| {
        for user in 1..=16 {
            let url = &service.url;
            scope.spawn(move || {
                let body = format!(r#"{{"email":"user{user}@example.test","password":"password"}}"#);
                for _ in 0..20 {
                    assert_eq!(ask(url, "POST", "/auth/login", &body).0, 200);
                }
            });
        }
    });
    let metrics = ask(&service.url, "GET", "/metrics", "").1;
    let resident = metrics.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    let resident: f64 = resident.unwrap().parse().unwrap();
    // A hash takes 4 MiB, and four are made at once: 320 logins kept would be more than a gigabyte.
    assert!(resident < 120e6, "{} MB", resident / 1e6);
}

#[test]
fn a_full_disk_is_told_with_its_cause_and_what_was_acknowledged_is_kept() {
    let place = Place::new();
    // No file may grow over a megabyte; without the signal of that limit, a write fails as on a full disk.
    let line =
        "trap '' XFSZ; ulimit -f 2000; exec \"$0\" serve --listen 127.0.0.1:0 --grace 0s --store chat.db";
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_sonagi")]).current_dir(place.path());
    command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped());
    let mut running = Running::start(command);
    let mut first = String::new();
    BufReader::new(reader).read_line(&mut first).unwrap();
    let url =
        first.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it said {first:?}")).to_owned();
    let content = format!("\"{}\"", "x".repeat(60_000));
    let mut kept = 0;
    let refused = loop {
        assert!(kept < 100, "a megabyte holds no {kept} messages of 60 kB");
        match ask(&url, "POST", "/location/long/g/notify", &content) {
            (200, _) => kept += 1,
            refused => break refused,
        }
    };
    assert_eq!(refused.0, 500, "{}", refused.1);
    assert!(refused.1.contains("\"code\":\"store_failed\""), "{}", refused.1);
    running.wait_for("error: cannot write the message store: ");
    let said = running.said().lines().last().unwrap().to_owned();
    assert!(said.contains("full") || said.contains("disk I/O error"), "{said}");
    running.signal(Signal::KILL);
    running.end();

    let again = Service::start(&place, &["--store=chat.db"]);
    let mut after = 0;
    for page in 0..kept + 2 {
        let (status, body) = ask(&again.url, "GET", &format!("/cur/g?after={after}"), "");
        assert_eq!(status, 200, "page {page}");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let numbers =
            body["messages"].as_array().unwrap().iter().map(|message| message["seq"].as_u64().unwrap());
        for number in numbers {
            after += 1;
            assert_eq!(number, after);
        }
        if body["more"] != true {
            break;
        }
    }
    assert!(after >= kept, "{kept} were acknowledged, {after} are there");
}
