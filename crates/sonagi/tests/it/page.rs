//! The page as its viewers get it: served while a run goes on, from a library, and as a file.

use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;

/// Users that come for as many seconds, one a second, and talk in a room.
const SCRIPT: &str = "
config:
  target: {target}
  phases: [{name: talk, duration: {seconds}, arrivalRate: 2}]
scenarios:
  - flow:
      - get: {url: '/healthz', name: look}
";

fn script(target: &str, seconds: u32) -> String {
    SCRIPT.replace("{target}", target).replace("{seconds}", &seconds.to_string())
}

/// A server of pages.
struct Site {
    address: String,
}

/// A response, its head read.
struct Response {
    status: u16,
    body: BufReader<TcpStream>,
    is_chunked: bool,
}

impl Site {
    /// The one that a command has told of.
    fn of(running: &mut Running) -> Site {
        running.wait_for("page        http://");
        let line = running.said().lines().rfind(|line| line.starts_with("page        http://")).unwrap();
        let url = line.split_whitespace().nth(1).unwrap();
        Site { address: url.strip_prefix("http://").unwrap().to_owned() }
    }

    fn ask(&self, request: &str, headers: &[(&str, &str)]) -> Response {
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

    fn status(&self, request: &str, headers: &[(&str, &str)]) -> u16 {
        self.ask(request, headers).status
    }

    fn text(&self, path: &str) -> String {
        let mut response = self.ask(&format!("GET {path}"), &[]);
        assert_eq!(response.status, 200, "{path}");
        let mut text = String::new();
        response.body.read_to_string(&mut text).unwrap();
        text
    }

    /// What the page at this path is told first.
    fn boot(&self, path: &str) -> Value {
        let page = self.text(path);
        let start = "<script id=\"sonagi-boot\" type=\"application/json\">";
        let (_, rest) = page.split_once(start).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    fn runs(&self) -> Vec<Value> {
        let rows: Value = serde_json::from_str(&self.text("/api/runs")).unwrap();
        rows["runs"].as_array().unwrap().clone()
    }

    /// The lines of a run behind the one with this number.
    fn lines(&self, id: &str, seen: u64) -> Events {
        let seen = seen.to_string();
        let headers: &[_] = if seen == "0" { &[] } else { &[("last-event-id", seen.as_str())] };
        let response = self.ask(&format!("GET /api/runs/{}/lines", id.replace('/', "%2F")), headers);
        assert_eq!((response.status, response.is_chunked), (200, true), "{id}");
        Events { response, text: String::new() }
    }
}

/// A stream of events.
struct Events {
    response: Response,
    text: String,
}

impl Events {
    /// The next event's number and line; None: the server has closed the stream, as it says before.
    fn next(&mut self) -> Option<(u64, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let of = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                if of("event: ") == Some("closed") {
                    return None;
                }
                if let (Some(id), Some(data)) = (of("id: "), of("data: ")) {
                    return Some((id.parse().unwrap(), serde_json::from_str(data).unwrap()));
                }
                continue;
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

    fn all(mut self) -> Vec<(u64, Value)> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// The one member of a line.
fn kind(line: &Value) -> &str {
    line.as_object().unwrap().keys().next().unwrap()
}

/// The seconds that frames cover.
fn seconds(lines: &[(u64, Value)]) -> Vec<u64> {
    lines.iter().filter_map(|(_, line)| line["frame"]["s"].as_u64()).collect()
}

fn start(place: &Place, arguments: &[&str]) -> (Running, Site) {
    let mut running = Running::start(place.command(arguments));
    let site = Site::of(&mut running);
    (running, site)
}

#[test]
fn a_run_is_seen_growing_and_a_stream_that_was_cut_goes_on_where_it_was() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 4));
    let (running, site) = start(&place, &["run", "a.yml", "--page", "--page-listen=127.0.0.1:0"]);
    let boot = std::iter::repeat_with(|| site.boot("/")).find(|boot| boot["mode"] == "run").unwrap();
    assert_eq!(boot["stoppable"], json!(true));
    let id = boot["id"].as_str().unwrap();
    let mut first = site.lines(id, 0);
    let mut lines = Vec::new();
    while seconds(&lines).len() < 2 {
        lines.push(first.next().unwrap());
    }
    drop(first);
    assert_eq!(lines[0].1["head"]["name"], "a");
    assert_eq!(site.runs()[0]["state"], "running");
    // Cut, and resumed.
    let seen = lines.last().unwrap().0;
    lines.extend(site.lines(id, seen).all());
    let answer = running.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let numbers: Vec<u64> = lines.iter().map(|(number, _)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    let seconds = seconds(&lines);
    assert_eq!(seconds, (0..seconds.len() as u64).collect::<Vec<_>>());
    let last: Vec<&str> = lines[lines.len() - 2..].iter().map(|(_, line)| kind(line)).collect();
    assert_eq!(last, ["summary", "end"]);
    assert_eq!(lines.last().unwrap().1["end"]["state"], "complete");
    let mut summary = lines[lines.len() - 2].1["summary"].clone();
    let mut reported = place.reported();
    // As it was named on the command line.
    for summary in [&mut summary, &mut reported] {
        summary["run_folder"].take();
    }
    assert_eq!(summary, reported, "the last summary is the one that the folder gives");
    // Summed up while it went on as well.
    assert!(lines.iter().filter(|(_, line)| kind(line) == "summary").count() >= 2);
}

#[test]
fn only_pages_of_its_own_address_are_answered_and_only_they_stop_the_run() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 60));
    let (mut running, site) = start(&place, &["run", "a.yml", "--page", "--page-listen=127.0.0.1:0"]);
    let boot = std::iter::repeat_with(|| site.boot("/")).find(|boot| boot["mode"] == "run").unwrap();
    let (id, token) = (boot["id"].as_str().unwrap(), boot["token"].as_str().unwrap());
    let port = site.address.rsplit_once(':').unwrap().1;
    assert_eq!(site.status("GET /", &[("host", &format!("localhost:{port}"))]), 200);
    assert_eq!(site.status("GET /", &[("host", &format!("evil.example:{port}"))]), 403);
    assert_eq!(site.status("GET /api/runs", &[("origin", "http://evil.example")]), 403);
    assert_eq!(site.status("GET /runs/..%2F..%2Fetc", &[]), 404);
    assert_eq!(site.status("GET /api/runs/nowhere/lines", &[]), 404);
    let stop = format!("POST /api/runs/{id}/stop");
    assert_eq!(site.status(&stop, &[]), 403);
    assert_eq!(site.status(&stop, &[("x-sonagi-token", "0123")]), 403);
    assert_eq!(site.status(&stop, &[("x-sonagi-token", token), ("origin", "http://evil.example")]), 403);
    assert_eq!(site.status("POST /api/runs/other/stop", &[("x-sonagi-token", token)]), 409);
    let mut lines = site.lines(id, 0);
    while kind(&lines.next().unwrap().1) != "frame" {}
    // Twice, as by an impatient hand: it still ends gracefully.
    assert_eq!(site.status(&stop, &[("x-sonagi-token", token)]), 202);
    assert_eq!(site.status(&stop, &[("x-sonagi-token", token)]), 202);
    running.wait_for("stopping; finishing active users");
    let last = lines.all();
    assert_eq!(last.last().unwrap().1["end"]["state"], "interrupted");
    let answer = running.end();
    assert!(!answer.err.contains("\nstopping at once"), "{}", answer.err);
    assert_eq!(answer.code, Some(130), "{answer:?}");
}

