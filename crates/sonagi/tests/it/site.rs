//! A server of pages as its viewers see it.

use crate::support::{Place, Running};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Users that come for as many seconds, one a second, and talk in a room.
const SCRIPT: &str = "
config:
  target: {target}
  phases: [{name: talk, duration: {seconds}, arrivalRate: 2}]
scenarios:
  - flow:
      - get: {url: '/healthz', name: look}
";

pub(crate) fn script(target: &str, seconds: u32) -> String {
    SCRIPT.replace("{target}", target).replace("{seconds}", &seconds.to_string())
}

/// A server of pages.
pub(crate) struct Site {
    /// Its host and port.
    pub(crate) address: String,
    /// What lets its page act; empty: nothing does.
    pub(crate) token: String,
}

/// A response, its head read.
pub(crate) struct Response {
    pub(crate) status: u16,
    body: BufReader<TcpStream>,
    is_chunked: bool,
}

impl Site {
    /// The one that a command has told of.
    pub(crate) fn of(running: &mut Running) -> Site {
        running.wait_for("page        http://");
        let line = running.said().lines().rfind(|line| line.starts_with("page        http://")).unwrap();
        let url = line.split_whitespace().nth(1).unwrap();
        let address = url.strip_prefix("http://").unwrap();
        let (address, path) = address.split_once('/').unwrap_or((address, ""));
        let token = path.strip_prefix("?token=").unwrap_or_default();
        Site { address: address.to_owned(), token: token.to_owned() }
    }

    pub(crate) fn ask(&self, request: &str, headers: &[(&str, &str)]) -> Response {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let mut text = format!("{request} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text.push_str(&format!("host: {}\r\n", self.address));
        }
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        socket.write_all(format!("{text}\r\n").as_bytes()).unwrap();
        let mut body = BufReader::new(socket);
        let (mut head, mut is_chunked) = (Vec::new(), false);
        loop {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            is_chunked |= line.to_ascii_lowercase().starts_with("transfer-encoding: chunked");
            head.push(line);
        }
        let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, body, is_chunked }
    }

    pub(crate) fn status(&self, request: &str, headers: &[(&str, &str)]) -> u16 {
        self.ask(request, headers).status
    }

    pub(crate) fn text(&self, path: &str) -> String {
        let mut response = self.ask(&format!("GET {path}"), &[]);
        assert_eq!(response.status, 200, "{path}");
        let mut text = String::new();
        response.body.read_to_string(&mut text).unwrap();
        text
    }

    /// What the page at this path is told first.
    pub(crate) fn boot(&self, path: &str) -> Value {
        let page = self.text(path);
        let start = "<script id=\"sonagi-boot\" type=\"application/json\">";
        let (_, rest) = page.split_once(start).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        let rows: Value = serde_json::from_str(&self.text("/api/runs")).unwrap();
        rows["runs"].as_array().unwrap().clone()
    }

    /// The lines of a run behind the one with this id; empty: from the start.
    pub(crate) fn lines(&self, run: &str, last: &str) -> Events {
        let headers: &[_] = if last.is_empty() { &[] } else { &[("last-event-id", last)] };
        let response = self.ask(&format!("GET /api/runs/{}/lines", run.replace('/', "%2F")), headers);
        assert_eq!((response.status, response.is_chunked), (200, true), "{run}");
        Events { response, text: String::new(), last: last.to_owned() }
    }

    /// Asks for the graceful end of a run.
    pub(crate) fn stop(&self, run: &str) -> u16 {
        let stop = format!("POST /api/runs/{}/stop", run.replace('/', "%2F"));
        self.status(&stop, &[("x-sonagi-token", &self.token)])
    }

    /// The run under way, as soon as there is one.
    pub(crate) fn run(&self) -> String {
        let boot = std::iter::repeat_with(|| self.boot("/")).find(|boot| boot["mode"] == "run").unwrap();
        boot["id"].as_str().unwrap().to_owned()
    }
}

/// A stream of events.
pub(crate) struct Events {
    response: Response,
    text: String,
    /// The id of the last line.
    pub(crate) last: String,
}

impl Events {
    /// The next line and its number; None: the server has closed the stream, as it says before.
    pub(crate) fn next(&mut self) -> Option<(u64, Value)> {
        loop {
            match self.event() {
                (name, _) if name == "closed" => return None,
                (name, data) if name == "line" => {
                    let number = self.last.split_once('-').unwrap().1;
                    return Some((number.parse().unwrap(), serde_json::from_str(&data).unwrap()));
                }
                (name, data) => assert_eq!(name, "next", "{data}"),
            }
        }
    }

    /// The next event: its name, `line` if it has none, and its data.
    pub(crate) fn event(&mut self) -> (String, String) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let of = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                if let Some(id) = of("id: ") {
                    self.last = id.to_owned();
                }
                let Some(data) = of("data:") else { continue };
                return (of("event: ").unwrap_or("line").to_owned(), data.trim_start().to_owned());
            }
            let body = &mut self.response.body;
            let mut size = String::new();
            body.read_line(&mut size).unwrap();
            let size =
                usize::from_str_radix(size.trim(), 16).unwrap_or_else(|_| panic!("cut off at {size:?}"));
            assert!(size > 0, "the stream ended without saying so");
            let mut chunk = vec![0; size + 2];
            body.read_exact(&mut chunk).unwrap();
            chunk.truncate(size);
            self.text.push_str(&String::from_utf8(chunk).unwrap());
        }
    }

    pub(crate) fn all(mut self) -> Vec<(u64, Value)> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// The one member of a line.
pub(crate) fn kind(line: &Value) -> &str {
    line.as_object().unwrap().keys().next().unwrap()
}

/// The seconds that frames cover.
pub(crate) fn seconds(lines: &[(u64, Value)]) -> Vec<u64> {
    lines.iter().filter_map(|(_, line)| line["frame"]["s"].as_u64()).collect()
}

pub(crate) fn start(place: &Place, arguments: &[&str]) -> (Running, Site) {
    let mut running = Running::start(place.command(arguments));
    let site = Site::of(&mut running);
    (running, site)
}
