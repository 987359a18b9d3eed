//! Services that run already: changed and restarted by commands for a run, and given their own settings back after it.

use super::scripts::k6_script;
use super::*;

/// Ends the service that runs and starts it with what its file of settings says, which it then has in `running`.
const RESTART: &str = r#"
if [ -e pid ]; then
  old=$(cat pid); kill $old
  for i in $(seq 1000); do
    [ -e /proc/$old ] && ! grep -q ') Z ' /proc/$old/stat || break
    sleep 0.01
  done
fi
cp setting running
setsid SONAGI serve --listen=127.0.0.1:PORT --grace=0s --seed-users=1 > out 2>&1 < /dev/null &
echo $! > pid
echo "restarted with $(cat setting)" | tee -a said
"#;

/// A `restore` that goes on once there is a file `go`.
const HELD_RESTORE: &str = "touch restoring; while [ ! -e go ]; do sleep 0.01; done; sh restore.sh";

/// A service that somebody runs with a pool of 5, and its folder; it ends with the test.
struct RunningService {
    place: Place,
    port: u16,
}

impl RunningService {
    fn start() -> RunningService {
        let (place, port) = (Place::new(), free_port());
        let restart = RESTART.replace("PORT", &port.to_string()).replace("SONAGI", SONAGI);
        place.write("restart.sh", &restart);
        place.write("apply.sh", "echo \"apply $1\" >> said; echo $1 > setting");
        place.write("restore.sh", "echo restore >> said; echo 5 > setting");
        place.write("setting", "5\n");
        let status = std::process::Command::new("sh").arg("restart.sh").current_dir(place.path()).status();
        assert!(status.unwrap().success());
        wait_until("the service", || is_open(port));
        fs::remove_file(place.path().join("said")).unwrap();
        RunningService { place, port }
    }

    /// A run of it with a pool of 2, and of 10.
    fn write_script(&self, seconds: u32, rest: &[&str]) {
        let launch = [
            "apply: sh apply.sh {{ pool }}",
            "restart: sh restart.sh",
            "read: { command: cat running, equals: \"{{ pool }}\" }",
            "restore: sh restore.sh",
        ];
        let replaced = |key: &&&str| !rest.iter().any(|line| line.split(':').next() == key.split(':').next());
        let launch: Vec<&str> = launch.iter().filter(replaced).chain(rest).copied().collect();
        self.place.write("pool.yml", &script(self.port, seconds, &launch, "matrix: { pool: [2, 10] }\n"));
    }

    /// The service in the first second of a run of a minute.
    fn under_load() -> (RunningService, Running) {
        let service = RunningService::start();
        let running = service.load(&[]);
        (service, running)
    }

    /// A run of a minute in its first second.
    fn load(&self, rest: &[&str]) -> Running {
        self.write_script(60, rest);
        let mut running = Running::start(self.place.command(&["run", "pool.yml"]));
        running.wait_for("0:01/");
        running
    }

    /// A `restore` after which the service listens somewhere else.
    fn losing_restore(&self) -> String {
        format!("restore: sh restore.sh; sed -i s/127.0.0.1:{}/127.0.0.1:0/ restart.sh", self.port)
    }

    fn waits_in_its_restore(&self) {
        wait_until("the restore", || self.place.path().join("restoring").exists());
    }

    /// Lets a held restore go after a minute, so that whoever waits for it wrongly fails and does not hang.
    fn lets_go_at_last(&self) {
        let go = self.place.path().join("go");
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(60));
            // A test that is over by then has taken its folder with it.
            let _ = fs::write(go, "");
        });
    }

    fn said(&self) -> String {
        fs::read_to_string(self.place.path().join("said")).unwrap_or_default()
    }

    fn has(&self, pool: u32) -> bool {
        written(&self.place, "running") == Some(pool)
    }

    /// Waits until it runs as it did before.
    fn is_itself_again(&self) {
        wait_until("it has its own setting", || self.has(5) && self.said().ends_with("restarted with 5\n"));
        wait_until("it serves", || is_open(self.port));
        assert_eq!(written(&self.place, "setting"), Some(5));
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let id = written(&self.place, "pid").and_then(|id| Pid::from_raw(id as i32));
        let _ = id.map(|id| kill_process(id, Signal::KILL));
    }
}

