//! Services that a search launches: once for all trials, or anew for each.

use super::scripts::k6_script;
use super::*;

/// A service that ends by an error at whatever is larger than 20.
const MORTAL: &str = r"
import { createServer } from 'node:http';
createServer((request, response) => {
  if (Number(request.url.slice(1)) > 20) {
    console.log(`${request.url} is too much`);
    process.exit(7);
  }
  response.end('ok');
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
";

const SCRIPT: &str = "
config:
  target: 'http://127.0.0.1:PORT'
  phases: [{ duration: 60, arrivalRate: 10 }]
  variables: { size: [1] }
  launch: { command: 'exec node mortal.mjs PORT', ready: { line: ready } }
scenarios: [{ flow: [{ get: { url: '/{{ size }}' } }] }]
";

const K6_SCRIPT: &str = "
import http from 'k6/http';
export const options = {
  vus: 1, duration: '1s',
  sonagi: { launch: { command: 'exec node mortal.mjs PORT', ready: { line: 'ready' } } },
};
export default () => {
  http.get(`http://127.0.0.1:PORT/${__ENV.size ?? 1}`);
};
";

struct Search {
    place: Place,
    script: &'static str,
    until: &'static str,
}

impl Search {
    fn of(script: &'static str, text: &str, until: &'static str) -> Search {
        let place = Place::new();
        place.write("mortal.mjs", MORTAL);
        place.write(script, &text.replace("PORT", &free_port().to_string()));
        Search { place, script, until }
    }

    fn run(&self, more: &[&str]) -> Answer {
        let given = ["capacity", self.script, "--until", self.until, "--trial", "300ms", "--json"];
        let range = ["--vary", "size", "--from", "1", "--to", "200", "--shards", "1"];
        self.place.sonagi(&[&given[..], &range, more].concat())
    }

    /// The trial's own summary, from its folder.
    fn reported(&self, trial: &Value) -> Value {
        let folder = self.place.folders().pop().unwrap().join(trial["folder"].as_str().unwrap());
        let answer = self.place.sonagi(&["report", folder.to_str().unwrap(), "--json"]);
        answer.json()
    }

    /// A service of all trials that ends in one of them is the end of the search, which says so.
    fn assert_told(&self) {
        let answer = self.run(&[]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        let found = answer.json();
        assert_eq!(found["end"], "not_recovered", "{answer:?}");
        let trouble = found["trouble"].as_str().unwrap();
        let told = "the service ended in the trial at size 64: exit status: 7; what it printed is in ";
        assert!(trouble.starts_with(told) && trouble.contains("hint: `--fresh`"), "{trouble}");
        let log = self.place.folders().pop().unwrap().join("service.log");
        assert_eq!(fs::read_to_string(log).unwrap(), "ready\n/64 is too much\n");
        let trials = found["trials"].as_array().unwrap();
        assert_eq!(trials.last().unwrap()["evidence"], "the service ended: exit status: 7");
        let service = &self.reported(&trials[0])["service"];
        assert!(service["resident_peak_mb"].as_f64().unwrap() > 10.0, "{service}");
        assert_eq!(service["ended"], Value::Null);
        assert_eq!(self.reported(trials.last().unwrap())["service"]["ended"], "exit status: 7");
    }

    /// One that each trial starts anew is there for the next.
    fn assert_goes_on(&self) {
        let answer = self.run(&["--fresh"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let found = answer.json();
        let bound = |name: &str| found["found"][name]["load"].as_u64();
        assert_eq!((bound("lower"), bound("upper")), (Some(20), Some(21)), "{answer:?}");
        for trial in found["trials"].as_array().unwrap() {
            let service = &self.reported(trial)["service"];
            assert!(service["resident_peak_mb"].as_f64().is_some(), "{trial}: {service}");
        }
    }
}

#[test]
fn a_service_that_ends_in_a_search_is_told_and_one_that_is_fresh_for_each_trial_is_not_missed() {
    let search = Search::of("mortal.yml", SCRIPT, "http.codes.200 > 0");
    search.assert_told();
    search.assert_goes_on();
}

#[test]
fn a_k6_scripts_service_that_ends_in_a_search_is_told_and_counted_as_well() {
    let search = Search::of("mortal.js", K6_SCRIPT, "http_req_failed.rate < 0.01");
    search.assert_told();
    search.assert_goes_on();
}

/// A search in each of both languages that goes on for long, whose service has a daemon.
struct LongSearch {
    place: Place,
    port: u16,
    script: &'static str,
    until: &'static str,
}

impl LongSearch {
    fn of_both() -> [LongSearch; 2] {
        ["long.yml", "long.js"].map(|script| {
            let (place, port) = (Place::new(), free_port());
            let (command, after) = (format!("{WITH_DAEMON}{}", serve(port)), "echo cleaned > after");
            let (text, until) = if script == "long.js" {
                let ready = format!("port {port}");
                let keys = [("command", command.as_str()), ("ready", &*ready), ("after", after)];
                let launch = keys.map(|(key, value)| format!("{key}: {}", Value::from(value)));
                (k6_script(port, &launch.join(", ")), "http_req_failed.rate < 0.9")
            } else {
                let launch = [format!("command: {command}"), format!("after: {after}")];
                let launch = launch.each_ref().map(String::as_str);
                (self::script(port, 60, &launch, "matrix: { size: [1] }\n"), "http.codes.200 > 0")
            };
            place.write(script, &text);
            LongSearch { place, port, script, until }
        })
    }

    /// Whatever the size is, it holds: the climb alone is eleven trials.
    fn command(&self, more: &[&str]) -> std::process::Command {
        let given = ["capacity", self.script, "--until", self.until, "--shards", "1"];
        let range = ["--vary", "size", "--from", "1", "--to", "1000000"];
        self.place.command(&[&given[..], &range, more].concat())
    }

    /// One that has a trial on disk, and others before it.
    fn under_way(&self) -> Running {
        let mut running = Running::start(self.command(&["--trial", "3s"]));
        // A trial is on disk before the next one begins, and not yet when it is told.
        (0..2).for_each(|_| running.wait_for(": held"));
        assert!(is_open(self.port));
        running
    }

    fn is_gone(&self) {
        is_gone(&self.place, self.port, &[]);
    }
}

#[test]
fn a_budget_shorter_than_one_trial_is_refused_before_the_service_is_started() {
    // Trials of k6 scripts are of a second at least.
    for (search, trial) in LongSearch::of_both().iter().zip(["0.6", "1"]) {
        let answer = search.command(&["--trial", "600ms", "--budget", "500ms"]).output().unwrap();
        let answer = Answer::from(answer);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{answer:?}");
        let problem = format!("error: --budget: it is shorter than one trial ({trial} s); got 0.5 s\nhint: ");
        assert!(answer.err.contains(&problem), "{answer:?}");
        assert!(search.place.folders().is_empty() && written(&search.place, "first").is_none());
    }
}

#[test]
fn a_search_whose_budget_is_used_up_leaves_nothing_of_its_service() {
    for search in LongSearch::of_both() {
        let answer = search.command(&["--trial", "1s", "--budget", "2500ms", "--json"]).output().unwrap();
        let answer = Answer::from(answer);
        assert_eq!(answer.code, Some(3), "{answer:?}");
        let found = answer.json();
        assert_eq!(found["end"], "budget", "{answer:?}");
        assert!(!found["trials"].as_array().unwrap().is_empty(), "{answer:?}");
        assert!(!is_open(search.port), "nobody listens any more");
        search.is_gone();
    }
}

#[test]
fn ctrl_c_ends_a_search_and_its_service() {
    for search in LongSearch::of_both() {
        let running = search.under_way();
        running.signal(Signal::INT);
        let answer = running.end();
        assert_eq!(answer.code, Some(130), "{answer:?}");
        let told = "capacity    not found: the search was interrupted\n            so far: size ";
        assert!(answer.out.starts_with(told), "{answer:?}");
        assert!(!is_open(search.port), "nobody listens any more");
        search.is_gone();
    }
}

#[test]
fn whoever_kills_a_search_leaves_no_process_and_no_port_of_its_service() {
    for search in LongSearch::of_both() {
        let running = search.under_way();
        let keeper = children_of(running.id());
        assert_eq!(keeper.len(), 1, "{keeper:?}");
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        search.is_gone();
        wait_until("its keeper ends", || !is_alive(keeper[0]));
        let folder = search.place.folders().remove(0);
        let answer = search.place.sonagi(&["report", folder.to_str().unwrap()]);
        let told = "capacity    not found: the search was cut off\n            so far: size ";
        assert!(answer.code == Some(0) && answer.out.starts_with(told), "{answer:?}");
    }
}
