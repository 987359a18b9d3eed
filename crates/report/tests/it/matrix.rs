//! Runs over a matrix beside each other.

use crate::fixture;
use insta::assert_snapshot;
use serde_json::{Value, json};
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Conclusion, FULL_SHARE, SATURATED_SECONDS, Service, Summary, Traffic, Users};
use sonagi_report::Matrix;
use sonagi_report::matrix::{Figures, Run, machine, markdown};

fn run(transport: &str, users: u64, connected: u64, service: Service) -> Run {
    let combination = [("transport".to_owned(), json!(transport)), ("users".to_owned(), json!(users))];
    let mut summary = fixture::fan_out();
    summary.users = Users { connected_peak: connected, wanted: Some(users), ..summary.users };
    summary.kinds[1] = fixture::operation("socketio_connect", OperationKind::SocketioConnect, users, 0, 3.0);
    summary.service = Some(service);
    Run { combination: combination.into_iter().collect(), summary: Some(summary), ..Run::default() }
}

fn summary(run: &mut Run) -> &mut Summary {
    run.summary.as_mut().unwrap()
}

/// A run that held, one whose service had no time left, one whose generator fell behind, one that could not be run.
fn mixed() -> Matrix {
    let held = run("sse", 1000, 1000, fixture::service(0, 0));
    let mut full = run("sse", 10_000, 10_000, fixture::service(12, 9));
    let lossy = summary(&mut full);
    lossy.verdict.result = Conclusion::Fail;
    lossy.verdict.reasons = vec!["3,012 of 200,000 expected deliveries were lost (1.5 %)".into()];
    let delivery = lossy.delivery.as_mut().unwrap();
    (delivery.counts.lost, delivery.counts.replayed, delivery.ratio) = (3012, 20, 0.98494);
    lossy.errors = fixture::everything().errors;
    let mut behind = run("longpoll", 1000, 998, fixture::service(1, 0));
    let late = summary(&mut behind);
    late.verdict.result = Conclusion::Invalid;
    late.generator.findings = vec!["shard 0 used more than 90 % of its core for 7 s on end".into()];
    let mut none = run("longpoll", 10_000, 0, Service::default());
    none.summary = None;
    none.error =
        Some("error: the reference service did not start: it ended with exit status: 2\nhint: x".into());
    Matrix {
        name: "ten-groups".into(),
        started: "2026-11-21T19:42:13Z".into(),
        version: "0.1.0".into(),
        machine: "2 cores of a machine".into(),
        axes: vec!["transport".into(), "users".into()],
        planned: 6,
        repeat: 1,
        runs: vec![held, full, behind, none],
        ..Matrix::default()
    }
}