#[test]
fn a_service_that_runs_already_is_restarted_for_each_run_of_a_matrix_and_has_its_own_settings_again_after_it()
{
    let service = RunningService::start();
    service.write_script(1, &[]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let turn = |pool| format!("apply {pool}\nrestarted with {pool}\nrestore\nrestarted with 5\n");
    assert_eq!(service.said(), turn(2) + &turn(10));
    service.is_itself_again();
    for run in answer.json().as_array().unwrap() {
        assert_eq!(run["service"], Value::Null, "what it uses is not ours to know");
        let log = Path::new(run["run_folder"].as_str().unwrap()).join("service.log");
        let log = fs::read_to_string(service.place.path().join(log)).unwrap();
        let pool = &run["combination"]["pool"];
        assert!(log.starts_with(&format!("restarted with {pool}\n{pool}\n")), "{log}");
    }
}

/// The error of a run that does not come about; the service runs as it did before.
fn error_with(rest: &[&str]) -> String {
    let service = RunningService::start();
    service.write_script(1, rest);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=2"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.out.contains("could not run: launch: "), "nothing was run: {answer:?}");
    service.is_itself_again();
    answer.err.replace(&service.port.to_string(), "PORT")
}

#[test]
fn a_service_that_is_not_as_the_run_wants_it_is_a_clear_error_and_is_restored() {
    let told = error_with(&["read: { command: echo 7, equals: \"{{ pool }}\" }", "patience: 2s"]);
    let expected = "error: launch: the running service is not as the run wants it: `read` must print \"2\", the setting \
                    that was made; it printed \"7\"\n  | ";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains("\n  | 7\nhint: `apply` changed something else"), "{told}");

    let told = error_with(&["apply: echo 2 > setting; echo no right to; exit 3"]);
    let expected = "error: launch: the running service is not as the run wants it: `apply` ended with exit status: 3\n  \
                    | no right to\n";
    assert!(told.starts_with(expected), "{told}");

    let told = error_with(&["read: { command: [no-such-program], equals: 2 }", "patience: 2s"]);
    assert!(told.contains(": `read` ended with exit status: 127\n"), "{told}");

    let told = error_with(&["ready: http://127.0.0.1:1/", "patience: 300ms"]);
    let expected = "error: launch: the service restarted by `sh restart.sh` was not ready within 0.3 s: \
                    http://127.0.0.1:1/: Connection refused (os error 111)\n  | restarted with 2\nhint: ";
    assert!(told.starts_with(expected), "{told}");
    let expected = "\nlaunch: the service was given its own settings back, and is not ready after 0.3 s: \
                    http://127.0.0.1:1/: Connection refused (os error 111)\n  | ";
    assert!(told.contains(expected), "{told}");

    let bad = "restore: sh restore.sh; echo but not all; exit 9";
    let told = error_with(&[bad, "read: { command: \"false\", equals: 2 }", "patience: 2s"]);
    assert!(told.contains(": `read` ended with exit status: 1\n"), "{told}");
    assert!(
        told.contains("\n`restore` ended with exit status: 9\n") && told.contains("  | but not all\n"),
        "{told}"
    );
}

#[test]
fn a_service_that_would_print_into_the_pipe_of_its_restart_is_told_and_lives_on() {
    let piped = "restart: sed -i 's/ > out 2>&1 < .dev.null//' restart.sh; sh restart.sh";
    let told = error_with(&[piped]);
    let expected = "what `restart` left running writes to the output of `restart`, which ends with the run";
    assert!(told.contains(expected) && told.contains("hint: let it write to a file: "), "{told}");
}

