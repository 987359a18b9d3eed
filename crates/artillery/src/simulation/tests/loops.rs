//! How often loops turn, and what they count.

use serde_json::{Value, json};
use sonagi_measure::expression::Operator;

use super::*;
use crate::plan::template::Piece;
use crate::plan::{Condition, Formula, Function, ValueTemplate};

/// The lines of a loop whose turns each log their number and element, and a line behind the loop.
async fn said(repeat: Repeat, variables: Vec<(&str, Value)>) -> String {
    let hole = |function| Piece::Hole(Expression::Call { function, arguments: Vec::new() });
    let line = vec![hole(Function::LoopCount), Piece::Text(":".into()), hole(Function::LoopElement)];
    let body = vec![Step::Log(Template { pieces: line })];
    let flow = vec![Step::Loop(Loop { body, repeat, pace: None }), Step::Log(Template::constant("end"))];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), vec![value])).collect();
    let plan = Plan { variables, ..plan(arrivals(1, 1, None), flow) };
    simulate_closely(plan, Control::new(), http_server(|_| SECOND)).await.said.join(" ")
}

fn variable(name: &str) -> Expression {
    Expression::Path { variable: name.into(), keys: Vec::new() }
}

#[tokio::test(start_paused = true)]
async fn a_count_counts_from_nought_and_a_range_up_to_its_end() {
    let count = |from, to| said(Repeat::Count { from, to }, vec![]);
    assert_eq!(count(0, 3).await, "0:null 1:null 2:null end");
    assert_eq!(count(9, 12).await, "9:null 10:null 11:null end");
    assert_eq!(count(5, 5).await, "end");
    assert_eq!(count(5, 4).await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_count_that_a_variable_says_may_be_a_number_a_text_or_a_range() {
    let count = |value| said(Repeat::CountOf(variable("n")), vec![("n", value)]);
    for value in [json!(2), json!("2"), json!(" 2 "), json!(1.5)] {
        assert_eq!(count(value.clone()).await, "0:null 1:null end", "{value}");
    }
    assert_eq!(count(json!("7-9")).await, "7:null 8:null end");
    for value in [json!(0), json!("0"), json!(-5), json!("many"), json!(null), json!([1]), json!("9-7")] {
        assert_eq!(count(value.clone()).await, "end", "{value}");
    }
    assert_eq!(said(Repeat::CountOf(variable("missing")), vec![]).await, "end");
}

#[tokio::test(start_paused = true)]
async fn a_loop_goes_over_the_elements_of_a_list_and_over_nothing_else() {
    let over = |value| said(Repeat::Over(variable("list")), vec![("list", value)]);
    assert_eq!(over(json!(["a", {"b": 1}])).await, r#"0:a 1:{"b":1} end"#);
    for value in [json!([]), json!("abc"), json!({"a": 1}), json!(3)] {
        assert_eq!(over(value.clone()).await, "end", "{value}");
    }
    assert_eq!(said(Repeat::Over(variable("missing")), vec![]).await, "end");
    let items = vec![ValueTemplate::Constant(json!(1)), ValueTemplate::Hole(variable("x"))];
    let list = Repeat::OverList(ValueTemplate::List(items));
    assert_eq!(said(list, vec![("x", json!("two"))]).await, "0:1 1:two end");
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_asked_after_each_turn_and_knows_how_many_there_were() {
    let count = Expression::Call { function: Function::LoopCount, arguments: Vec::new() };
    let less = |than| {
        let pair = [Formula::Name(count.clone()), Formula::Number(than)];
        Repeat::While(Condition::Formula(Box::new(Formula::Binary(Operator::Less, Box::new(pair)))))
    };
    assert_eq!(said(less(2.0), vec![]).await, "0:null 1:null end");
    assert_eq!(said(less(0.0), vec![]).await, "0:null end");
}

#[tokio::test(start_paused = true)]
async fn a_pause_may_come_from_a_variable_as_seconds_or_with_a_unit() {
    for (value, expected) in [(json!(2), 2_000.0), (json!("1.5"), 1_500.0), (json!("250ms"), 250.0)] {
        let pause = Step::Think(Think { seconds: variable("pause"), jitter: Jitter::None });
        let variables = vec![("pause".to_owned(), vec![value.clone()])];
        let plan = Plan { variables, ..plan(arrivals(1, 1, None), vec![pause]) };
        let summary = simulate(plan, Control::new(), http_server(|_| SECOND)).await;
        // A histogram is right to a thousandth.
        let lasted: f64 = summary.users.session_ms.max;
        assert!((lasted - expected).abs() <= expected / 1_000.0 + 1.0, "{value}: {lasted}");
    }
    let pause = Step::Think(Think { seconds: variable("pause"), jitter: Jitter::None });
    let soon = vec![("pause".to_owned(), vec![json!("soon")])];
    let plan = Plan { variables: soon, ..plan(arrivals(1, 1, None), vec![pause]) };
    let summary = simulate(plan, Control::new(), http_server(|_| SECOND)).await;
    assert_eq!((summary.users.failed, &*summary.errors[0].example), (1, "a time is wanted, got \"soon\""));
}

#[tokio::test(start_paused = true)]
async fn a_loop_in_a_loop_leaves_the_outer_ones_element_alone() {
    let member = Expression::Path {
        variable: "$loopElement".into(),
        keys: vec![crate::plan::template::Key::Name("id".into())],
    };
    let log = |hole: &Expression| Step::Log(Template { pieces: vec![Piece::Hole(hole.clone())] });
    let element = Expression::Call { function: Function::LoopElement, arguments: Vec::new() };
    let inner = Repeat::Over(Expression::Constant(json!(["x", {"id": "y"}])));
    let inner = Step::Loop(Loop { body: vec![log(&element)], repeat: inner, pace: None });
    let counts = again(vec![log(&member)], 1, None);
    let body = vec![log(&member), inner, log(&member), counts];
    let outer = Repeat::Over(Expression::Constant(json!([{"id": 1}, {"id": 2}])));
    let flow = vec![Step::Loop(Loop { body, repeat: outer, pace: None })];
    let said = simulate_closely(plan(arrivals(1, 1, None), flow), Control::new(), http_server(|_| SECOND))
        .await
        .said;
    assert_eq!(said.join(" "), r#"1 x {"id":"y"} 1 1 2 x {"id":"y"} 2 2"#);
}