#[test]
fn the_table_says_first_how_many_held_and_which_side_was_at_its_limit() {
    let shown = mixed().console(80, false);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_snapshot!(shown, @"
    matrix      1 of 6 runs sustained all users with every message delivered; 2 not
                run · ten-groups
                sse 10,000: FAIL; 3,012 of 200,000 expected deliveries were lost
                (1.5 %); the service saturated: its 1 worker had no time left for 12
                seconds; the machine saturated: both sides together filled its 2
                cores for 9 seconds
                longpoll 1,000: INVALID; the generator saturated: shard 0 used more
                than 90 % of its core for 7 s on end
                longpoll 10,000: could not run: the reference service did not start:
                it ended with exit status: 2

    transport users   held/wanted conn avg conn p95  ops/s msgs/s  delivered  fails
    sse 1,000         1,000/1,000     3.30     7.50    123  7,905      100 %      0
    sse 10,000      10,000/10,000     3.30     7.50    478  7,906     98.4 %  1,207
    longpoll 1,000      998/1,000     3.30     7.50    123  7,905      100 %      0
    longpoll 10,000             -        -        -      -      -          -      -

    transport users e2e p50 e2e p95 e2e p99  replayed  B/copy   CPU s     MB
    sse 1,000          1.20    3.00    4.80         0     192    31.2   88.4
    sse 10,000         1.20    3.00    4.80        20     192    31.2   88.4
    longpoll 1,000     1.20    3.00    4.80         0     192    31.2   88.4
    longpoll 10,000       -       -       -         -       -       -      -

                Times in ms. held/wanted: most users connected at one time. conn:
                until a user is connected. msgs/s: copies that arrived. fails:
                failures of all kinds. e2e: planned send to receipt. B/copy: all
                bytes received over the copies that arrived. CPU s and MB: the
                service's.
    ");
}

#[test]
fn a_wide_page_has_more_columns_beside_each_other_and_colour_changes_no_line() {
    let wide = mixed().console(120, false);
    assert!(wide.lines().any(|line| line.contains("held/wanted") && line.contains("e2e p95")), "{wide}");
    let painted = mixed().console(80, true);
    let plain = ["1;31", "1;32", "2", "0"]
        .iter()
        .fold(painted, |text, code| text.replace(&format!("\x1b[{code}m"), ""));
    assert_eq!(plain, mixed().console(80, false));
}

#[test]
fn markdown_has_one_table_whose_values_cannot_become_markup() {
    let mut matrix = mixed();
    matrix.runs.truncate(1);
    matrix.planned = 1;
    matrix.runs[0].combination.insert("transport".into(), json!("a|b*"));
    assert_snapshot!(markdown(&matrix), @r"
    **1 of 1 run sustained all users with every message delivered**

    | transport | users | held/wanted | conn avg | conn p95 | ops/s | msgs/s | delivered | fails | e2e p50 | e2e p95 | e2e p99 | replayed | B/copy | CPU s | MB |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | a\|b\* | 1,000 | 1,000/1,000 | 3.30 | 7.50 | 123 | 7,905 | 100 % | 0 | 1.20 | 3.00 | 4.80 | 0 | 192 | 31.2 | 88.4 |

    Times in ms. held/wanted: most users connected at one time. conn: until a user is connected. msgs/s: copies that arrived. fails: failures of all kinds. e2e: planned send to receipt. B/copy: all bytes received over the copies that arrived. CPU s and MB: the service's.

    Measured: ten-groups, Sonagi 0.1.0, 2026-11-21T19:42:13Z, both sides on 2 cores of a machine.
    ");
}

/// As [`run`], of users that only ask by HTTP.
fn http_alone(users: u64) -> Run {
    let mut run = run("none", users, 0, Service::default());
    let plain = summary(&mut run);
    plain.kinds.truncate(1);
    (plain.users.peak, plain.delivery, plain.service) = (users, None, None);
    plain.http_answers_ms = fixture::operation("http", OperationKind::Http, 100, 0, 7.0).response_ms;
    plain.http_codes = [(200, 90), (404, 4), (503, 6)].into_iter().collect();
    run
}

#[test]
fn runs_of_http_alone_show_their_answers_and_no_columns_that_nothing_fills() {
    let mut matrix = mixed();
    matrix.runs = vec![http_alone(10), http_alone(20)];
    let shown = matrix.console(120, false);
    let titles = shown.lines().find(|line| line.contains("held/wanted")).unwrap();
    let titles: Vec<&str> = titles.split("  ").map(str::trim).filter(|title| !title.is_empty()).collect();
    assert!(titles.join(" ").contains("ops/s fails http p50 http p99 4xx/5xx"), "{titles:?}");
    assert!(["e2e", "conn avg", "replayed", "CPU s"].iter().all(|title| !shown.contains(title)), "{shown}");
    let figures = Figures::of(summary(&mut matrix.runs[0]));
    assert_eq!((figures.http_p50_ms, figures.http_error_ratio), (Some(7.0), Some(0.1)));
    assert!(shown.contains("4xx/5xx: share of answers"), "{shown}");
    // Where users connect, requests are how they log in.
    assert!(!mixed().console(120, false).contains("http p50"));
}

#[test]
fn the_page_has_the_words_of_the_terminal_and_each_rows_runs() {
    let mut matrix = mixed();
    summary(&mut matrix.runs[0]).run_folder = Some("runs/20261121-194213-ten-groups/sse-1000".into());
    let page = matrix.page();
    assert_eq!(page["verdict"]["held"], json!(false));
    assert_eq!(page["verdict"]["asks_for_users"], json!(true), "of ten and of a thousand");
    assert_eq!(page["verdict"]["others"].as_array().unwrap().len(), 3);
    let rows = page["table"]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["values"]), (4, &json!(["sse", "1,000"])));
    let run = json!({ "round": null, "held": true, "word": "PASS", "folder": "sse-1000" });
    assert_eq!(rows[0]["runs"], json!([run]));
    assert_eq!(rows[3]["runs"][0]["word"], Value::Null, "it could not be run");
    let columns = page["table"]["columns"].as_array().unwrap();
    assert_eq!(columns[0], json!("held/wanted"));
    assert!(rows.iter().all(|row| row["cells"].as_array().unwrap().len() == columns.len()));
    let pages = many(30).page();
    let others = pages["verdict"]["others"].as_array().unwrap();
    assert_eq!((others.len(), &others[20]), (21, &json!("and 10 more runs")));
}

/// So many runs that could not be run.
fn many(runs: usize) -> Matrix {
    let mut matrix = mixed();
    let none = matrix.runs.pop().unwrap();
    matrix.runs = vec![none; runs];
    matrix
}