#[test]
fn a_setting_that_is_there_a_moment_later_is_read_again() {
    let service = RunningService::start();
    service.write_script(1, &["read: { command: \"cat later; cp running later\", equals: \"{{ pool }}\" }"]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=2"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn a_restore_that_fails_after_a_run_that_passed_is_an_error() {
    let service = RunningService::start();
    service.write_script(1, &["restore: sh restore.sh; echo but not all; exit 9"]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=2"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.err.contains("`restore` ended with exit status: 9\n"), "{answer:?}");
    service.is_itself_again();
    let search = ["capacity", "pool.yml", "--matrix", "pool=2", "--until", "http.codes.200 > 0", "-q"];
    let range = ["--vary", "users", "--from", "1", "--to", "2", "--trial", "300ms"];
    let answer = service.place.sonagi(&[&search[..], &range].concat());
    assert_eq!(answer.code, Some(4), "{answer:?}");
    service.is_itself_again();
}

#[test]
fn a_search_over_what_the_restart_follows_restarts_it_for_each_trial_or_is_refused() {
    let service = RunningService::start();
    service.write_script(1, &[]);
    let search = ["capacity", "pool.yml", "--until", "http.codes.200 > 0"];
    let range = ["--vary", "pool", "--from", "2", "--to", "10"];
    let search = [&search[..], &range].concat();
    let answer = service.place.sonagi(&search);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let expected = "error: --vary pool: what starts or restarts the service follows it";
    assert!(answer.err.contains(expected), "{answer:?}");
    assert_eq!(service.said(), "", "nothing was changed");
    let answer = service.place.sonagi(&[&search[..], &["--fresh", "--trial", "300ms", "-q"]].concat());
    assert!(matches!(answer.code, Some(0 | 3)), "{answer:?}");
    assert!(service.said().contains("apply 10\nrestarted with 10\nrestore\n"), "{}", service.said());
    service.is_itself_again();
}

#[test]
fn whoever_ends_the_keeper_in_good_order_has_the_service_restored() {
    let service = RunningService::start();
    let running = service.load(&[&format!("restore: \"{HELD_RESTORE}\"")]);
    signal_keeper(&running, Signal::TERM);
    service.waits_in_its_restore();
    // The run is told even if it ends before the keeper does.
    running.signal(Signal::INT);
    service.place.write("go", "");
    let answer = running.end();
    assert_eq!(answer.code, Some(130));
    service.is_itself_again();
    let expected = "launch: the process that keeps the service was asked to end before the run was over, and gave the \
                    service its own settings back";
    assert!(answer.err.contains(expected), "{answer:?}");
}

#[test]
fn ctrl_c_and_a_kill_of_the_run_leave_the_service_as_it_was() {
    for signal in [Signal::INT, Signal::KILL] {
        let (service, running) = RunningService::under_load();
        assert!(service.has(2), "the run has its setting");
        running.signal(signal);
        let answer = running.end();
        assert_eq!(answer.code, (signal == Signal::INT).then_some(130), "{answer:?}");
        service.is_itself_again();
    }
}

#[test]
fn ctrl_c_during_a_restart_does_not_leave_the_service_without_one() {
    // Without an `apply` there is nothing to restore, but it was about to be started again.
    for rest in [&[][..], &["apply:", "read:", "restore:"]] {
        let service = RunningService::start();
        let hangs = "restart: \"[ -e hung ] || { echo $$ > hung; kill $(cat pid); exec sleep 1000; }; sh restart.sh\"";
        service.write_script(1, &[&[hangs], rest].concat());
        let running = Running::start(service.place.command(&["run", "pool.yml"]));
        wait_until("the restart", || written(&service.place, "hung").is_some());
        running.signal(Signal::INT);
        let answer = running.end();
        assert_eq!(answer.code, Some(130), "{answer:?}");
        service.is_itself_again();
        assert!(!is_alive(written(&service.place, "hung").unwrap()), "the restart that was cut off is ended");
    }
}

#[test]
fn a_keeper_that_is_killed_cannot_restore_which_is_told() {
    let (service, running) = RunningService::under_load();
    signal_keeper(&running, Signal::KILL);
    running.signal(Signal::INT);
    let answer = running.end();
    let expected =
        "launch: the process that restores the service's settings was killed: nothing was restored\nhint: ";
    assert!(answer.err.contains(expected), "{answer:?}");
    assert!(service.has(2), "nobody did it");
    service.write_script(1, &[]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=10"]);
    assert_eq!(answer.code, Some(0), "the dead have no service: {answer:?}");
    service.is_itself_again();
}

#[test]
fn a_keeper_that_is_killed_before_the_run_is_an_error_that_says_so() {
    let service = RunningService::start();
    // Another port than that of the test above: runs of one service keep each other out.
    service.write_script(1, &["ready: http://127.0.0.1:2/"]);
    let running = Running::start(service.place.command(&["run", "pool.yml", "--matrix", "pool=2"]));
    wait_until("the restart", || service.has(2));
    signal_keeper(&running, Signal::KILL);
    let answer = running.end();
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.err.contains("killed: nothing was restored\nhint: run `restore`"), "{answer:?}");
}

#[test]
fn a_keeper_that_is_asked_to_end_during_a_restart_ends_the_run() {
    let service = RunningService::start();
    let hangs = "restart: \"[ -e hung ] || { echo $$ > hung; exec sleep 1000; }; sh restart.sh\"";
    service.write_script(1, &[hangs]);
    let running = Running::start(service.place.command(&["run", "pool.yml", "--matrix", "pool=2"]));
    wait_until("the restart", || written(&service.place, "hung").is_some());
    signal_keeper(&running, Signal::TERM);
    let answer = running.end();
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.err.contains("the process that keeps the service was asked to end"), "{answer:?}");
    service.is_itself_again();
}

/// Waits for what would cut a restore off: one that was would be dead by then, and nothing else can be waited for.
fn haste_has_arrived() {
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn a_second_ctrl_c_does_not_cut_off_the_restore() {
    let service = RunningService::start();
    let mut running = service.load(&[&format!("restore: \"{HELD_RESTORE}\"")]);
    running.signal(Signal::INT);
    service.waits_in_its_restore();
    running.signal(Signal::INT);
    running.wait_for("stopping at once");
    haste_has_arrived();
    assert!(service.has(2), "it is still to be restored");
    service.place.write("go", "");
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert_eq!(service.said(), "apply 2\nrestarted with 2\nrestore\nrestarted with 5\n");
    service.is_itself_again();
}

#[test]
fn a_second_ctrl_c_ends_a_k6_test_at_once_whose_service_is_restored_all_the_same() {
    let service = RunningService::start();
    let launch = format!(
        "apply: 'sh apply.sh 3', restart: 'sh restart.sh', ready: 'port {}', restore: '{HELD_RESTORE}'",
        service.port
    );
    let script = k6_script(service.port, &launch).replace("iterations: 5", "vus: 1, duration: '60s'");
    service.place.write("pool.js", &script);
    let running = Running::start(service.place.command(&["run", "pool.js"]));
    wait_until("the restart", || service.has(3));
    running.signal(Signal::INT);
    service.waits_in_its_restore();
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(105), "{answer:?}");
    haste_has_arrived();
    assert!(service.has(3), "it is still to be restored");
    service.place.write("go", "");
    service.is_itself_again();
}

#[test]
fn a_restored_service_that_does_not_get_ready_again_is_an_error() {
    let service = RunningService::start();
    service.write_script(1, &[&service.losing_restore(), "patience: 8s"]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=2"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    let expected = format!(
        "error: launch: the service was given its own settings back, and is not ready after 8 s: 127.0.0.1:{}: \
         Connection refused (os error 111)\n  | ",
        service.port
    );
    assert!(answer.err.contains(&expected), "{answer:?}");
    assert!(answer.err.contains("\n  | restarted with 5\nhint: see to it by hand"), "{answer:?}");
}

#[test]
fn a_second_ctrl_c_leaves_out_the_wait_for_the_restored_service() {
    let service = RunningService::start();
    let running = service.load(&[&service.losing_restore(), "patience: 60s"]);
    running.signal(Signal::INT);
    wait_until("the restore", || service.said().ends_with("restarted with 5\n"));
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(!answer.err.contains("is not ready"), "{answer:?}");
}

#[test]
fn a_run_of_a_service_that_another_run_has_is_refused_and_changes_nothing() {
    let (service, running) = RunningService::under_load();
    let said = service.said();
    // By another name it is the same service.
    let ready = format!("ready: http://localhost:{}/healthz", service.port);
    service.write_script(1, &[&ready, "before: touch begun", "after: touch begun"]);
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=10"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    let expected = format!(
        "error: launch: the service at localhost:{} was not restarted: one run at a time may have it, and the run of \
         process {} has it\nhint: wait for its end, or end it with Ctrl-C",
        service.port,
        running.id()
    );
    assert!(answer.err.starts_with(&expected), "{answer:?}");
    assert_eq!(service.said(), said, "nothing was changed");
    assert!(service.has(2) && !service.place.path().join("begun").exists());
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    service.is_itself_again();
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=10"]);
    assert_eq!(answer.code, Some(0), "it is to be had again: {answer:?}");
}

