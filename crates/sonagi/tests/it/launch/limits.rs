//! What a launched service may use, and the network in front of it.

use super::*;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::process::{Command, Stdio};

#[test]
fn open_files_are_limited_without_any_right() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: ulimit -n > files; ulimit -Hn >> files; {}", serve(port));
    place.write("files.yml", &script(port, 1, &[&command, "limits: { nofile: 77 }"], ""));
    let answer = place.sonagi(&["run", "files.yml"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(place.path().join("files")).unwrap(), "77\n77\n");
}

/// A member of a file with a name and a number in each line.
fn member(folder: &Path, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[test]
fn cpu_is_limited_for_all_processes_of_a_service_together() {
    let (place, port) = (Place::new(), free_port());
    let command =
        format!("command: echo $$ > first; (while :; do :; done) & (while :; do :; done) & {}", serve(port));
    place
        .write("busy.yml", &script(port, 60, &[&command, "limits: { cpu: 0.3 }", "stop: { grace: 1s }"], ""));
    let mut running = Running::start(place.command(&["run", "busy.yml", "--json"]));
    wait_until("the service or a refusal", || is_open(port) || !is_alive(running.id()));
    if !is_open(port) {
        assert!(is_refused(&running.end()), "it ended early");
        return;
    }
    running.wait_for("0:05/");
    let groups = groups_of(written(&place, "first").unwrap());
    let (_, cpu) = groups
        .iter()
        .find(|(controllers, _)| controllers.is_empty() || controllers.split(',').any(|one| one == "cpu"))
        .unwrap_or_else(|| panic!("{groups:?}"));
    let quota = fs::read_to_string(cpu.join("cpu.max")).or_else(|_| {
        fs::read_to_string(cpu.join("cpu.cfs_quota_us")).map(|quota| format!("{} 100000\n", quota.trim()))
    });
    assert_eq!(quota.unwrap(), "30000 100000\n");
    wait_until("it is throttled", || member(cpu, "cpu.stat", "nr_throttled ").unwrap() > 0);
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let service = &answer.json()["service"];
    // Its quota is by the tenth of a second, and a look may fall on either side of one.
    let busiest = service["busiest_cores"].as_f64().unwrap();
    assert!(busiest <= 0.45, "{service}");
    assert!(groups.iter().all(|(_, folder)| !folder.exists()), "no limit stays");
}

/// What this binary answers where there can be no control group, be it ours or one of a user's systemd: whoever may
/// make one does not see where.
fn without_groups(place: &Place, arguments: &[&str]) -> Answer {
    let hides = "mount -t tmpfs -o ro none /sys/fs/cgroup && exec \"$0\" \"$@\"";
    let tried = Command::new("unshare").args(["--mount", "true"]).output();
    let mut command = if tried.is_ok_and(|tried| tried.status.success()) {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", hides, SONAGI]);
        command
    } else {
        Command::new(SONAGI)
    };
    command.args(arguments).current_dir(place.path()).stdin(Stdio::null());
    command.env("XDG_RUNTIME_DIR", "/nowhere").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    Answer::from(command.output().unwrap())
}

#[test]
fn without_a_control_group_whole_cores_are_held_by_affinity_and_fractions_are_refused() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: grep Cpus_allowed_list /proc/self/status > cores; {}", serve(port));
    place.write("whole.yml", &script(port, 1, &[&command, "limits: { cpu: 1 }"], ""));
    let answer = without_groups(&place, &["run", "whole.yml"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let allowed = sched_getaffinity(None).unwrap();
    let last = (0..CpuSet::MAX_CPU).rfind(|core| allowed.is_set(*core)).unwrap();
    let cores = fs::read_to_string(place.path().join("cores")).unwrap();
    assert_eq!(cores, format!("Cpus_allowed_list:\t{last}\n"));
    let notice = format!(
        "notice: `cpu: 1` is held by affinity to core {last}, as there is no control group; other processes \
         may use that core too\n"
    );
    assert_eq!(answer.err.contains(&notice), allowed.count() > 1, "{answer:?}");

    fs::remove_file(place.path().join("cores")).unwrap();
    place.write("half.yml", &script(port, 1, &[&command, "limits: { cpu: 0.5 }"], ""));
    let answer = without_groups(&place, &["run", "half.yml"]);
    assert!(is_refused(&answer), "{answer:?}");
    let hint = "whole cores alone need none: `cpu: 1` is then held by CPU affinity";
    assert!(answer.err.contains(hint), "{answer:?}");
    assert!(!place.path().join("cores").exists(), "nothing was started");
}

#[test]
fn memory_beyond_the_limit_is_killed_and_told() {
    let (place, port) = (Place::new(), free_port());
    place.write(
        "eats.cjs",
        &format!(
            "require('node:http').createServer((_, answer) => answer.end()).listen({port}, '127.0.0.1');\n\
             const eaten = [];\n\
             setTimeout(() => setInterval(() => eaten.push(Buffer.alloc(16 << 20, 1)), 20), 1500);\n"
        ),
    );
    place.write(
        "eats.yml",
        &script(port, 5, &["command: exec node eats.cjs", "limits: { memory: 200 MB }"], ""),
    );
    let answer = place.sonagi(&["run", "eats.yml", "--json"]);
    if is_refused(&answer) {
        return;
    }
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let run = answer.json();
    let told = "signal: 9 (SIGKILL), killed by the memory limit";
    assert_eq!(run["service"]["ended"], told, "{run}");
    let most = run["service"]["resident_peak_mb"].as_f64().unwrap();
    assert!(most <= 210.0, "{most} MB");
}

#[test]
fn a_worker_that_the_memory_limit_kills_fails_the_run_that_goes_on_without_it() {
    let (place, port) = (Place::new(), free_port());
    place.write(
        "worker.cjs",
        "const eaten = []; setTimeout(() => setInterval(() => eaten.push(Buffer.alloc(64 << 20, 1)), 5), 1500);",
    );
    let command = format!("command: node worker.cjs & {}", serve(port));
    place.write("master.yml", &script(port, 12, &[command.as_str(), "limits: { memory: 200 MB }"], ""));
    let answer = place.sonagi(&["run", "master.yml", "--json"]);
    if is_refused(&answer) {
        return;
    }
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let run = answer.json();
    assert_eq!((&run["service"]["memory_kills"], &run["service"]["ended"]), (&1.into(), &Value::Null));
    let told = "the memory limit killed a process of the service";
    assert_eq!(run["verdict"]["reasons"][0], told, "{}", run["verdict"]);
    let shown = place.sonagi(&["report", run["run_folder"].as_str().unwrap()]);
    assert!(shown.out.contains("1 killed by its memory limit"), "{shown:?}");
}

#[test]
fn a_burstable_host_without_credits_runs_at_its_baseline() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: echo $$ > first; (while :; do :; done) & {}", serve(port));
    let limits = ["host: t2.small", "limits: { credits: 0 }", "stop: { grace: 1s }"];
    place.write("burst.yml", &script(port, 60, &[&[command.as_str()], &limits[..]].concat(), ""));
    let mut running = Running::start(place.command(&["run", "burst.yml", "--json"]));
    wait_until("the service or a refusal", || is_open(port) || !is_alive(running.id()));
    if !is_open(port) {
        assert!(is_refused(&running.end()), "it ended early");
        return;
    }
    running.wait_for("0:05/");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let service = &answer.json()["service"];
    let busiest = service["busiest_cores"].as_f64().unwrap();
    assert!(busiest <= 0.35, "a fifth of a core: {service}");
}

#[test]
fn added_latency_is_in_every_answer_and_the_service_is_watched_behind_it() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: {}", serve(port));
    place.write("far.yml", &script(port, 1, &[&command, "limits: { network: { latency: 40ms } }"], ""));
    let answer = place.sonagi(&["run", "far.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = answer.json();
    let operations = run["operations"].as_array().unwrap();
    let fastest = operations[0]["response_ms"]["min"].as_f64().unwrap();
    assert!(fastest >= 40.0, "{fastest} ms");
    assert_ne!(run["target"], format!("http://127.0.0.1:{port}"), "the load goes to what is in front of it");
}

#[test]
fn a_network_without_files_left_is_warned_of_and_makes_the_run_invalid() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: {}", serve(port));
    let script = script(port, 2, &[&command, "limits: { network: { latency: 2ms } }"], "");
    let script = script.replace("arrivalRate: 4", "users: 40");
    place.write("crowd.yml", &script.replace("/healthz } }]", "/healthz } }, { think: 1 }]"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n 90; exec {SONAGI} run crowd.yml --json")]);
    let answer = Answer::from(shell.current_dir(place.path()).output().unwrap());
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let warning = "at least 40 users are planned at one time, each with a connection (three files with `network`), \
                   and this process may open 90 files";
    assert!(answer.err.contains(warning), "{answer:?}");
    let run = answer.json();
    let reason = run["verdict"]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("the network before the service ran out of files or ports"), "{reason}");
    assert_eq!(run["generator"]["cause"], "exhausted", "{}", run["generator"]);
}

#[test]
fn all_processes_of_a_launched_service_are_watched_not_only_the_one_that_listens() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: sleep 300 & sleep 301 & {}", serve(port));
    place.write("many.yml", &script(port, 2, &[&command], ""));
    let answer = place.sonagi(&["run", "many.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let processes = &answer.json()["watched"]["target.processes"]["level"]["max"];
    assert!(processes.as_f64() >= Some(3.0), "{processes}");
}