#[test]
fn a_library_shows_a_run_of_another_process_live_and_one_that_was_killed_as_cut_off() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 60));
    std::fs::create_dir(place.path().join("runs")).unwrap();
    let (library, site) = start(&place, &["page", "runs", "--listen=127.0.0.1:0"]);
    assert_eq!(site.boot("/")["mode"], "library");
    assert_eq!(site.runs(), Vec::<Value>::new());
    let running = Running::start(place.command(&["run", "a.yml", "-q"]));
    let row = std::iter::repeat_with(|| site.runs()).find_map(|runs| runs.first().cloned()).unwrap();
    let id = row["id"].as_str().unwrap();
    assert_eq!([&row["state"], &row["name"], &row["language"]], ["running", "a", "artillery"]);
    assert_eq!(site.boot(&format!("/runs/{id}"))["stoppable"], Value::Null, "it is of another process");
    let mut lines = site.lines(id, 0);
    let mut told = Vec::new();
    while seconds(&told).len() < 2 {
        told.push(lines.next().unwrap());
    }
    running.signal(Signal::KILL);
    told.extend(lines.all());
    running.end();
    assert_eq!(told.last().unwrap().1["end"]["state"], "cut_off");
    assert_eq!(site.runs()[0]["state"], "cut_off");
    let boot = site.boot(&format!("/compare?a={id}&b=other"));
    assert_eq!([&boot["mode"], &boot["a"], &boot["b"]], ["compare", id, "other"]);
    library.signal(Signal::INT);
    assert_eq!(library.end().code, Some(0));
    // The same as a file.
    let folder = format!("runs/{id}");
    let answer = place.sonagi(&["report", &folder, "-o", "killed.html"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let of_file = in_file(&place.path().join("killed.html"));
    let frames = |lines: &[Value]| -> Vec<Value> {
        lines.iter().map(|line| line["frame"].clone()).filter(|frame| !frame.is_null()).collect()
    };
    let live: Vec<Value> = told.into_iter().map(|(_, line)| line).collect();
    assert_eq!(frames(&of_file), frames(&live));
}

/// The lines in a page.
pub(crate) fn in_file(path: &Path) -> Vec<Value> {
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("<script id=\"sonagi-data\" type=\"application/gzip;base64\">").unwrap();
    let zipped = rest.split_once("</script>").unwrap().0;
    use base64::Engine as _;
    let zipped = base64::engine::general_purpose::STANDARD.decode(zipped).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(zipped.as_slice()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_run_of_a_matrix_has_its_page_and_a_taken_port_makes_way() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let matrix = script(&service.url, 1);
    place.write("m.yml", &format!("matrix: {{n: [1, 2]}}\n{matrix}"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("--page-listen={}", taken.local_addr().unwrap());
    let arguments = ["run", "m.yml", "--no-folder", "--page", &listen, "--report", "pages/"];
    let (running, site) = start(&place, &arguments);
    assert_ne!(site.address, taken.local_addr().unwrap().to_string());
    let answer = running.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(place.folders().is_empty(), "--no-folder");
    assert!(!answer.out.contains("sonagi-runs-") && !answer.out.contains("run folders"), "{}", answer.out);
    let mut pages: Vec<String> = std::fs::read_dir(place.path().join("pages"))
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_eq!(pages, ["1.html", "2.html"]);
    let lines = in_file(&place.path().join("pages/2.html"));
    let summary = lines.iter().find(|line| kind(line) == "summary").unwrap();
    assert_eq!(summary["summary"]["combination"], json!({"n": 2}));
    assert_eq!(lines.last().unwrap()["end"]["state"], "complete");
}

#[test]
fn a_k6_test_has_its_page_by_k6s_own_names_for_it() {
    let place = Place::new();
    place.write(
        "t.js",
        "import { check, group, sleep } from 'k6';\nimport { Counter, Trend } from 'k6/metrics';\n\
         const sips = new Counter('sips'), took = new Trend('took', true);\n\
         export const options = { vus: 2, duration: '2s', thresholds: { sips: ['count>0'] } };\n\
         export default () => group('morning', () => {\n  sips.add(2); took.add(12.5); check(1, { 'is one': x => x === 1 });\n  \
         sleep(0.2);\n});\n",
    );
    let mut command = place.command(&["run", "t.js"]);
    command.env("K6_WEB_DASHBOARD", "true").env("K6_WEB_DASHBOARD_PORT", "0");
    command.env("K6_WEB_DASHBOARD_EXPORT", "t.html");
    let mut running = Running::start(command);
    let site = Site::of(&mut running);
    let boot = std::iter::repeat_with(|| site.boot("/")).find(|boot| boot["mode"] == "run").unwrap();
    let live = site.lines(boot["id"].as_str().unwrap(), 0).all();
    let answer = running.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!place.path().join("runs").exists(), "k6 leaves no file that nobody named");
    assert_eq!(live[0].1["head"]["language"], "k6");
    let lines = in_file(&place.path().join("t.html"));
    assert_eq!(lines.last().unwrap()["end"]["state"], "complete");
    let names: Vec<&Value> = lines
        .iter()
        .filter_map(|line| line["frame"]["names"].as_array())
        .flatten()
        .map(|name| &name[1])
        .collect();
    let named = |metric: &str| {
        names.iter().find(|name| name["metric"] == metric).unwrap_or_else(|| panic!("{metric}"))
    };
    assert_eq!(named("sips")["kind"], "counter");
    assert_eq!([&named("took")["kind"], &named("took")["unit"]], ["trend", "ms"]);
    assert_eq!(named("checks")["tags"], json!({"check": "is one", "group": "::morning"}));
    assert_eq!(named("iterations")["about"]["en"], "Times the script's function ran to its end.");
    let summary = lines.iter().find(|line| kind(line) == "summary").unwrap();
    assert_eq!(
        summary["summary"]["thresholds"][0]["held"],
        json!(true),
        "{}",
        summary["summary"]["thresholds"]
    );
}

#[test]
fn no_secret_comes_into_a_page() {
    const PLANTED: &str = "planted-5ecret-value";
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let yaml = "
config:
  target: {target}
  variables: {password: PLANTED, apiKey: [PLANTED]}
  phases: [{duration: 1, arrivalRate: 2}]
  http: {defaults: {headers: {Authorization: 'Bearer PLANTED'}}}
scenarios:
  - flow:
      - get: {url: '/nowhere?token=PLANTED&page=1', headers: {x-api-key: PLANTED}, expect: {statusCode: 200}}
      - post: {url: '/auth/login', json: {email: a@b, password: '{{ password }}'}, capture: {json: $.missing, as: id}}
      - log: 'password=PLANTED'
";
    let yaml = yaml.replace("{target}", &service.url).replace("PLANTED", PLANTED);
    place.write("s.yml", &yaml);
    let variables = format!("{{\"secret\": \"{PLANTED}\"}}");
    let answer = place.sonagi(&["run", "s.yml", "-q", "--report", "s.html", "-v", &variables]);
    assert!(answer.code.is_some(), "{answer:?}");
    let k6 = "import http from 'k6/http';\nexport const options = { iterations: 2, vus: 1 };\n\
        export default () => {\n  const a = http.get('TARGET/nowhere?access_token=PLANTED', { headers: { Authorization: 'Bearer PLANTED' } });\n\
        http.get('http://user:PLANTED@127.0.0.1:1/?apikey=PLANTED');\n  console.log('password=PLANTED');\n};\n";
    place.write("s.js", &k6.replace("TARGET", &service.url).replace("PLANTED", PLANTED));
    let token = format!("API_TOKEN={PLANTED}");
    let answer = place.sonagi(&["run", "s.js", "-q", "--report", "k.html", "-e", &token]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for page in ["s.html", "k.html"] {
        let lines = in_file(&place.path().join(page));
        assert!(lines.len() > 3, "{page}");
        for line in lines {
            assert!(!line.to_string().contains(PLANTED), "{page}: {line}");
        }
    }
}

#[test]
fn a_page_names_the_script_and_the_hash_of_its_text() {
    use sha2::Digest as _;
    let place = Place::new();
    place.write("a.yml", &script("http://127.0.0.1:9", 1));
    place.write("token=planted.js", "export default () => {};");
    for (file, shown) in [("a.yml", "a.yml"), ("token=planted.js", "token=***")] {
        place.sonagi(&["run", file, "-q", "--report", "r.html"]);
        let text = std::fs::read(place.path().join(file)).unwrap();
        let hash: String = sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        let lines = in_file(&place.path().join("r.html"));
        assert_eq!(lines[0]["head"]["reproduce"]["script"], format!("{shown} (SHA-256 {hash})"));
    }
}

#[test]
fn a_plot_stands_below_the_summary_in_the_letters_that_the_terminal_has() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 1));
    let plotted = |locale: &str, arguments: &[&str]| {
        let mut command = place.command(arguments);
        let output = command.env("LC_ALL", locale).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let told = plotted("C", &["run", "a.yml", "--plot"]);
    assert!(told.contains("response time: p50 ") && told.contains('#'), "{told}");
    let folder = place.folders()[0].display().to_string();
    assert!(
        told.contains(&format!("see it      sonagi page runs/{}", folder.rsplit('/').next().unwrap())),
        "{told}"
    );
    let told = plotted("en_US.UTF-8", &["report", &folder, "--plot"]);
    assert!(told.contains("rate: peak ") && !told.contains('#'), "{told}");
    assert!(told.chars().any(|letter| ('\u{2801}'..='\u{28ff}').contains(&letter)), "{told}");
}

#[test]
fn each_run_of_a_matrix_has_its_plot() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("m.yml", &format!("matrix: {{n: [1, 2]}}\n{}", script(&service.url, 1)));
    let plots = |arguments: &[&str]| {
        let told = place.sonagi(arguments).out;
        let titles = told.lines().zip(told.lines().skip(1));
        let titles = titles.filter(|(_, below)| below.starts_with("response time: p50 "));
        titles.map(|(title, _)| title.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(plots(&["run", "m.yml", "--plot"]), ["1", "2"]);
    let folder = place.folders()[0].display().to_string();
    assert_eq!(plots(&["report", &folder, "--plot"]), ["1", "2"]);
    // Neither a word nor a plot: that is what was asked for.
    assert_eq!(plots(&["run", "m.yml", "--plot", "--quiet"]), [""; 0]);
}

#[test]
fn a_page_that_is_kept_is_served_until_a_signal_and_its_folder_is_gone_then() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 1));
    let arguments = ["run", "a.yml", "-q", "--no-folder", "--page=keep", "--page-listen=127.0.0.1:0"];
    let (mut running, site) = start(&place, &arguments);
    running.wait_for("until Ctrl-C");
    let id = site.runs()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(site.runs()[0]["verdict"], "pass");
    assert_eq!(site.boot("/")["stoppable"], Value::Null);
    assert_eq!(site.lines(&id, 0).all().last().unwrap().1["end"]["state"], "complete");
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(0));
    assert!(place.folders().is_empty());
}

#[test]
fn a_folder_of_the_first_version_has_its_page() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../measure/tests/it/version1");
    let answer = place.sonagi(&["report", folder, "-o", "old.html"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let lines = in_file(&place.path().join("old.html"));
    let ends: Vec<f64> = lines.iter().filter_map(|line| line["frame"]["at"].as_f64()).collect();
    assert_eq!((ends.last(), &lines.last().unwrap()["end"]["state"]), (Some(&2.011), &json!("complete")));
    let summary = lines.iter().find(|line| kind(line) == "summary").unwrap();
    assert_eq!(summary["summary"]["users"]["completed"], 6);
}
