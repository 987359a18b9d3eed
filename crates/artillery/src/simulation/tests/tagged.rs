//! Operations with tags: what is told apart by them, and what a threshold on them sees.

use std::collections::BTreeMap;

use sonagi_measure::metrics::MetricSummary;
use sonagi_measure::outcome::{CountedAs, TaggedId};
use sonagi_measure::thresholds::Threshold;

use super::*;
use crate::plan::Tagged;
use crate::tagged;

/// Runs one user's requests, each of them with the tags of this number.
async fn run(
    flow: &[Option<u16>],
    tags: &[&[(&str, &str)]],
    ensure: &[&str],
    answers: &[(u64, &'static str)],
) -> Summary {
    let step = |tagged: &Option<u16>| {
        let operation = CountedAs { id: OperationId(0), tagged: tagged.map(TaggedId) };
        let step = HttpStep::new(OperationId(0), "GET", Template::constant("/"));
        Step::Http(Box::new(HttpStep { operation, timeout: SECOND, ..step }))
    };
    let mut plan = plan(arrivals(1, 1, None), flow.iter().map(step).collect());
    let tags = tags.iter().map(|tags| {
        let tags = tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Tagged { operation: OperationId(0), tags: BTreeMap::from_iter(tags) }
    });
    plan.tagged = tags.collect();
    plan.thresholds = ensure.iter().map(|expression| Threshold::new(*expression, true)).collect();
    plan.submetrics = tagged::submetrics(&plan.thresholds, &plan.operations, &plan.tagged);
    simulate(plan, Control::new(), answering(answers)).await
}

fn times(metric: &MetricSummary) -> (u64, f64, f64) {
    let values = metric.values.as_ref().unwrap();
    (values.count, values.min, values.max)
}

const LIST: &[(&str, &str)] = &[("page", "list"), ("team", "a")];
const DETAIL: &[(&str, &str)] = &[("page", "detail"), ("team", "a")];

#[tokio::test(start_paused = true)]
async fn of_each_tag_its_times_and_failures_are_told() {
    let flow = [Some(0), Some(1), None, Some(1)];
    let answers = [(100, "200 OK"), (40, "500 No"), (7, "200 OK"), (20, "200 OK")];
    let summary = run(&flow, &[LIST, DETAIL], &[], &answers).await;
    let told: Vec<&str> = summary.metrics.keys().map(String::as_str).collect();
    assert_eq!(
        told,
        [
            "http.response_time{page:detail}",
            "http.response_time{page:list}",
            "http.response_time{team:a}",
            "kinds.http.failed{page:detail}",
            "kinds.http.failed{page:list}",
            "kinds.http.failed{team:a}"
        ],
        "of tags alone: the whole is told where it was before"
    );
    assert_eq!(times(&summary.metrics["http.response_time{page:list}"]), (1, 100.0, 100.0));
    assert_eq!(times(&summary.metrics["http.response_time{page:detail}"]), (2, 20.0, 40.0));
    assert_eq!(times(&summary.metrics["http.response_time{team:a}"]), (3, 20.0, 100.0));
    assert_eq!(summary.metrics["kinds.http.failed{team:a}"].sum, Some(0.0));
    assert_eq!((summary.http_answers_ms.count, summary.metrics_left_out), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn a_threshold_on_a_tag_sees_the_steps_that_have_it() {
    let ensure = [
        "'http.response_time{page:list}.p95' < 50",
        "'http.response_time{page:detail}.p95' < 50",
        "'operations.GET /.response_ms{team:a,page:detail}.max' == 40",
        "'operations.GET /.count{ page : detail, \"team\":a }' == 3",
        "'kinds.http.service_ms{team:a}.count' == 4 and 'kinds.http.first_byte_ms{team:a}.count' == 3",
        "'kinds.http.failed{page:detail}' == 1 and 'kinds.http.failed{page:list}' == 0",
        "'http.codes.500{page:detail}' == 1 and 'http.codes.500{page:list}' == 0",
    ];
    let flow = [Some(0), Some(1), Some(1), None, Some(1)];
    let answers = [(100, "200 OK"), (40, "500 No"), (20, "200 OK"), (7, "500 No")];
    let summary = run(&flow, &[LIST, DETAIL], &ensure, &answers).await;
    let judged: Vec<(bool, &str)> =
        summary.thresholds.iter().map(|judged| (judged.held, judged.evidence.as_str())).collect();
    assert_eq!(
        judged,
        [
            (false, "http.response_time{page:list}.p95 = 100"),
            (false, "http.response_time{page:detail}.p95 = 1000"),
            (false, "operations.GET /.response_ms{page:detail,team:a}.max = 1000"),
            (true, "operations.GET /.count{page:detail,team:a} = 3"),
            (true, "kinds.http.service_ms{team:a}.count = 4, kinds.http.first_byte_ms{team:a}.count = 3"),
            (true, "kinds.http.failed{page:detail} = 1, kinds.http.failed{page:list} = 0"),
            (true, "http.codes.500{page:detail} = 1, http.codes.500{page:list} = 0"),
        ],
        "the last request had no answer: its time is its limit"
    );
}

#[tokio::test(start_paused = true)]
async fn each_answer_on_the_way_of_a_redirect_has_its_tags() {
    let moved = "302 Found\r\nlocation: /next";
    let ensure = [
        "'http.response_time{page:list}.max' == 100 and 'http.response_time{page:list}.min' == 7",
        "'kinds.http.response_ms{page:list}.max' == 107 and 'http.codes.302{page:list}' == 1",
    ];
    let summary = run(&[Some(0)], &[LIST], &ensure, &[(100, moved), (7, "200 OK")]).await;
    assert!(summary.thresholds.iter().all(|judged| judged.held), "{:?}", summary.thresholds);
    assert_eq!(summary.metrics["http.response_time{page:list}"].count, summary.http_answers_ms.count);
}
