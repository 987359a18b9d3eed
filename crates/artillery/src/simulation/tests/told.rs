//! Metrics of responses beside their operation: each answer on the way of a redirect, and metrics by endpoint.

use sonagi_measure::summary::Quantiles;

use super::*;
use crate::plan::template::Piece;
use crate::plan::{Endpoint, HttpOptions, Naming, Told};

/// Runs one user's steps against a server that gives its n-th answer after so many milliseconds, and none after the
/// last.
async fn told(flow: Vec<HttpStep>, answers: &[(u64, &'static str)]) -> Summary {
    let flow = flow.into_iter().map(|step| Step::Http(Box::new(step))).collect();
    let plan = plan(arrivals(1, 1, None), flow);
    let variables = vec![("id".to_owned(), vec![7.into()]), ("token".to_owned(), vec!["8d2f41c9".into()])];
    let http = HttpOptions { by_address: true, ..HttpOptions::default() };
    simulate(Plan { variables, http, ..plan }, Control::new(), answering(answers)).await
}

fn step(url: &str) -> HttpStep {
    HttpStep { timeout: SECOND, ..HttpStep::new(OperationId(0), "GET", Template::constant(url)) }
}

/// How many, and the sum of them in ms.
fn of(times: &Quantiles) -> (u64, f64) {
    (times.count, (times.mean * times.count as f64).round())
}

const MOVED: &str = "302 Found\r\nlocation: /next";

#[tokio::test(start_paused = true)]
async fn each_answer_on_the_way_of_a_redirect_has_a_time_and_the_operation_all_of_it() {
    let summary = told(vec![step("/")], &[(100, MOVED), (40, MOVED), (7, "200 OK")]).await;
    assert_eq!(summary.users.completed, 1, "{:?}", summary.errors);
    assert_eq!(of(&summary.http_answers_ms), (3, 147.0));
    assert_eq!(of(&summary.http_classes["3xx"]), (2, 140.0));
    assert_eq!(of(&summary.http_classes["2xx"]), (1, 7.0));
    assert_eq!(of(&summary.operations[0].response_ms), (1, 147.0));
    assert_eq!(summary.http_codes.get(&302), Some(&2));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_that_leads_nowhere_has_the_time_of_its_answers() {
    let summary = told(vec![step("/")], &[(100, MOVED)]).await;
    assert_eq!(summary.errors[0].code, "timeout");
    assert_eq!(of(&summary.http_classes["3xx"]), (1, 100.0));
    assert_eq!(of(&summary.operations[0].response_ms), (1, 1000.0), "as long as its limit");
    assert_eq!(summary.http_classes.get("2xx"), None);
}

fn endpoint(endpoint: Endpoint) -> Option<Box<Told>> {
    Some(Box::new(Told { prefix: "by".into(), endpoint }))
}

fn names(summary: &Summary) -> Vec<(String, f64)> {
    let value = |metric: &sonagi_measure::metrics::MetricSummary| match &metric.values {
        Some(values) => values.mean.round(),
        None => metric.sum.unwrap(),
    };
    summary.metrics.iter().map(|(name, metric)| (name.clone(), value(metric))).collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_target_says_of_its_time_is_told_by_endpoint() {
    let asked = HttpStep { told: endpoint(Endpoint::Written("/x".into())), ..step("/x?a") };
    let timed = "200 OK\r\nServer-Timing: db;dur=1, total;dur=12";
    let summary = told(vec![asked, step("/x?a")], &[(1, timed), (1, timed)]).await;
    assert_eq!(names(&summary), [("by.server-timing./x".to_owned(), 12.0)], "of the step that asks for it");
    assert_eq!(summary.metrics["by.server-timing./x"].count, 1);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_may_go_by_the_address_each_user_asked_for() {
    let id = || Piece::Hole(Expression::Path { variable: "id".into(), keys: Vec::new() });
    let by_address = |naming, name| endpoint(Endpoint::Asked { naming, name });
    let url = Template { pieces: vec![Piece::Text("/users/".into()), id(), Piece::Text("?a=b%20c".into())] };
    let query = vec![("page".to_owned(), Template::constant("2"))];
    let plain = by_address(Naming::default(), None);
    let flow = vec![
        HttpStep { told: plain.clone(), url: url.clone(), query, ..step("") },
        HttpStep {
            told: by_address(Naming { strips_query: true, ..Naming::default() }, Some("find".into())),
            url,
            ..step("")
        },
        HttpStep {
            told: by_address(Naming { ignores_unnamed: true, ..Naming::default() }, None),
            ..step("/")
        },
        HttpStep { told: plain, ..step("/slow") },
    ];
    let timed = "204 No Content\r\nserver-timing: total;dur=3";
    let summary = told(flow, &[(100, MOVED), (50, timed), (20, "404 Not Found"), (1, "200 OK")]).await;
    let expected = [
        ("by./slow.errors.ETIMEDOUT", 1.0),
        ("by./users/7 (find).codes.404", 1.0),
        ("by./users/7?a=b c.codes.204", 1.0),
        ("by.response_time./users/7 (find)", 20.0),
        ("by.response_time./users/7?a=b c", 150.0),
        ("by.server-timing./users/7?a=b c", 3.0),
    ];
    assert_eq!(names(&summary), expected.map(|(name, value)| (name.to_owned(), value)));
}

#[tokio::test(start_paused = true)]
async fn a_secret_in_an_address_is_no_part_of_its_metrics_names() {
    let hole = Piece::Hole(Expression::Path { variable: "token".into(), keys: Vec::new() });
    let told_by = endpoint(Endpoint::Asked { naming: Naming::default(), name: None });
    let url = Template { pieces: vec![Piece::Text("/reset/".into()), hole] };
    let summary = told(vec![HttpStep { told: told_by, url, ..step("") }], &[(5, "200 OK")]).await;
    let expected = [("by./reset/***.codes.200", 1.0), ("by.response_time./reset/***", 5.0)];
    assert_eq!(names(&summary), expected.map(|(name, value)| (name.to_owned(), value)));
}
