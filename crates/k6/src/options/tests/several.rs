//! Keys of several runs.

use super::*;

#[test]
fn what_several_runs_are_is_read_in_the_scripts_order() {
    let of = |sonagi: Value| script(json!({ "sonagi": sonagi })).unwrap().options.sonagi.several;
    let all = json!({
        "matrix": { "POOL": [2, 10], "MODE": "fast" },
        "repeat": 5,
        "compare": { "across": "POOL", "primary": "http_req_duration.p99", "margin": "2.5 %" },
    });
    let compare = Compare {
        across: Some("POOL".into()),
        primary: Some("http_req_duration.p99".into()),
        margin: Some(0.025),
    };
    let matrix = vec![("POOL".into(), vec![json!(2), json!(10)]), ("MODE".into(), vec![json!("fast")])];
    assert_eq!(of(all), Several { matrix, repeat: Some(5), compare: Some(compare) });
    assert_eq!(of(json!({ "keepConnections": true })), Several::default());
    let alone = of(json!({ "matrix": { "ON": [true, false] }, "compare": { "margin": 0.1 } }));
    assert_eq!(alone.compare, Some(Compare { margin: Some(0.1), ..Compare::default() }));
}

#[test]
fn mistakes_in_several_runs_are_told_together() {
    let told = |sonagi: Value| script(json!({ "sonagi": sonagi })).unwrap_err().to_string();
    let all = told(json!({
        "matrix": { "POOL": [2, "2", null], "2x": 1, "NONE": [] },
        "repeat": 0,
        "compare": { "across": "POLL", "margin": "0 %" },
    }));
    for wanted in [
        "options.sonagi.matrix.POOL: has \"2\" twice",
        "options.sonagi.matrix.POOL: must be a text, a number or a truth value, or a list of these, is null",
        "options.sonagi.matrix.2x: is no name of a variable",
        "options.sonagi.matrix.NONE: has no values",
        "options.sonagi.repeat: must be a whole number from 1 to 1000, is 0",
        "options.sonagi.compare.margin: must be more than 0 % and less than 100 %",
        "options.sonagi.compare.across: the matrix has no `POLL`\n    hint: did you mean `POOL`?",
    ] {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
    assert!(told(json!({ "compare": {} })).contains("and there is no matrix"));
    let wrong = told(json!({ "matrix": 7, "compare": {} }));
    assert!(wrong.contains("must be an object") && !wrong.contains("there is no matrix"), "{wrong}");
    let several = told(json!({ "matrix": { "A": 1, "B": 2 }, "compare": {} }));
    assert!(several.contains("does not say across which") && several.contains("`across: 'A'`"), "{several}");
}
