//! Polls that are refused, those that come back, and messages that wait for a connection.

use super::*;
use crate::plan::Reconnect;

#[tokio::test(start_paused = true)]
async fn a_refused_poll_has_failed_and_three_in_a_row_end_the_connection() {
    for refusal in [500, 401, 404] {
        for rhythm in [Rhythm::Every(SECOND), Rhythm::Held(25 * SECOND)] {
            let (asked, server) = scripted(move |number, _| match number {
                0 | 3 => (10 * MILLISECOND, ok("[]")),
                _ => (10 * MILLISECOND, status(refusal)),
            });
            let flow = vec![poll(rhythm, true), join(), think(20.0)];
            let run = simulate_closely(pull(flow), Control::new(), server).await;
            let code = format!("poll_refused_{refusal}");
            assert_eq!(codes(&run.summary), [(code.as_str(), Some("poll"), 5)]);
            let poll = operation(&run.summary, "poll");
            assert_eq!((poll.count, poll.failed), (6, 5), "two, an answer between, and three");
            assert_eq!(
                (run.summary.traffic[Counter::Polls], run.summary.traffic[Counter::PollsEmpty]),
                (7, 2)
            );
            assert_eq!((run.summary.http_codes[&refusal], asked.borrow().len()), (5, 7));
            assert_eq!((run.summary.users.failed, run.summary.traffic[Counter::ConnectionsLost]), (1, 1));
            assert_eq!(run.memberships, [1, 1, 1]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_held_poll_that_goes_on_behind_its_cursor_is_back_when_it_has_left() {
    let (asked, server) = scripted(|number, _| match number {
        0 => (10 * MILLISECOND, ok(r#"{"messages":[],"next":4}"#)),
        _ => (20 * SECOND, status(204)),
    });
    let subscribe = Subscribe { steps: vec![held(true), join()], resumes: true };
    let subscribe = Step::Subscribe(std::sync::Arc::new(subscribe));
    let mut plan = pull(vec![subscribe, think(1.0), Step::Reconnect, think(5.0)]);
    plan.operations.push(Operation { name: "reconnect".into(), kind: OperationKind::Reconnect });
    let (operation, first, most) = (OperationId(5), SECOND, SECOND);
    let reconnect = Reconnect { operation, is_automatic: false, first, most, attempts: 3, resume: true };
    plan.reconnect = Some(reconnect);
    let run = simulate_closely(plan, Control::new(), server).await;
    assert_eq!((run.summary.users.completed, codes(&run.summary)), (1, vec![]));
    let lines: Vec<String> = asked.borrow().iter().skip(1).map(|(_, line)| line.clone()).collect();
    assert_eq!(lines, ["GET /cur/g?after=4 HTTP/1.1", "GET /cur/g?after=4 HTTP/1.1"]);
    let took = super::operation(&run.summary, "reconnect").response_ms.max;
    assert!(took < 5.0, "the flow stood still for {took} ms");
    assert_eq!(run.resumed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_for_the_pool_is_sent_when_it_leaves_and_not_before() {
    let (_, server) = scripted(|_, _| (4 * SECOND, status(200)));
    let mut plan = Plan { load: arrivals(2, 2, None), ..pull(vec![join(), publish()]) };
    plan.http.pool = Some(1);
    let run = simulate_closely(plan, Control::new(), server).await;
    assert_eq!((run.summary.users.completed, codes(&run.summary)), (2, vec![]));
    assert_eq!(run.waits_ms, [0, 3000], "a second apart, and four until the connection is free");
}
