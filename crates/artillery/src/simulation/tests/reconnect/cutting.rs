//! The fate of messages without an answer when their sender cuts its own connection.

use super::*;

/// Says a stamp, and waits for nothing.
fn stamped() -> Step {
    let stamp = Expression::Call { function: Function::Stamp, arguments: Vec::new() };
    send(Template { pieces: vec![Piece::Hole(stamp)] }, None)
}

/// Lets its user in with a place to resume from, and says nothing more; never a goodbye either.
fn mute() -> impl Fn(DuplexStream) {
    server(SECOND, |_, mut peer: Peer| async move {
        peer.heard().await;
        peer.text("joined").await;
        peer.text(r#"{"seq":7}"#).await;
        peer.stay().await;
    })
}

/// The sender is owed its own copies: it resumes, or its stay ends half a second after they left. None comes.
#[tokio::test(start_paused = true)]
async fn what_left_right_before_a_cut_of_our_own_is_not_charged_to_the_target() {
    for cut in [Step::Reconnect, Step::Disconnect] {
        let flow =
            vec![open(), subscribe(true), think(1.0), stamped(), think(1.0), stamped(), cut, think(1.0)];
        let by_hand = Reconnect { is_automatic: false, ..automatic() };
        let summary = simulate(reconnecting(by_hand, flow), Control::new(), mute()).await;
        assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
        let counts = summary.delivery.unwrap().counts;
        assert_eq!((counts.messages, counts.lost, counts.unknown), (2, 1, 1));
    }
}
