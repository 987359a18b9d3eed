//! When HTTP answers with an error status fail a run.

use crate::fixture::{header, timing};
use crate::verdicts::{SECOND, check, run_with, with};
use sonagi_measure::At;
use sonagi_measure::outcome::{OperationId, Outcome};
use sonagi_measure::recorder::{Counter, Gauges};
use sonagi_measure::summary::{Conclusion, FailOnStatus, Summary};
use sonagi_measure::totals::Header;

const ASK: &str = "check the path and the credentials; to ask for such a status: a threshold on `statuses.codes.404`, or `--fail-on-status never`";

/// Three seconds with these answers in each.
fn answered(header: Header, statuses: &[u16], expected: u64) -> Summary {
    run_with(header, 3, |recorder, second| {
        for status in statuses {
            recorder.operation(OperationId(0), timing(second * SECOND, 1000), Outcome::Status(*status));
        }
        recorder.add(Counter::ErrorsExpected, expected);
        Gauges::default()
    })
}

fn failing_on(fail_on_status: FailOnStatus) -> Header {
    Header { fail_on_status, ..header() }
}

#[test]
fn a_run_of_nothing_but_error_statuses_fails() {
    let summary = answered(header(), &[404, 404, 503], 0);
    let every = "every one of 9 HTTP answers was an error status (404: 6, 503: 3)";
    check(&summary, Conclusion::Fail, &[every]);
    assert_eq!(summary.verdict.hints, [ASK]);
    check(&answered(header(), &[404, 200], 0), Conclusion::Pass, &["3 users completed"]);
    check(&answered(header(), &[304], 0), Conclusion::Pass, &["3 users completed"]);
    check(&answered(header(), &[], 0), Conclusion::Pass, &["3 users completed"]);
}

#[test]
fn statuses_that_the_script_asks_for_are_no_errors() {
    let asked = answered(header(), &[404], 1);
    check(&asked, Conclusion::Pass, &["3 users completed"]);
    let statuses = &asked.statuses;
    assert_eq!((statuses.answers, statuses.errors, statuses.expected), (3, 3, 3));
    check(
        &answered(with("statuses.codes.404 > 0", true), &[404], 0),
        Conclusion::Pass,
        &["3 users completed"],
    );
}

#[test]
fn fail_on_status_any_fails_for_one_error_and_never_for_none() {
    let any = || failing_on(FailOnStatus::Any);
    let some = "3 of 6 HTTP answers were error statuses (404: 3)";
    check(&answered(any(), &[200, 404], 0), Conclusion::Fail, &[some]);
    check(&answered(any(), &[200, 404], 1), Conclusion::Pass, &["3 users completed"]);
    check(&answered(any(), &[200, 302], 0), Conclusion::Pass, &["3 users completed"]);
    let never = answered(failing_on(FailOnStatus::Never), &[503], 0);
    check(&never, Conclusion::Pass, &["3 users completed"]);
}

#[test]
fn some_server_errors_are_hinted_at() {
    let summary = answered(header(), &[200, 503], 0);
    check(&summary, Conclusion::Pass, &["3 users completed"]);
    let hint = "3 of 6 HTTP responses were server errors (50.0 %); they fail a run by a threshold on \
                `statuses.codes.<code>` or by `--fail-on-status any`";
    assert_eq!(summary.verdict.hints, [hint]);
}

#[test]
fn client_errors_that_nobody_asked_for_are_hinted_at() {
    let summary = answered(header(), &[200, 429], 0);
    let hint = "3 of 6 HTTP responses were client errors (50.0 %); they fail a run by a threshold on \
                `statuses.codes.<code>` or by `--fail-on-status any`";
    assert_eq!(summary.verdict.hints, [hint]);
    assert_eq!(answered(header(), &[200, 429], 1).verdict.hints, [""; 0], "all of them were expected");
}

#[test]
fn a_hop_is_no_answer() {
    let summary = run_with(header(), 1, |recorder, second| {
        recorder.hop(OperationId(0), 302, 1000, At(0));
        let outcome = Outcome::Status(404);
        recorder.redirected(OperationId(0), timing(second * SECOND, 2000), outcome, 1000);
        Gauges::default()
    });
    check(&summary, Conclusion::Fail, &["the only HTTP answer was an error status (404: 1)"]);
}
