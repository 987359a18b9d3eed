use super::*;

#[test]
fn a_queue_over_its_limit_closes_itself_and_drops_what_waited() {
    let outbox = Outbox::new(10 + 2 * OVERHEAD);
    assert_eq!(outbox.push(Bytes::from_static(b"12345")), Pushed::Queued);
    assert_eq!(outbox.push(Bytes::from_static(b"67890")), Pushed::Queued);
    assert_eq!(outbox.push(Bytes::from_static(b"x")), Pushed::Overflow);
    assert_eq!(outbox.push(Bytes::from_static(b"y")), Pushed::Gone);
    let mut frames = VecDeque::new();
    assert_eq!(outbox.take(&mut frames), Standing::Closing(Close::Slow));
    assert!(frames.is_empty());
}

#[test]
fn taken_frames_count_until_they_are_written() {
    let outbox = Outbox::new(10 + OVERHEAD);
    outbox.push(Bytes::from_static(b"12345678"));
    let mut frames = VecDeque::new();
    outbox.take(&mut frames);
    assert_eq!(outbox.waiting(), 8 + OVERHEAD);
    outbox.wrote(7, 0);
    assert_eq!(outbox.waiting(), 1 + OVERHEAD);
    outbox.wrote(1, 1);
    assert_eq!(outbox.push(Bytes::from_static(b"1234567890")), Pushed::Queued);
}

#[test]
fn the_first_reason_to_close_stands() {
    let outbox = Outbox::new(10);
    assert!(outbox.close(Close::Dead));
    assert!(!outbox.close(Close::Restart));
    assert_eq!(outbox.standing(), Standing::Closing(Close::Dead));
}

#[test]
fn a_polling_answer_takes_what_fits_and_at_least_one_frame() {
    let outbox = Outbox::new(1000);
    let frame = Bytes::from_static(b"0123456789");
    for _ in 0..3 {
        outbox.push(frame.clone());
    }
    let poll = |budget| outbox.poll(&mut Context::from_waker(Waker::noop()), budget);
    let frames = |count| Poll::Ready(Polled::Frames(vec![frame.clone(); count]));
    assert_eq!(poll(5), frames(1));
    assert_eq!(poll(25), frames(2));
    assert_eq!(poll(25), Poll::Pending);
    outbox.polls(Polls::Hurry);
    assert_eq!(poll(25), Poll::Ready(Polled::Released));
    outbox.push(frame.clone());
    assert_eq!(poll(25), frames(1));
    outbox.push(frame.clone());
    outbox.polls(Polls::Over);
    assert_eq!(poll(25), Poll::Ready(Polled::Released), "the queue is the WebSocket's");
}

#[test]
fn a_packet_is_its_frame_without_the_header() {
    for size in [0usize, 125, 126, 65_535, 65_536] {
        let payload = vec![b'a'; size];
        let frame = sonagi_wire::websocket::shared(sonagi_wire::websocket::Opcode::Text, &payload);
        assert_eq!(packet_of(&frame), Some((false, Bytes::from(payload))));
    }
    let ping = sonagi_wire::websocket::shared(sonagi_wire::websocket::Opcode::Ping, b"");
    assert_eq!(packet_of(&ping), None);
}

/// A socket that `deliver` may write to, and its other end.
async fn attached(outbox: &Outbox) -> (tokio::net::tcp::OwnedReadHalf, tokio::net::TcpStream) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (read, write) = listener.accept().await.unwrap().0.into_split();
    write.writable().await.unwrap();
    outbox.attach(write);
    (read, there)
}

#[tokio::test]
async fn what_is_delivered_goes_straight_to_the_socket_but_never_past_what_waits() {
    let outbox = Outbox::new(1000);
    let (_read, mut there) = attached(&outbox).await;
    assert_eq!(outbox.deliver(&Bytes::from_static(b"one")), (Pushed::Queued, 3));
    assert_eq!(outbox.waiting(), 0);
    outbox.push(Bytes::from_static(b"two"));
    assert_eq!(outbox.deliver(&Bytes::from_static(b"three")), (Pushed::Queued, 0));
    let mut frames = VecDeque::new();
    outbox.take(&mut frames);
    assert_eq!(frames, [&b"two"[..], b"three"]);
    // Taken is not written yet.
    assert_eq!(outbox.deliver(&Bytes::from_static(b"four")), (Pushed::Queued, 0));
    outbox.close(Close::Normal);
    assert_eq!(outbox.deliver(&Bytes::from_static(b"five")), (Pushed::Gone, 0));
    let mut got = [0; 16];
    let read = tokio::io::AsyncReadExt::read(&mut there, &mut got).await.unwrap();
    assert_eq!(&got[..read], b"one");
}

#[tokio::test]
async fn a_full_socket_leaves_exactly_the_rest_on_the_queue() {
    let piece: Bytes = (0..=255).cycle().take(32 * 1024 * 1024).collect::<Vec<u8>>().into();
    let outbox = Outbox::new(piece.len() + OVERHEAD);
    let (_read, mut there) = attached(&outbox).await;
    let (pushed, written) = outbox.deliver(&piece);
    assert_eq!(pushed, Pushed::Queued);
    assert!(written > 0 && written < piece.len(), "{written}");
    // Over the limit what waits is given up, but for what the client has read the beginning of.
    assert_eq!(outbox.deliver(&piece), (Pushed::Overflow, 0));
    let mut frames = VecDeque::new();
    assert_eq!(outbox.take(&mut frames), Standing::Closing(Close::Slow));
    assert_eq!(frames, [piece.slice(written..)]);
    let mut got = vec![0; written];
    tokio::io::AsyncReadExt::read_exact(&mut there, &mut got).await.unwrap();
    assert!(piece.starts_with(&got));
}

#[tokio::test]
async fn a_piece_that_goes_over_the_limit_half_written_is_still_finished() {
    let piece = Bytes::from(vec![7; 32 * 1024 * 1024]);
    let outbox = Outbox::new(1000);
    let _ends = attached(&outbox).await;
    let (pushed, written) = outbox.deliver(&piece);
    assert_eq!(pushed, Pushed::Overflow);
    let mut frames = VecDeque::new();
    assert_eq!(outbox.take(&mut frames), Standing::Closing(Close::Slow));
    assert_eq!(frames, [piece.slice(written..)]);
}
