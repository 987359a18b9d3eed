//! Steps of one user at the same time.

use sonagi_measure::outcome::Failure;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::*;
use crate::plan::template::{Key, Piece};
use crate::plan::{Capture, Parallel, Source};

fn parallel(branches: Vec<Vec<Step>>, limit: usize) -> Step {
    Step::Parallel(Parallel { branches, limit })
}

fn log(name: &str) -> Step {
    let hole = Expression::Path { variable: name.into(), keys: Vec::<Key>::new() };
    Step::Log(Template { pieces: vec![Piece::Hole(hole)] })
}

fn set(name: &str, value: &str) -> Step {
    Step::Set { name: name.into(), value: Expression::Constant(value.into()) }
}

/// How long one user's flow lasts, in ms, against a server that takes 100 ms.
async fn lasts_ms(flow: Vec<Step>) -> (f64, Summary) {
    let server = http_server(|_| 100 * MILLISECOND);
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    (summary.users.session_ms.max.round(), summary)
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_last_as_long_as_one() {
    let branches = |n| vec![vec![get(SECOND)]; n];
    for (limit, expected) in [(100, 100.0), (5, 100.0), (2, 300.0), (1, 500.0), (0, 500.0)] {
        let (lasted, summary) = lasts_ms(vec![parallel(branches(5), limit)]).await;
        assert_eq!(lasted, expected, "limit {limit}");
        assert_eq!(
            (
                summary.traffic[Counter::HttpRequests],
                summary.traffic[Counter::HttpResponses],
                summary.users.completed
            ),
            (5, 5, 1)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_stands_behind_begins_when_the_last_branch_has_ended() {
    let branches = vec![vec![get(SECOND)], vec![think(0.25), get(SECOND)], vec![]];
    let (lasted, summary) = lasts_ms(vec![parallel(branches, 9), get(SECOND)]).await;
    assert_eq!(lasted, 450.0);
    let operation = &summary.operations[0];
    assert_eq!(operation.response_ms.max.round(), 100.0, "nothing waited for a branch that was not its own");
}

#[tokio::test(start_paused = true)]
async fn a_loop_in_a_branch_and_a_fork_in_a_fork_run_beside_the_others() {
    let inner = parallel(vec![vec![get(SECOND)], vec![get(SECOND), get(SECOND)]], 9);
    let branches = vec![vec![again(vec![get(SECOND)], 3, None)], vec![inner]];
    let (lasted, summary) = lasts_ms(vec![again(vec![parallel(branches, 9)], 2, None)]).await;
    assert_eq!((lasted, summary.traffic[Counter::HttpResponses]), (600.0, 12));
}

#[tokio::test(start_paused = true)]
async fn a_user_keeps_the_connections_of_its_branches() {
    let turn = parallel(vec![vec![get(SECOND)]; 3], 9);
    let opened = Rc::new(Cell::new(0));
    let (count, serve) = (Rc::clone(&opened), http_server(|_| 100 * MILLISECOND));
    let server = move |stream| {
        count.set(count.get() + 1);
        serve(stream);
    };
    let flow = vec![again(vec![turn], 4, None)];
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    assert_eq!((opened.get(), summary.traffic[Counter::HttpResponses]), (3, 12));
}

#[tokio::test(start_paused = true)]
async fn branches_share_variables_but_not_loops() {
    let count = Expression::Call { function: crate::plan::Function::LoopCount, arguments: Vec::new() };
    let keep = |name: &str| Step::Set { name: name.into(), value: count.clone() };
    let first = vec![again(vec![think(0.1)], 3, None), set("x", "first"), keep("outer")];
    let second = vec![think(0.4), log("x"), again(vec![think(0.1), keep("inner")], 2, None)];
    let flow = vec![again(vec![parallel(vec![first, second], 9)], 1, None), log("outer"), log("inner")];
    let simulated =
        simulate_closely(plan(arrivals(1, 1, None), flow), Control::new(), http_server(|_| SECOND)).await;
    assert_eq!(simulated.said, ["first", "0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_fails_ends_the_user_once_requests_under_way_are_answered() {
    let impatient = get(50 * MILLISECOND);
    let branches = vec![
        vec![think(30.0), get(SECOND)],
        vec![get(SECOND), get(SECOND)],
        vec![impatient, get(SECOND)],
        vec![again(vec![think(0.02)], 1_000, None)],
    ];
    let flow = vec![parallel(branches, 9), get(SECOND)];
    let server = http_server(|_| 100 * MILLISECOND);
    let started = Instant::now();
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    assert_eq!((summary.users.completed, summary.users.failed), (0, 1));
    assert_eq!(
        (summary.traffic[Counter::HttpRequests], summary.traffic[Counter::HttpResponses]),
        (2, 1),
        "the one under way was answered"
    );
    let failures: Vec<_> =
        summary.errors.iter().map(|failure| (failure.code.as_str(), failure.count)).collect();
    assert_eq!(failures, [(&*Failure::Timeout.code(), 1)]);
    assert!(started.elapsed() < 2 * SECOND, "no pause was waited for");
}

#[tokio::test(start_paused = true)]
async fn branches_that_fail_together_are_both_counted_and_their_user_once() {
    let flow = vec![parallel(vec![vec![get(50 * MILLISECOND)]; 2], 9)];
    let server = http_server(|_| SECOND);
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    assert_eq!(
        (summary.users.failed, summary.traffic[Counter::HttpRequests], summary.errors[0].count),
        (1, 2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_cuts_every_branch() {
    let flow = vec![parallel(vec![vec![get(60 * SECOND)]; 3], 9)];
    let control = Control::new();
    let stop = control.clone();
    let stopping = async {
        tokio::time::sleep(3 * SECOND).await;
        stop.stop();
    };
    let run = simulate(plan(arrivals(1, 1, None), flow), control, http_server(|_| 60 * SECOND));
    let (summary, ()) = tokio::join!(run, stopping);
    assert_eq!((summary.users.stopped, summary.users.operations_cut), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn what_one_branch_captures_the_next_step_of_another_sends() {
    let captures = Capture { from: Source::Status, name: "status".into(), strict: true };
    let Step::Http(step) = get(SECOND) else { unreachable!("it is one") };
    let capturing = Step::Http(Box::new(HttpStep { captures: vec![captures], ..*step.clone() }));
    let hole = Piece::Hole(Expression::Path { variable: "status".into(), keys: Vec::new() });
    let url = Template { pieces: vec![Piece::Text("/".into()), hole] };
    let sending = Step::Http(Box::new(HttpStep { url, ..*step }));
    let paths = Rc::<RefCell<Vec<String>>>::default();
    let noted = Rc::clone(&paths);
    let server = move |mut stream: DuplexStream| {
        let noted = Rc::clone(&noted);
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                if request.ends_with(b"\r\n\r\n") {
                    let head = String::from_utf8(std::mem::take(&mut request)).unwrap();
                    noted.borrow_mut().push(head.split(' ').nth(1).unwrap().to_owned());
                    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                }
            }
        });
    };
    let flow = vec![parallel(vec![vec![think(0.5), sending], vec![capturing]], 9)];
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), server).await;
    assert_eq!(summary.users.completed, 1);
    assert_eq!(*paths.borrow(), ["/", "/204"]);
}