#[test]
fn between_the_runs_of_a_matrix_nobody_else_has_the_service() {
    let service = RunningService::start();
    service.write_script(1, &[&format!("restore: \"{HELD_RESTORE}\"")]);
    let first = Running::start(service.place.command(&["run", "pool.yml"]));
    service.waits_in_its_restore();
    service.lets_go_at_last();
    let answer = service.place.sonagi(&["run", "pool.yml", "--matrix", "pool=10"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.err.contains("one run at a time may have it"), "{answer:?}");
    service.place.write("go", "");
    assert_eq!(first.end().code, Some(0));
    service.is_itself_again();
}

#[test]
fn a_run_waits_for_another_one_that_only_restores_the_service() {
    let service = RunningService::start();
    let held = format!("restore: \"{HELD_RESTORE}\"");
    let first = service.load(&[&held]);
    first.signal(Signal::KILL);
    service.waits_in_its_restore();
    assert_eq!(first.end().code, None);
    service.write_script(1, &[&held]);
    let mut second = Running::start(service.place.command(&["run", "pool.yml", "--matrix", "pool=10"]));
    second.wait_for(&format!(
        ") gives the service at 127.0.0.1:{} its own settings back; waiting for that, ",
        service.port
    ));
    assert!(service.has(2), "it is not restored yet");
    service.place.write("go", "");
    let answer = second.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let turn = |pool| format!("apply {pool}\nrestarted with {pool}\nrestore\nrestarted with 5\n");
    assert_eq!(service.said(), turn(2) + &turn(10));
    service.is_itself_again();
}

#[test]
fn a_k6_script_restarts_its_service_by_the_same_keys() {
    let service = RunningService::start();
    let RunningService { place, port, .. } = &service;
    let options = format!(
        "apply: 'sh apply.sh ' + __ENV.POOL, restart: ['sh', 'restart.sh'], ready: 'http://127.0.0.1:{port}/healthz', \
         read: {{ command: 'cat running', equals: __ENV.POOL }}, restore: 'sh restore.sh'"
    );
    let script = format!(
        "import http from 'k6/http';\nimport {{ check }} from 'k6';\n\
         export const options = {{ iterations: 5, sonagi: {{ launch: {{ {options} }} }} }};\n\
         export default () => check(http.get('http://127.0.0.1:{port}/healthz'), {{ well: (it) => it.status === 200 }});\n"
    );
    place.write("pool.js", &script);
    let answer = place.sonagi(&["run", "pool.js", "--env", "POOL=3"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("checks_succeeded...: 100.00%"), "{}", answer.out);
    assert_eq!(service.said(), "apply 3\nrestarted with 3\nrestore\nrestarted with 5\n");
    service.is_itself_again();
}
