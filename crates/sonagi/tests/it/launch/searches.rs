//! Services that a search launches: once for all trials, or anew for each.

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
