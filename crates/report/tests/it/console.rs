use crate::fixture;
use insta::assert_snapshot;
use sonagi_measure::ledger::Counts;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Conclusion, Health, Quantiles, Summary, Traffic, Users, Verdict};
use sonagi_report::console;
use unicode_width::UnicodeWidthStr;

fn shown(run: &Summary) -> String {
    console::summary(run, 80, false)
}

fn verdict(result: Conclusion, reason: &str) -> Verdict {
    Verdict { result, reasons: vec![reason.into()], hints: vec![] }
}

#[test]
fn a_small_run_has_only_the_sections_it_needs() {
    assert_snapshot!(shown(&fixture::minimal()), @"
    PASS        ping · http://127.0.0.1:8080 · 2.00 s

    users       1 started of 1 planned · 1 completed · 0 failed · peak 1 concurrent

    generator   ok · busiest core 1.0 % · 0.02 s CPU · 9.10 MB resident ·
                12/1,024 file descriptors · 1 shard
    ");
}

#[test]
fn korean_names_keep_the_table_of_latencies_straight() {
    let mut run = fixture::fan_out();
    run.operations[0].name = "채팅방 입장".into();
    let shown = shown(&run);
    let mut lines = shown.lines().skip_while(|line| !line.starts_with("latency (ms)"));
    let widths: Vec<usize> = lines.by_ref().take(5).map(UnicodeWidthStr::width).collect();
    assert_eq!(widths, [73; 5], "{shown}");
}

#[test]
fn a_session_shorter_than_a_second_is_told_in_milliseconds() {
    let mut run = fixture::minimal();
    run.users.session_ms = Quantiles { count: 1, p50: 3.0, max: 1200.0, ..Quantiles::default() };
    assert!(shown(&run).contains("session duration 3.00 ms median, 1.20 s max"), "{}", shown(&run));
}

#[test]
fn a_passed_run_says_so_first_and_then_what_was_delivered() {
    assert_snapshot!(shown(&fixture::fan_out()), @"
    PASS        fan-out · http://127.0.0.1:8080 · 25.3 s

    users       100 started of 100 planned · 100 completed · 0 failed ·
                peak 100 concurrent
                session duration 20.0 s median, 4 min 00 s max

    delivery    100 % of 200,000 expected deliveries of 2,000 messages received
                200,000 delivered · 0 lost

    messages    2,100 out (83.0/s) · 202,100 in (7,988/s) · 312 kB out, 38.4 MB in
    http        300 requests (11.9/s) · 200: 300 · 96.0 kB in

    latency (ms)              count    p50    p90    p95    p99  p99.9    max
    end to end (delivery)   200,000   1.20   2.40   3.00   4.80   9.60   14.4
    POST /auth/login            100   42.0   84.0    105    168    336    504
    socket.io connect           100   3.00   6.00   7.50   12.0   24.0   36.0
    sendMessage               2,000   0.80   1.60   2.00   3.20   6.40   9.60

    generator   ok · scheduling delay p99 0.20 ms · busiest core 43.0 % ·
                9.40 s CPU · 38.2 MB resident · 112/1,048,576 file descriptors ·
                1 shard
    run folder  runs/2026-11-20T10-00-00-fan-out
    see it      sonagi page runs/2026-11-20T10-00-00-fan-out
    ");
}

#[test]
fn a_failed_run_names_every_reason_and_shows_every_section() {
    assert_snapshot!(shown(&fixture::everything()), @"
    FAIL        fan-out · http://127.0.0.1:8080 · 25.3 s
                3,012 of 200,000 expected deliveries were lost (1.5 %).
                threshold failed: delivery.latency_ms.p99 < 4
                (delivery.latency_ms.p99 = 4.8)
                4 users failed.
          hint: run the service with one fault fewer, or see docs/ledger.md for what
                counts as lost

    users       104 planned · 103 iterations started · 1 missed ·
                2 skipped by maxVusers · 96 completed · 4 failed · 2 stopped ·
                1 still active · peak 101 concurrent
                session duration 20.0 s median, 4 min 00 s max
                fan-out: 100 · watch: 3

    delivery    98.4 % of 200,000 expected deliveries of 2,000 messages received
                196,900 delivered · 61 late (after 1,000 ms) · 20 replayed ·
                3,012 lost (1.5 %) · 7 outstanding
                lost: 2,500 with nothing after them ·
                412 before others that arrived · 100 of messages that reached nobody
                31 duplicates · 12 out of order · 3 leaked ·
                99 unknown (send not acknowledged) ·
                40 ignored (near a join or leave) · 2 of other runs ·
                1 with a negative latency

    messages    2,100 out (83.0/s) · 202,100 in (7,988/s) · 312 kB out, 38.4 MB in
    http        300 requests (11.9/s) · 200: 300, 429: 4 (1.3 %) · 96.0 kB in

    latency (ms)                     count    p50    p90    p95    p99  p99.9    max
    end to end (delivery)          196,961   1.20   2.40   3.00   4.80   9.60   14.4
    end to end (replayed)               20    400    800  1,000  1,600  3,200  4,800
    POST /auth/login                   100   42.0   84.0    105    168    336    504
    socket.io connect                  100   3.00   6.00   7.50   12.0   24.0   36.0
    sendMessage                      2,000   0.80   1.60   2.00   3.20   6.40   9.60
    a step whose author gave it a very long name indeed
                                        12  1,500  3,000  3,750  6,000 12,000 18,000

    thresholds  1 of 3 passed
        passed  http.response_time.p99 < 250 (http.response_time.p99 = 168)
        FAILED  delivery.latency_ms.p99 < 4 (delivery.latency_ms.p99 = 4.8)
        missed  vusers.failed == 0 (vusers.failed = 4)

    errors      1,207 errors
         1,204  ack_timeout, first at 4.20 s
                e.g. no acknowledgement of sendMessage within 10 s
             3  connect_refused in socket.io connect, first at 0.31 s
                e.g. 127.0.0.1:8080: connection refused

    generator   warning (starved) · scheduling delay p99 0.20 ms ·
                busiest core 43.0 % · 9.40 s CPU · 38.2 MB resident ·
                112/1,048,576 file descriptors · 1 shard
                send lag p99 was 1.40 ms in second 12; up to 1 ms is expected of a
                generator with room.
    service     ended during the run: signal: 9 (SIGKILL) · 31.2 s CPU ·
                peak 1.04 of 1 worker busy · 88.4 MB resident ·
                saturated for 12 seconds
                generator and service together filled the machine's 2 cores for 4
                seconds
    run folder  runs/2026-11-20T10-00-00-fan-out
    see it      sonagi page runs/2026-11-20T10-00-00-fan-out
    ");
}

#[test]
fn a_run_of_less_than_a_second_has_no_rates_and_one_without_users_says_so() {
    let mut run = Summary { duration_s: 0.01, ..fixture::minimal() };
    run.users = Users::default();
    run.traffic = Traffic::from_iter([(Counter::HttpRequests, 1), (Counter::MessagesSent, 2)]);
    let text = shown(&run);
    assert!(!text.contains("/s"), "{text}");
    assert!(text.contains("users       none planned, none started\n"), "{text}");
    assert!(text.contains("http        1 request · no response"), "{text}");
}

#[test]
fn a_run_whose_generator_fell_behind_is_invalid() {
    let mut run = fixture::minimal();
    run.verdict = verdict(Conclusion::Invalid, "the generator started 812 of 1,000 planned users (81.2 %).");
    run.verdict.hints.push("use more shards (--shards), or a lower rate".into());
    run.generator.state = Health::Invalid;
    run.generator.findings.push("achieved 81.2 % of the planned rate; 99 % is the least.".into());
    assert_snapshot!(shown(&run), @"
    INVALID     ping · http://127.0.0.1:8080 · 2.00 s
                the generator started 812 of 1,000 planned users (81.2 %).
          hint: use more shards (--shards), or a lower rate

    users       1 started of 1 planned · 1 completed · 0 failed · peak 1 concurrent

    generator   fell behind · busiest core 1.0 % · 0.02 s CPU · 9.10 MB resident ·
                12/1,024 file descriptors · 1 shard
                achieved 81.2 % of the planned rate; 99 % is the least.
    ");
}

#[test]
fn iterations_are_told_as_such() {
    let none = Users { iterations: true, ..Users::default() };
    let some = Users { planned: 7, started: 5, skipped: 2, completed: 5, ..none.clone() };
    for (users, line) in [
        (none, "\niterations  none planned, none started\n"),
        (some, "\niterations  5 started of 7 planned · 2 dropped · 5 completed · 0 failed\n"),
    ] {
        let shown = shown(&Summary { users, ..fixture::minimal() });
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn where_nothing_was_owed_the_reason_stands_instead_of_a_share_of_nothing() {
    let mut run = fixture::fan_out();
    let delivery = run.delivery.as_mut().unwrap();
    delivery.counts = Counts { messages: 2, foreign: 3, ..Counts::default() };
    delivery.latency_ms = fixture::quantiles(0, 1.0);
    let page = shown(&run);
    let lines = "delivery    no message was owed: nobody to receive one had joined its room\n            3 of other runs\n";
    assert!(page.contains(lines), "{page}");
    for (counts, why) in [
        (Counts::default(), "none with a stamp was sent"),
        (Counts { messages: 2, unknown: 2, ..Counts::default() }, "the target acknowledged none"),
        (Counts { messages: 2, settling: 2, ..Counts::default() }, "all fell near a join or leave"),
    ] {
        run.delivery.as_mut().unwrap().counts = counts;
        let page = shown(&run);
        assert!(page.contains(&format!("delivery    no message was owed: {why}\n")), "{why}: {page}");
        assert!(!page.contains("100 %"), "{page}");
    }
    assert_eq!(console::verdicts(&[run], 80, false), "PASS        fan-out · nothing owed\n");
}

#[test]
fn an_interrupted_run_says_so_first_and_one_that_was_cut_off_what_its_figures_cover() {
    let verdict = Verdict {
        result: Conclusion::Interrupted,
        reasons: vec![
            "stopped after 2.0 s: the figures cover what ran until then".into(),
            "until then: 1 user completed".into(),
        ],
        hints: vec![],
    };
    let run = Summary { interrupted: true, verdict, ..fixture::minimal() };
    assert_snapshot!(shown(&run), @"
    INTERRUPTED ping · http://127.0.0.1:8080 · 2.00 s
                stopped after 2.0 s: the figures cover what ran until then
                until then: 1 user completed

    users       1 started of 1 planned · 1 completed · 0 failed · peak 1 concurrent

    generator   ok · busiest core 1.0 % · 0.02 s CPU · 9.10 MB resident ·
                12/1,024 file descriptors · 1 shard
    ");
    let run = Summary { complete: false, ..fixture::minimal() };
    assert_snapshot!(shown(&run), @"
    CUT OFF     ping · http://127.0.0.1:8080 · 2.00 s
                Cut off: the run has no closing record; the figures end with its
                last second on disk.

    users       1 started of 1 planned · 1 completed · 0 failed · peak 1 concurrent

    generator   ok · busiest core 1.0 % · 0.02 s CPU · 9.10 MB resident ·
                12/1,024 file descriptors · 1 shard
    ");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 72, 80, 100, 132] {
        let text = console::summary(&fixture::everything(), width, false);
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= width, "{width}: {widest}");
        assert!(text.contains("\nend to end (delivery)"), "a name is told whole at {width} columns: {text}");
    }
}

#[test]
fn a_long_count_stands_apart_from_the_name_before_it() {
    let mut run = fixture::fan_out();
    if let Some(delivery) = &mut run.delivery {
        delivery.latency_ms.count = 24_515_921;
    }
    let text = shown(&run);
    assert!(text.contains("\nend to end (delivery) 24,515,921   1.20 "), "{text}");
    assert!(text.contains("\nlatency (ms)               count    p50 "), "{text}");
}

#[test]
fn colour_adds_escapes_and_changes_nothing_else() {
    let run = fixture::everything();
    let mut text = console::summary(&run, 80, true);
    assert!(text.starts_with("\x1b[1;31mFAIL\x1b[0m"), "{text}");
    for code in ["0", "2", "1;31", "1;32", "1;33"] {
        text = text.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(text, shown(&run));
}

#[test]
fn the_script_s_own_metrics_stand_beside_ours() {
    let page = shown(&fixture::with_own_metrics());
    for line in [
        "metrics     basket: 1 value, 12.5 median, 12.5 p95, 12.5 max\n",
        "            carts: 4.5\n",
        "            checkouts: 1 (0.5/s)\n",
        "            level: 3.00 (from 3.00 to 3.00)\n",
        "            share: 100.00 % of 1\n",
    ] {
        assert!(page.contains(line), "{line}{page}");
    }
}

#[test]
fn what_was_expected_of_responses_stands_below_http() {
    assert!(!shown(&fixture::minimal()).contains("expect"), "nothing was expected");
    let page = shown(&fixture::with_expectations());
    let lines = "expect      2 of 3 expectations met\n            equals: 1 not met; GET /: a, b\n";
    assert!(page.contains(lines), "{page}");
}

#[test]
fn the_apdex_score_stands_below_http_when_the_script_asks_for_it() {
    let page = console::summary(&fixture::with_plugins(), 100, false);
    let line = page.lines().find(|line| line.starts_with("apdex")).unwrap();
    assert_eq!(line, "apdex       0.87 (good) · 230 within 100 ms, 60 within 400 ms, 10 slower");
    assert!(!console::summary(&fixture::fan_out(), 100, false).contains("apdex"));
}
