//! The nginx probe against a real server.

use crate::pages::Server;
use crate::service::{Service, folder, free_port, program};
use crate::support::Watching;
use sonagi_watch::probes::probe;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A server with a status page, a limited one, and one whose upstream is not there.
fn nginx() -> Service {
    let (folder, port, nobody) = (folder(), free_port(), free_port());
    let at = folder.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
        .concat();
    let configuration = format!(
        "daemon off;\nmaster_process off;\npid {at}/pid;\nerror_log {at}/error.log;\n\
         events {{ worker_connections 16; }}\nhttp {{\naccess_log off;\n{temporary}limit_req_zone all zone=api:32k rate=1r/m;\n\
         server {{\nlisten 127.0.0.1:{port} deferred;\nlocation = /status {{ stub_status; }}\n\
         location = /limited {{ limit_req zone=api; return 200; }}\n\
         location = /page {{ limit_req zone=api; root {at}; }}\n\
         location = /up {{ proxy_pass http://127.0.0.1:{nobody}; }}\n}}\n}}\n"
    );
    std::fs::write(folder.path().join("conf"), configuration).unwrap();
    let command = [
        program("nginx", &["/usr/sbin"]).display().to_string(),
        "-c".to_owned(),
        format!("{at}/conf"),
        "-e".to_owned(),
        format!("{at}/error.log"),
    ];
    Service::start(folder, port, command.to_vec())
}

fn watched(nginx: &Service) -> Watching {
    let log = nginx.folder.path().join("error.log");
    let text = format!("nginx:http://127.0.0.1:{}/status#log={}", nginx.port, log.display());
    Watching::start(probe(&text).unwrap())
}

/// Asks for a page; what is answered to it is nobody's business.
fn get(port: u16, path: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path}?token=planted HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn connections_requests_and_what_the_error_log_says_are_seen() {
    let nginx = nginx();
    let mut watching = watched(&nginx);
    watching.until("the first look", |seen| seen.one("nginx.writing") == Some(1.0));
    watching.until("the second", |seen| seen.one("nginx.requests").is_some());
    for _ in 0..3 {
        get(nginx.port, "/page");
    }
    get(nginx.port, "/up");
    watching.until("the limit", |seen| seen.one("nginx.log.limited") == Some(2.0));
    watching.until("the upstream", |seen| seen.one("nginx.log.upstream") == Some(1.0));
    watching.until("the requests", |seen| seen.one("nginx.requests").is_some_and(|count| count >= 4.0));
    let told = watching.seen.told();
    for said in [
        "its error log says: limiting requests, by zone \"api\"\n",
        "its error log says: connect() failed (111: Connection refused) while connecting to upstream\n",
    ] {
        assert_eq!(told.matches(said).count(), 1, "{told}");
    }
    assert_eq!(watching.seen.one("nginx.log.worker_connections"), Some(0.0));
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn connections_beyond_worker_connections_are_seen_dropped() {
    let nginx = nginx();
    let mut watching = watched(&nginx);
    watching.until("the second look", |seen| seen.one("nginx.dropped") == Some(0.0));
    let mut clients: Vec<TcpStream> = Vec::new();
    for _ in 0..40 {
        // Each comes with a part of its request (deferred): one that is idle would make room for the next.
        let mut client = TcpStream::connect(("127.0.0.1", nginx.port)).unwrap();
        let _ = client.write_all(b"GET /status HTTP/1.1\r\n");
        clients.push(client);
    }
    watching
        .until("the log", |seen| seen.one("nginx.log.worker_connections").is_some_and(|lines| lines > 0.0));
    drop(clients);
    watching.until("the drops", |seen| seen.one("nginx.dropped").is_some_and(|count| count > 10.0));
    assert!(
        watching.seen.told().contains("16 worker_connections are not enough"),
        "{}",
        watching.seen.told()
    );
}

#[test]
fn a_log_that_is_rotated_is_read_on_and_one_that_is_missing_is_told() {
    let page = Server::start(
        "Active connections: 1 \nserver accepts handled requests\n 1 1 1 \nReading: 0 Writing: 1 Waiting: 0 \n",
    );
    let folder = folder();
    let log = folder.path().join("error.log");
    let text = format!("nginx:http://127.0.0.1:{}/#log={}", page.port, log.display());
    let mut watching = Watching::start(probe(&text).unwrap());
    watching.until("no log", |seen| seen.told().contains("its error log is not measured: "));
    let line = "2026/11/23 10:00:00 [alert] 7#7: 4 worker_connections are not enough\n";
    let lines = |seen: &crate::support::Seen| seen.one("nginx.log.worker_connections");
    // A file comes whole, as the probe may look at any instant.
    let put = |text: &str| {
        std::fs::write(folder.path().join("new"), text).unwrap();
        std::fs::rename(folder.path().join("new"), &log).unwrap();
    };
    let append = |text: &str| {
        std::fs::File::options().append(true).open(&log).unwrap().write_all(text.as_bytes()).unwrap();
    };
    put(&line.repeat(3));
    watching.until("a log", |seen| lines(seen).is_some());
    assert_eq!(lines(&watching.seen), Some(0.0), "what it said before is not told");
    put(&line.repeat(4));
    watching.until("the new one", |seen| lines(seen) == Some(4.0));
    append(line.trim_end());
    let before = page.served();
    watching.until("more looks", |_| page.served() > before + 1);
    assert_eq!(lines(&watching.seen), Some(4.0), "a line that is not whole is not counted yet");
    append("\n");
    watching.until("the whole line", |seen| lines(seen) == Some(5.0));
}

#[test]
fn an_nginx_that_dies_and_comes_back_is_told_and_watched_again() {
    let mut nginx = nginx();
    let mut watching = watched(&nginx);
    watching.until("figures", |seen| seen.one("nginx.connections").is_some());
    nginx.kill();
    watching.until("its end", |seen| seen.told().contains("it stopped answering: nothing listens there"));
    watching.seen.values.clear();
    nginx.again();
    watching.until("its return", |seen| seen.told().contains("it answers again"));
    watching.until("figures again", |seen| seen.one("nginx.connections").is_some());
}

#[test]
fn what_is_no_nginx_is_told_with_the_rule() {
    let page = Server::start("up 1\n");
    let mut watching =
        Watching::start(probe(&format!("nginx:http://u:planted@127.0.0.1:{}/", page.port)).unwrap());
    watching.until("another page", |seen| seen.told().contains("the page is none of stub_status"));
    assert!(watching.seen.notes[0].hint.as_ref().unwrap().contains("stub_status; allow"));
    assert!(!format!("{:?}", watching.seen).contains("planted"));
    let why = |text: &str| probe(text).err().unwrap();
    assert_eq!(
        why("nginx:http://h/#logs=/x"),
        "behind the address of nginx stands #log=/path/of/its/error.log or nothing"
    );
    assert_eq!(why("nginx:h"), "an address has a scheme and a host: relative URL without a base; got `h`");
}
