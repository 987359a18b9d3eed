//! The page as its viewers get it: served while a run goes on, from a library, and as a file.

use crate::site::{Site, kind, script, seconds, start};
use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

#[test]
fn a_run_is_seen_growing_and_a_stream_that_was_cut_goes_on_where_it_was() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 4));
    let (running, site) = start(&place, &["run", "a.yml", "--page", "--page-listen=127.0.0.1:0"]);
    let id = &site.run();
    assert_eq!(site.boot("/")["stoppable"], json!(true));
    let mut first = site.lines(id, "");
    let mut lines = Vec::new();
    while seconds(&lines).len() < 2 {
        lines.push(first.next().unwrap());
    }
    let seen = first.last.clone();
    drop(first);
    assert_eq!(lines[0].1["head"]["name"], "a");
    assert_eq!(site.runs()[0]["state"], "running");
    // Cut, and resumed.
    lines.extend(site.lines(id, &seen).all());
    let answer = running.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let numbers: Vec<u64> = lines.iter().map(|(number, _)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    let seconds = seconds(&lines);
    assert_eq!(seconds, (0..seconds.len() as u64).collect::<Vec<_>>());
    let last: Vec<&str> = lines[lines.len() - 3..].iter().map(|(_, line)| kind(line)).collect();
    assert_eq!(last, ["summary", "diagnosis", "end"]);
    assert_eq!(lines.last().unwrap().1["end"]["state"], "complete");
    let mut summary = lines[lines.len() - 3].1["summary"].clone();
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
    let mut lines = site.lines(id, "");
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
    assert!(pages.len() == 3 && pages[..2] == ["1.html", "2.html"], "{pages:?}");
    assert!(pages[2].ends_with("-m.html"), "the comparison: {pages:?}");
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
    let live = site.lines(&site.run(), "").all();
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
    assert_eq!(site.lines(&id, "").all().last().unwrap().1["end"]["state"], "complete");
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
