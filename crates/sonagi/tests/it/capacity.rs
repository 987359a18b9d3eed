//! `sonagi capacity` against a target that says no beyond a size: whatever this machine does meanwhile, the size is the
//! truth.

use crate::site::start;
use crate::support::{Answer, Place, Running, Service};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// The largest size that is answered with 200.
const TRUTH: u64 = 37;

/// Starts the target, whose threads end with the test process.
fn target() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(10_000) {
            let stream = stream.unwrap();
            std::thread::spawn(move || answer(stream));
        }
    });
    url
}

/// Answers `GET /SIZE`, request by request.
fn answer(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut size = None;
    while let Some(Ok(line)) = lines.next() {
        if let Some(path) = line.strip_prefix("GET /") {
            size = path.split(' ').next().and_then(|size| size.parse::<u64>().ok());
        } else if line.is_empty() {
            let status = if size.is_some_and(|size| size <= TRUTH) { "200 OK" } else { "503 Full" };
            if write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    }
}

const SCRIPT: &str = "
config:
  phases: [{ duration: 60, arrivalRate: 10 }]
  variables: { size: [1] }
  ensure: { thresholds: [{ http.response_time.p99: 0.000001 }] }
scenarios:
  - flow:
      - get: { url: '/{{ size }}' }
";

const UNTIL: &str = "http.codes.503 == 0 and http.codes.200 > 0";

struct Lab {
    place: Place,
    target: String,
}

impl Lab {
    fn new() -> Lab {
        let place = Place::new();
        place.write("size.yml", SCRIPT);
        Lab { place, target: target() }
    }

    fn search(&self, arguments: &[&str]) -> Answer {
        let given = ["capacity", "size.yml", "--target", &self.target, "--until", UNTIL, "--trial", "300ms"];
        self.place.sonagi(&[&given[..], arguments].concat())
    }
}

#[test]
fn a_variable_is_searched_to_the_unit_and_the_folder_says_it_again() {
    let lab = Lab::new();
    let range = ["--vary", "size", "--from", "1", "--to", "200", "--fresh", "--json"];
    let answer = lab.search(&range);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let found = answer.json();
    let bound = |name: &str| (found["found"][name]["load"].clone(), found["found"][name]["agreeing"].clone());
    assert_eq!(bound("lower"), (Value::from(TRUTH), Value::from(3)), "{answer:?}");
    assert_eq!(bound("upper"), (Value::from(TRUTH + 1), Value::from(2)), "{answer:?}");
    let trials = found["trials"].as_array().unwrap();
    for trial in trials {
        let is_small = trial["load"].as_u64().unwrap() <= TRUTH;
        // A trial that missed while other virtual machines had this one's time is repeated.
        let outcomes: &[&str] = if is_small { &["held"] } else { &["missed", "stolen"] };
        assert!(outcomes.contains(&trial["outcome"].as_str().unwrap()), "{trial}");
    }
    let [folder] = &lab.place.folders()[..] else { panic!("one folder") };
    assert!(folder.to_str().unwrap().ends_with("-size-capacity"), "{folder:?}");
    let first = folder.join(trials[0]["folder"].as_str().unwrap());
    assert_eq!(lab.place.sonagi(&["report", first.to_str().unwrap()]).code, Some(0));
    let again = lab.place.sonagi(&["report", folder.to_str().unwrap()]);
    let verdict = "capacity    size 37 holds (confirmed 3 of 3), size 38 does not (failed 2 of 2)";
    assert!(again.out.starts_with(verdict), "{again:?}");
    assert_eq!(again.code, Some(0));
    let listed = lab.place.sonagi(&["report", "runs"]);
    assert!(listed.out.starts_with("capacity "), "{listed:?}");
    let page = lab.place.sonagi(&["report", folder.to_str().unwrap(), "-o", "size.html"]);
    assert!(page.code == Some(0) && page.err.contains("page        size.html"), "{page:?}");
    let page = std::fs::read_to_string(lab.place.path().join("size.html")).unwrap();
    assert!(page.contains("connect-src 'none'") && page.contains(r#""name":"size 37""#), "{}", page.len());
    for other in [&["-o", "size.json"][..], &["--csv"], &["--plot"], &["--summary", "artillery"]] {
        let refused = lab.place.sonagi(&[&["report", folder.to_str().unwrap()], other].concat());
        assert!(refused.code == Some(4) && refused.err.contains("hint: "), "{refused:?}");
    }
}

#[test]
fn a_search_is_seen_on_its_page_while_it_goes_on_and_written_when_it_is_over() {
    let lab = Lab::new();
    let given = ["capacity", "size.yml", "--target", &lab.target, "--until", UNTIL, "--trial", "300ms"];
    let range = ["--vary", "size", "--from", "1", "--to", "200", "--fresh"];
    let pages = ["--page-listen=127.0.0.1:0", "--report", "size.html"];
    let (running, site) = start(&lab.place, &[&given[..], &range, &pages].concat());
    let [folder] = &lab.place.folders()[..] else { panic!("one folder") };
    let name = folder.file_name().unwrap().to_str().unwrap();
    let first = site.boot(&format!("/capacities/{name}"));
    assert_eq!((&first["mode"], &first["mood"]), (&"capacity".into(), &"running".into()));
    let mut last = serde_json::Value::Null;
    for _ in 0..600 {
        last = serde_json::from_str(&site.text(&format!("/api/capacities/{name}"))).unwrap();
        if last["is_over"] == true {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!((&last["lower"]["load"], &last["mood"]), (&TRUTH.into(), &"good".into()), "{last}");
    let listed: serde_json::Value = serde_json::from_str(&site.text("/api/runs")).unwrap();
    assert_eq!(listed["experiments"], serde_json::json!([{ "name": name, "kind": "capacities" }]));
    assert_eq!(listed["runs"].as_array().unwrap().len(), last["trials"].as_array().unwrap().len());
    for other in ["nothing", "..", ""] {
        assert_eq!(site.status(&format!("GET /capacities/{other}"), &[]), 404, "{other}");
    }
    let answer = running.end();
    assert!(answer.code == Some(0) && answer.err.contains("report      size.html"), "{answer:?}");
    assert!(lab.place.path().join("size.html").is_file());
}

#[test]
fn a_matrix_axis_can_be_searched_and_a_range_that_ends_is_told() {
    let lab = Lab::new();
    let script = SCRIPT
        .replace("  variables: { size: [1] }\n", "")
        .replace("scenarios:", "matrix: { size: [1, 2] }\nscenarios:");
    lab.place.write("size.yml", &script);
    lab.place.write("size.yml", &format!("{script}repeat: 5\n"));
    let answer = lab.search(&["--vary", "size", "--from", "1", "--to", "30"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(
        answer.err.contains("notice: the script's `repeat` and `compare` are not looked at"),
        "{answer:?}"
    );
    assert!(answer.err.contains(" for 100 ms: held"), "{answer:?}");
    let verdict = "capacity    at least size 30: size 30 holds (confirmed 3 of 3), and the range\n            ends there\n";
    assert!(answer.out.starts_with(verdict), "{answer:?}");
    let answer = lab.search(&["--vary", "size", "--from", "100", "--to", "300", "--fresh"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.out.starts_with("capacity    below size 100: the lowest load"), "{answer:?}");
}

#[test]
fn trials_of_a_script_with_a_length_of_its_own_have_that_length_and_are_full() {
    let lab = Lab::new();
    let phases = "[{ duration: 0.2, arrivalRate: 20 }, { duration: 0.1, arrivalRate: 30 }]";
    lab.place.write("size.yml", &SCRIPT.replace("[{ duration: 60, arrivalRate: 10 }]", phases));
    let search = |arguments: &[&str]| {
        let given = ["capacity", "size.yml", "--target", &lab.target, "--until", UNTIL, "--vary", "size"];
        lab.place.sonagi(&[&given[..], arguments].concat())
    };
    let answer = search(&["--from", "36", "--to", "40", "--trial", "20s", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let told =
        "notice: the script's phases say how long a trial is: users come for 300 ms, and it lasts until ";
    let is_held = |line: &str| line.contains(" over after ") && line.contains(": held");
    assert!(answer.err.contains(told) && answer.err.lines().any(is_held), "{answer:?}");
    let found = answer.json();
    assert_eq!((&found["found"]["lower"]["load"], &found["goal"]["final_s"]), (&TRUTH.into(), &0.3.into()));
    for trial in found["trials"].as_array().unwrap() {
        assert_eq!((&trial["seconds"], &trial["is_full"]), (&0.3.into(), &true.into()), "{trial}");
    }
    let refused = search(&["--from", "36", "--to", "40", "--trial", "100ms", "--budget", "200ms"]);
    let problem = "error: --budget: it is shorter than one trial (0.3 s); got 0.2 s\nhint: ";
    assert!(refused.code == Some(2) && refused.err.starts_with(problem), "{refused:?}");
}

#[test]
fn the_rate_of_a_k6_script_is_searched_by_its_own_metrics() {
    let lab = Lab::new();
    let script = format!(
        "import http from 'k6/http';\nexport const options = {{ vus: 1, iterations: 1, thresholds: {{ checks: ['rate>2'] }} }};\n\
         export default () => {{ http.get('{}/' + (__ENV.SIZE || 1)); }};\n",
        lab.target
    );
    lab.place.write("size.js", &script);
    let sonagi = |arguments: &[&str]| {
        let given = ["capacity", "size.js", "--until", "http_req_failed.rate < 0.5", "--trial", "300ms"];
        lab.place.sonagi(&[&given[..], arguments].concat())
    };
    let found = sonagi(&["--vary", "SIZE", "--from", "1", "--to", "60", "--json"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert_eq!(found.json()["found"]["lower"]["load"], TRUTH, "{found:?}");
    // Its executors go on for a second at least.
    for trial in found.json()["trials"].as_array().unwrap() {
        assert_eq!((&trial["seconds"], &trial["is_full"]), (&1.0.into(), &true.into()), "{trial}");
    }
    let rate = sonagi(&["--from", "5", "--to", "6", "--env", "SIZE=3"]);
    assert!(rate.out.starts_with("capacity    at least 6/s: 6/s holds (confirmed 3 of 3)"), "{rate:?}");
}

#[test]
fn a_search_that_has_no_descriptors_for_its_top_says_so_first_and_ends_where_they_do() {
    let lab = Lab::new();
    // Users that begin anew at once would open thousands of connections.
    let asks = "- get: { url: '/{{ size }}' }";
    lab.place.write("size.yml", &SCRIPT.replace(asks, &format!("{asks}\n      - think: 0.2")));
    // Some are the generator's own: 48, and eight for each of its threads.
    let threads = std::thread::available_parallelism().unwrap().get();
    let files = 48 + 8 * threads + 56;
    let sonagi = env!("CARGO_BIN_EXE_sonagi");
    let command = format!(
        "ulimit -n {files}; exec {sonagi} capacity size.yml --target {} --until '{UNTIL}' --trial 300ms --vary users \
         --from 1 --to 100 --json",
        lab.target
    );
    let mut shell = std::process::Command::new("sh");
    let answer = Answer::from(shell.args(["-c", &command]).current_dir(lab.place.path()).output().unwrap());
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let told = format!(
        "warning: a trial at 100 users has at least 100 files open, and this process may have {files}: no load above 56 \
         users is tried\nhint: raise the hard limit"
    );
    assert!(answer.err.contains(&told), "{answer:?}");
    let found = answer.json();
    assert_eq!(found["end"], "generator", "{answer:?}");
    let preflight = &found["preflight"];
    assert_eq!(
        (&preflight["highest"], &preflight["findings"][0]["limit"]),
        (&56.into(), &"descriptors".into())
    );
    for trial in found["trials"].as_array().unwrap() {
        assert!(trial["load"].as_u64().unwrap() <= 56, "{trial}");
    }
}

#[test]
fn a_budget_that_is_too_short_leaves_what_is_known() {
    let lab = Lab::new();
    let answer = lab.search(&["--vary", "size", "--from", "1", "--to", "30", "--budget", "301ms"]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let text = "capacity    not found: the budget of 301 ms is used up\n            so far: size ";
    assert!(answer.out.starts_with(text) && answer.out.contains(" held (unconfirmed)\n"), "{answer:?}");
}

#[test]
fn users_that_stay_longer_than_the_budget_are_stopped_with_it() {
    let lab = Lab::new();
    let stays = "- { loop: [{ get: { url: '/{{ size }}' } }], count: 10000, pace: 0.1 }";
    lab.place.write("size.yml", &SCRIPT.replace("- get: { url: '/{{ size }}' }", stays));
    let answer = lab.search(&["--vary", "users", "--from", "1", "--to", "2", "--budget", "2s", "--json"]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let found = answer.json();
    assert_eq!(found["end"], "budget");
    let trouble = found["trouble"].as_str().unwrap();
    let told = "the trial at 1 user was stopped when the budget was used up: its users had stayed ";
    assert!(trouble.starts_with(told), "{trouble}");
    // Its users would have stayed for a quarter of an hour.
    assert!(found["used_s"].as_f64().unwrap() < 60.0, "{}", found["used_s"]);
}

#[test]
fn everything_that_is_wrong_is_told_before_the_first_trial() {
    let lab = Lab::new();
    let told = |arguments: &[&str]| {
        let answer =
            lab.place.sonagi(&[&["capacity", "size.yml", "--target", &lab.target], arguments].concat());
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(lab.place.folders().is_empty());
        answer.err
    };
    has_in_order(
        &told(&["--until", "http.respons_time.p99 < 5", "--from", "9", "--to", "3", "--width", "0"]),
        &["error: --to: ", "error: --width: ", "--until: "],
    );
    has_in_order(
        &told(&["--until", UNTIL, "--vary", "sise", "--from", "1", "--to", "9"]),
        &["--vary: the script has no variable or matrix axis \"sise\"\n  hint: did you mean `size`?"],
    );
    lab.place.write("one.js", "export default () => {};\n");
    let given = [
        "capacity",
        "one.js",
        "--until",
        "checks.rate > 0.5",
        "-t",
        "http://127.0.0.1:1",
        "--fresh",
        "--solo",
    ];
    let answer = lab.place.sonagi(&given);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    has_in_order(
        &answer.err,
        &[
            "--target: it changes YAML scripts, and nothing of a k6 script\nhint: --env NAME=VALUE",
            "--solo: it changes YAML scripts",
            "--fresh: the script has no service that is started anew\nhint: `launch`",
        ],
    );
    lab.place.write(
        "two.js",
        "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s' }, \
         b: { executor: 'constant-vus', vus: 1, duration: '1s' } } };\nexport default () => {};\n",
    );
    let answer = lab.place.sonagi(&["capacity", "two.js", "--until", "http_req_duratoin.p95 < 5"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    has_in_order(
        &answer.err,
        &[
            "no run of the script measures `http_req_duratoin.p95`\nhint: did you mean `http_req_duration.p95`?",
            "the script has 2 scenarios (a, b), and the load of one is varied\nhint: choose it: --scenario-name a",
        ],
    );
}

/// A text has these parts, in this order.
#[track_caller]
fn has_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not in {text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn ctrl_c_leaves_what_is_known_as_unconfirmed() {
    let lab = Lab::new();
    let given = ["capacity", "size.yml", "--target", &lab.target, "--until", UNTIL, "--trial", "60s"];
    let range = ["--vary", "size", "--from", "1", "--to", "200"];
    let mut running = Running::start(lab.place.command(&[&given[..], &range].concat()));
    // A first trial of twenty seconds, of which nobody waits for the end.
    while lab.place.folders().is_empty() {
        std::thread::yield_now();
    }
    running.signal(Signal::INT);
    running.wait_for("stopping");
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let verdict = "capacity    not found: the search was interrupted\n            nothing is known yet\n";
    assert!(answer.out.starts_with(verdict), "{answer:?}");
}

/// Eight people who talk in groups, over WebSockets.
const GROUPS: &str = r#"
config:
  phases: [{ duration: 60, users: 8 }]
  variables: { messages: 4, people: 4 }
  delivery: { drain: 0.3 }
  ws:
    url: /ws
    subscribe:
      - send: { type: join, room: "location:{{ $room }}" }
      - wait: { match: { json: $.type, value: joined } }
    publish: { send: { type: send, room: "location:{{ $room }}", content: "{{ $message }}" } }
scenarios:
  - engine: ws
    flow:
      - subscribe: "group-{{ $quotient($user, people) }}"
      - think: 0.2
      - loop:
          - send: { mark: "{{ $stamp }}" }
            to: "group-{{ $quotient($user, people) }}"
        pace: "{{ messages }}/s"
"#;

/// The trials of a search that ends at the top of its range, as the service holds all of it, each with its ledger.
/// Those at the top are of full length.
fn in_groups(varied: &str, (from, to): (u64, u64)) -> Vec<(Value, Value)> {
    let place = Place::new();
    place.write("groups.yml", GROUPS);
    let service = Service::start(&place, &[]);
    let given = ["capacity", "groups.yml", "--target", &service.url, "--until", "delivery.ratio >= 0.5"];
    let (lowest, highest) = (from.to_string(), to.to_string());
    let range = ["--vary", varied, "--from", &lowest, "--to", &highest];
    let answer = place.sonagi(&[&given[..], &range, &["--trial", "1200ms", "--json"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let found = answer.json();
    let known = (&found["end"], &found["found"]["lower"]["load"]);
    assert_eq!(known, (&"at_least".into(), &to.into()), "{answer:?}");
    let [folder] = &place.folders()[..] else { panic!("one folder") };
    let ledger = |trial: &Value| {
        let folder = folder.join(trial["folder"].as_str().unwrap());
        place.sonagi(&["report", folder.to_str().unwrap(), "--json"]).json()["delivery"].clone()
    };
    found["trials"].as_array().unwrap().iter().map(|trial| (trial.clone(), ledger(trial))).collect()
}

#[test]
fn messages_a_second_are_searched_as_the_rate_of_a_pace() {
    for (trial, ledger) in in_groups("messages", (10, 40)) {
        let (load, seconds) = (trial["load"].as_f64().unwrap(), trial["seconds"].as_f64().unwrap());
        // Of a full trial, a sixth goes by before anybody talks; of a short one, nobody can tell on a busy machine.
        let most = 8.0 * (load * seconds + 1.0);
        let least = if trial["is_full"] == true { most / 2.0 } else { 0.0 };
        let sent = ledger["messages"].as_f64().unwrap();
        assert!((least..=most).contains(&sent), "{least} to {most} messages: {ledger}, {trial}");
    }
}

#[test]
fn a_rooms_size_is_searched_as_a_variable() {
    for (trial, ledger) in in_groups("people", (2, 8)) {
        let (load, owed) = (trial["load"].as_f64().unwrap(), ledger["owed"].as_f64().unwrap());
        // Each message is owed to everybody in its room, except to those who were just coming in.
        let most = load * ledger["messages"].as_f64().unwrap();
        let least = if trial["is_full"] == true { most / 2.0 } else { 0.0 };
        assert!((least..=most).contains(&owed), "{least} to {most} copies: {ledger}, {trial}");
    }
}
