//! Polls that are refused, those that come back, and messages that wait for a connection.

use super::*;

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
            assert_eq!((run.summary.traffic.polls, run.summary.traffic.polls_empty), (7, 2));
            assert_eq!((run.summary.http_codes[&refusal], asked.borrow().len()), (5, 7));
            assert_eq!((run.summary.users.failed, run.summary.traffic.connections_lost), (1, 1));
            assert_eq!(run.memberships, [1, 1, 1]);
        }
    }
}
