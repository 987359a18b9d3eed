//! What scripts of both languages say of a service, and what is told of mistakes in it.

use super::*;

#[test]
fn problems_of_a_launch_are_told_by_check_with_their_places() {
    let place = Place::new();
    let launch = [
        "comand: node",
        "stop: { signal: SIGNOPE }",
        "limits: { memory: lots }",
        "host: t2.mikro",
        "env: { A: \"{{ nobody }}\" }",
    ];
    place.write("bad.yml", &script(3000, 1, &launch[..4], ""));
    let answer = place.sonagi(&["check", "bad.yml"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for expected in [
        "bad.yml:5:5: unknown key \"comand\" in launch\n  hint: did you mean \"command\"?\n",
        "bad.yml:6:21: signal wants one of SIGTERM, ",
        "bad.yml:7:23: memory wants a size of at least 1 MB, as 1 GB or 512 MiB; got \"lots\"\n  hint: e.g. `memory: 1 GB`\n",
        "bad.yml:8:11: host wants the name of a known machine; got \"t2.mikro\"\n  hint: did you mean \"t2.micro\"? \
         Known: ",
    ] {
        assert!(answer.out.contains(expected), "{expected}\n{}", answer.out);
    }
    place.write("bad.yml", &script(3000, 1, &["command: node", launch[4]], "serve: true\n"));
    let answer = place.sonagi(&["check", "bad.yml"]);
    assert!(answer.out.contains("nobody") && answer.out.contains("bad.yml:6:"), "{}", answer.out);
    place.write("bad.yml", &script(3000, 1, &["command: node"], "serve: true\n"));
    let answer = place.sonagi(&["check", "bad.yml"]);
    assert!(answer.out.contains("a run has one service: `serve` starts another one"), "{}", answer.out);
}

/// A k6 script whose users ask the service on this port whether it is well.
pub(super) fn k6_script(port: u16, launch: &str) -> String {
    format!(
        "import http from 'k6/http';\n\
         import {{ check }} from 'k6';\n\
         export const options = {{ iterations: 5, sonagi: {{ launch: {{ {launch} }} }} }};\n\
         export default () => {{\n\
           const answer = http.get('http://127.0.0.1:{port}/healthz');\n\
           check(answer, {{ 'is far': (it) => it.status === 200 && it.timings.duration >= 40 }});\n\
         }};\n"
    )
}

#[test]
fn a_k6_script_launches_its_service_by_the_same_keys() {
    let (place, port) = (Place::new(), free_port());
    let launch = format!(
        "command: 'echo $$ > first; {}', ready: 'http://127.0.0.1:{port}/healthz', limits: {{ network: {{ latency: \
         '40ms' }} }}, after: 'echo cleaned > after'",
        serve(port)
    );
    place.write("far.js", &k6_script(port, &launch));
    let answer = place.sonagi(&["run", "far.js", "--runs", "runs"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("checks_succeeded...: 100.00%"), "{}", answer.out);
    assert!(!is_alive(written(&place, "first").unwrap()) && place.path().join("after").exists());
    let reported = place.reported();
    assert!(reported["service"]["resident_peak_mb"].as_f64().unwrap() > 1.0, "{}", reported["service"]);
    let log = fs::read_to_string(place.folders()[0].join("service.log")).unwrap();
    assert!(log.starts_with(&format!("listening on http://127.0.0.1:{port}\n")), "{log}");
}

#[test]
fn mistakes_in_a_k6_scripts_launch_are_told_all_at_once() {
    let place = Place::new();
    place.write("bad.js", &k6_script(1, "comand: 'x', limits: { cpu: 'much' }"));
    for command in ["check", "run"] {
        let answer = place.sonagi(&[command, "bad.js"]);
        let told = format!("{}{}", answer.out, answer.err);
        for expected in [
            "sonagi.launch.comand: unknown key",
            "did you mean",
            "sonagi.launch.limits.cpu: cpu wants a number of cores",
        ] {
            assert!(told.contains(expected), "{command}: {expected}\n{told}");
        }
        assert_ne!(answer.code, Some(0), "{command}");
    }
    place.write("bad.js", &k6_script(1, "command: 'echo bye; exit 5', ready: 'port 1'"));
    let answer = place.sonagi(&["run", "bad.js"]);
    assert!(answer.err.contains("ended before it was ready, with exit status: 5"), "{answer:?}");
    assert_ne!(answer.code, Some(0));
}

#[test]
fn a_search_for_a_capacity_launches_a_k6_scripts_service_once_or_anew_for_each_trial() {
    let (place, port) = (Place::new(), free_port());
    let launch = format!(
        "command: 'echo started >> said; {}', ready: 'http://127.0.0.1:{port}/healthz', after: 'echo ended >> said'",
        serve(port)
    );
    place.write("well.js", &k6_script(port, &launch).replace("iterations: 5", "vus: 1, duration: '1s'"));
    let given = ["capacity", "well.js", "--until", "checks.rate < 2 and http_req_failed.rate < 0.9"];
    let range = ["--vary", "users", "--from", "1", "--to", "2", "--trial", "300ms", "-q"];
    let search = |more: &[&str]| {
        let _ = fs::remove_file(place.path().join("said"));
        let answer = place.sonagi(&[&given[..], &range, more].concat());
        // On a busy machine a generator may fall behind; the service is started and ended all the same.
        assert!(matches!(answer.code, Some(0 | 3)), "{answer:?}");
        assert!(!is_open(port));
        let said = fs::read_to_string(place.path().join("said")).unwrap();
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(search(&[]), ["started", "ended"]);
    let anew = search(&["--fresh"]);
    assert!(anew.len() > 4 && anew.chunks(2).all(|turn| turn == ["started", "ended"]), "{anew:?}");
}
