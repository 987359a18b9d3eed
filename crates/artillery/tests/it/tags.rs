//! Tags of scenarios and steps, and what is said of thresholds on those that no step has.

use crate::support::{load_text, notices, problems, stopping};

/// A script with this in `ensure`, and two scenarios with tags.
fn script(ensure: &str, config: &str) -> String {
    format!(
        "config:\n  target: http://t\n  phases: [{{duration: 1, arrivalRate: 1}}]\n{config}  plugins: {{ensure: {{}}}}\n  ensure: {ensure}\n\
         scenarios:\n  - tags: {{team: search}}\n    flow:\n      - get: {{url: /a, tags: {{page: list}}}}\n\
         \x20     - get: {{url: /b, tags: {{page: detail}}}}\n  - tags: {{team: talk}}\n    engine: ws\n    flow:\n      - send: hello\n        name: say\n"
    )
}

/// What is said of a threshold on this metric, whether or not the script has functions.
#[track_caller]
fn says(metric: &str, expected: &str) {
    for config in ["", "  processor: ./people.js\n"] {
        let text = script(&format!("{{thresholds: [{{\"{metric}\": 1}}]}}"), config);
        let said = stopping(&text);
        let said: Vec<&str> =
            said.iter().filter_map(|one| one.split_once("metric: ")).map(|(_, said)| said).collect();
        assert_eq!(said, [expected], "{text}");
    }
}

#[test]
fn a_threshold_on_a_tag_that_no_step_has_is_a_problem() {
    says(
        "http.response_time{pgae:list}.p95",
        "no step has a tag named \"pgae\" | did you mean `http.response_time{page:list}.p95`?",
    );
    says(
        "http.response_time{color:red}.p95",
        "no step has a tag named \"color\" | the script's tags are: page, team",
    );
    says(
        "http.response_time{page:lst}.p95",
        "no step has the tag `page:lst` | did you mean `http.response_time{page:list}.p95`?",
    );
    says(
        "http.response_time{page:cart}.p95",
        "no step has the tag `page:cart` | its values are: detail, list",
    );
    says(
        "http.response_time{page:list,team:talk}.p95",
        "no step has all the tags of `http.response_time{page:list,team:talk}.p95` | name fewer of them",
    );
    says(
        "http.response_time{team:talk}.p95",
        "no step that `http.response_time` is measured of has the tags of `http.response_time{team:talk}.p95` | these have the tags: connect, say",
    );
    says(
        "operations.GET /a.count{page:detail}",
        "no step that `operations.GET /a.count` is measured of has the tags of `operations.GET /a.count{page:detail}` | these have the tags: GET /b",
    );
}

#[test]
fn a_threshold_on_a_series_that_tags_do_not_make_is_a_problem() {
    says(
        "http.response_time.p95{page:list}",
        "tags stand behind what they tell apart, not behind `p95` | did you mean `http.response_time{page:list}.p95`?",
    );
    let hint = "tags tell apart `http.response_time`, `http.codes.<code>`, and `response_ms`, `service_ms`, `first_byte_ms`, `count` and `failed` of `operations.<name>` and `kinds.<kind>`";
    says("vusers.failed{team:talk}", &format!("`vusers.failed` is not told apart by tags | {hint}"));
    says(
        "http.response_time{page=list}.p95",
        "\"page=list\" in \"http.response_time{page=list}.p95\" is no tag: write name:value, with commas between | e.g. `http.response_time{page:list}.p95`",
    );
    says(
        "http.respons_time{page:list}.p95",
        "`http.respons_time.p95` is not a metric | did you mean `http.response_time.p95`?",
    );
}

#[test]
fn tags_that_no_threshold_could_name_are_problems() {
    let tags = |tags: &str| {
        let head = "config: {target: http://t, phases: [{duration: 1, arrivalRate: 1}]}\nscenarios:\n";
        format!("{head}  - flow: [{{get: {{url: /, tags: {tags}}}}}]\n")
    };
    let rule = "is no text that thresholds could name: no blanks at its ends, none of `{ } , \" ' \\`";
    assert_eq!(
        stopping(&tags("{\"a:b\": c, d: \"e,f\", g: [h]}")),
        [
            format!("3:34: the tag's name \"a:b\" {rule}, nor `:` or `=`"),
            format!("3:47: the value \"e,f\" of the tag d {rule}"),
            "3:57: the tag g wants a text; got a list of 1".to_owned(),
        ]
    );
    let many: Vec<String> = (0..1001).map(|n| format!("n{n}: v")).collect();
    let said = stopping(&tags(&format!("{{{}}}", many.join(", "))));
    assert!(said.len() == 1 && said[0].ends_with("a script has at most 1000 different tags"), "{said:?}");
}

#[test]
fn tags_that_are_a_list_are_ignored_as_in_artillery() {
    let text = "config: {target: http://t, phases: [{duration: 1, arrivalRate: 1}]}\nscenarios: [{tags: [smoke], flow: [{think: 1}]}]\n";
    let loaded = load_text(text).unwrap();
    let said = "2:20: tags wants a mapping of names to texts; got a list of 1: ignored, as in Artillery";
    assert_eq!(
        notices(&loaded).iter().filter(|told| told.starts_with(said)).count(),
        1,
        "{:?}",
        notices(&loaded)
    );
    assert_eq!((loaded.plan.tagged.len(), problems(text).len()), (0, 1));
}

#[test]
fn a_condition_that_ends_the_run_decides_it() {
    let condition =
        |more: &str| script(&format!("{{conditions: [{{expression: vusers.failed == 0, {more}}}]}}"), "");
    assert_eq!(
        stopping(&condition("strict: false, abortOnFail: true")),
        [
            "5:73: a condition with `strict: false` decides nothing: it cannot end the run (`abortOnFail`) | remove one of the two"
        ]
    );
    let loaded = load_text(&condition("delayAbortEval: 2s")).unwrap();
    assert!(!loaded.plan.thresholds[0].abort().on_fail);
    let said = "delayAbortEval: no effect; the condition has no `abortOnFail: true`";
    assert!(notices(&loaded).iter().any(|told| told.ends_with(said)), "{:?}", notices(&loaded));
}