#[test]
fn a_run_holds_its_users_only_when_it_passed_with_all_of_them_connected_and_every_copy_delivered() {
    let held = run("sse", 1000, 1000, fixture::service(0, 0));
    assert!(held.held());
    let spoilt: [fn(&mut Summary); 6] = [
        |run| run.users.connected_peak = 999,
        |run| run.delivery.as_mut().unwrap().counts.lost = 1,
        |run| run.verdict.result = Conclusion::Fail,
        |run| run.verdict.result = Conclusion::Invalid,
        |run| run.interrupted = true,
        |run| run.complete = false,
    ];
    for (which, spoil) in spoilt.into_iter().enumerate() {
        let mut run = held.clone();
        spoil(summary(&mut run));
        assert!(!run.held(), "{which}");
    }
    let mut open = held.clone();
    summary(&mut open).users.wanted = None;
    assert!(open.held(), "an open run asks for no population");
    let mut http = held.clone();
    let plain = summary(&mut http);
    plain.kinds.truncate(1);
    (plain.users.connected_peak, plain.users.peak) = (0, 1000);
    assert!(http.held(), "users of HTTP alone connect to nothing for long");
}

#[test]
fn messages_are_copies_that_arrived_and_share_all_bytes_received() {
    let mut run = run("sse", 100, 100, fixture::service(0, 0));
    let run = summary(&mut run);
    let counts = &mut run.delivery.as_mut().unwrap().counts;
    (counts.delivered, counts.late, counts.replayed, counts.lost) = (70, 20, 10, 5);
    run.duration_s = 8.0;
    // Acknowledgements are messages of some protocols; neither they nor what was sent count here.
    run.traffic = Traffic::from_iter([
        (Counter::MessagesReceived, 180),
        (Counter::BytesSent, 2_000),
        (Counter::BytesReceived, 8_050),
    ]);
    let figures = Figures::of(run);
    assert_eq!((figures.messages_per_s, figures.bytes_per_copy), (Some(12.5), Some(80.5)));
    let counts = &mut run.delivery.as_mut().unwrap().counts;
    (counts.delivered, counts.late, counts.replayed, counts.owed) = (0, 0, 0, 0);
    let figures = Figures::of(run);
    assert_eq!((figures.bytes_per_copy, figures.delivery_ratio), (None, None), "nothing owed is no 100 %");
    run.delivery = None;
    assert_eq!(Figures::of(run).messages_per_s, None, "a run that tracks nothing cannot say");
}

#[test]
fn the_document_has_the_tables_figures_and_reads_back_as_the_same_matrix() {
    let matrix = mixed();
    let text = matrix.document();
    assert_eq!(Matrix::read(&text).unwrap(), matrix);
    let document: Value = serde_json::from_str(&text).unwrap();
    let first = &document["runs"][0];
    assert_eq!((&first["held"], &first["why_not"]), (&json!(true), &Value::Null));
    assert_eq!(first["figures"]["connect_p95_ms"], json!(7.5));
    assert_eq!(first["figures"]["service_cpu_s"], json!(31.25));
    assert_eq!(
        document["verdict"]["headline"],
        "1 of 6 runs sustained all users with every message delivered; 2 not run"
    );
    assert_eq!(document["verdict"]["others"].as_array().unwrap().len(), 3);
    assert!(Matrix::read("{}").is_err());
}

#[test]
fn a_runs_environment_is_told_in_words_as_far_as_it_is_known() {
    let environment = json!({ "cpus": 2, "cpu": "AMD EPYC", "memory": "24678888 kB", "kernel": "6.8.0" });
    assert_eq!(machine(&environment), "2 cores of AMD EPYC, 25.3 GB, kernel 6.8.0");
    assert_eq!(machine(&json!({ "cpus": 1, "cpu": "" })), "1 core");
    assert_eq!(machine(&Value::Null), "");
}

#[test]
fn the_page_defines_every_figure_and_the_limits_of_both_sides() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/matrix.md");
    let page = std::fs::read_to_string(path).unwrap();
    let document: Value = serde_json::from_str(&mixed().document()).unwrap();
    let spelt = |name: &str| page.contains(&format!("`{name}`"));
    // The table names the end to end latencies by their first.
    let figures = document["runs"][0]["figures"].as_object().unwrap().keys();
    let missing: Vec<_> = figures
        .filter(|name| !spelt(name) && !["end_to_end_p95_ms", "end_to_end_p99_ms"].contains(&name.as_str()))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
    let rule = format!("in {SATURATED_SECONDS} seconds or more it used at least {} %", FULL_SHARE * 100.0);
    assert!(page.contains(&rule), "{rule}");
    assert_eq!(page.matches("in 3 seconds or more").count(), 2);
}
