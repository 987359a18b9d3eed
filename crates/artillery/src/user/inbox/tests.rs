use super::*;
use sonagi_measure::stamp::Stamp;

fn event(inbox: &mut Inbox, recorder: &mut Recorder, data: &str) {
    let incoming = Incoming::Event { namespace: "/", data, attachments: &[], ack: None };
    inbox.receive(incoming, At(5), 9, 1, recorder);
}

#[test]
fn every_stamp_of_this_run_is_written_down_and_a_foreign_one_counted() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    let mut text = String::new();
    Stamp { run: 1, room: 2, sender: 3, number: 4 }.write(&mut text);
    Stamp { run: 8, room: 2, sender: 3, number: 5 }.write(&mut text);
    inbox.receive(Incoming::Websocket(WebsocketEvent::Text(&text)), At(5), 9, 1, &mut recorder);
    let batch = recorder.ledger();
    let seen: Vec<_> = batch.received.iter().map(|r| (r.at, r.member, r.room, r.number)).collect();
    assert_eq!((seen.as_slice(), batch.foreign), ([(At(5), 9, 2, 4)].as_slice(), 1));
}

#[test]
fn an_acknowledgement_that_echoes_the_message_is_no_delivery() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    let mut text = String::new();
    Stamp { run: 1, room: 2, sender: 3, number: 4 }.write(&mut text);
    let ack = Incoming::Ack { namespace: "/", id: 0, data: &format!("[\"{text}\"]"), attachments: &[] };
    inbox.receive(ack, At(5), 9, 1, &mut recorder);
    assert_eq!(recorder.ledger().received.len(), 0);
}

#[test]
fn an_awaited_event_is_told_from_others_and_its_argument_is_the_subject() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    inbox.await_answer(AwaitedEvent::Event("pong".into()));
    event(&mut inbox, &mut recorder, r#"["other",1]"#);
    event(&mut inbox, &mut recorder, r#"["pong",{"a":1}]"#);
    assert_eq!(inbox.take_answer().expect("it came").evidence().body(), r#"{"a":1}"#);
    assert_eq!(inbox.take_answer(), None);
}

#[test]
fn a_message_that_came_before_its_expect_step_is_kept_for_it() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    event(&mut inbox, &mut recorder, r#"["early",0]"#);
    inbox.keep_all();
    event(&mut inbox, &mut recorder, r#"["early",1,2]"#);
    inbox.await_answer(AwaitedEvent::Event("early".into()));
    assert_eq!(inbox.take_answer().expect("kept").evidence().body(), "[1,2]");
    assert_eq!(inbox.take_answer(), None, "without expect steps nothing is kept");
}

#[test]
fn a_message_is_awaited_by_its_topic_and_counted_as_its_connection_counts() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    inbox.begin_session(Counter::SseReceived);
    inbox.await_answer(AwaitedEvent::Event("moved".into()));
    for (topic, text) in [("other", "1"), ("moved", "{\"lat\":1}")] {
        inbox.receive(Incoming::Message { topic, text }, At(5), 9, 1, &mut recorder);
    }
    let answer = inbox.take_answer().expect("it came");
    assert_eq!((answer.evidence().body(), answer.evidence().arguments()), (r#"{"lat":1}"#, None));
    assert_eq!(inbox.take_answer(), None);
    let counters = recorder.take().counters;
    let counted = [Counter::SseReceived, Counter::MessagesReceived, Counter::PollsReceived];
    assert_eq!(counted.map(|counter| counters[counter]), [2, 2, 0]);
}

#[test]
fn the_receipt_that_is_awaited_is_told_from_others_and_hides_no_message() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    inbox.await_answer(AwaitedEvent::Any);
    let (first, awaited) = (inbox.await_receipt(), inbox.await_receipt());
    for id in [&first.to_string(), "sub-1", "", "1 "] {
        inbox.receive(Incoming::Receipt { id }, At(5), 9, 1, &mut recorder);
        assert_eq!(inbox.take_receipt(), None, "{id}");
    }
    let message = Incoming::Message { topic: "/topic/a", text: "overtakes it" };
    inbox.receive(message, At(6), 9, 1, &mut recorder);
    inbox.receive(Incoming::Receipt { id: &awaited.to_string() }, At(7), 9, 1, &mut recorder);
    assert_eq!((inbox.take_receipt(), inbox.take_receipt()), (Some(At(7)), None), "once");
    assert_eq!(inbox.take_answer().map(|answer| answer.at), Some(At(6)));
}

#[test]
fn what_is_set_aside_waits_on_and_finds_what_came_meanwhile() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    inbox.keep_all();
    event(&mut inbox, &mut recorder, r#"["kept",0]"#);
    inbox.await_answer(AwaitedEvent::Event("missed".into()));
    let aside = inbox.set_aside();
    inbox.await_answer(AwaitedEvent::Any);
    event(&mut inbox, &mut recorder, r#"["joined",1]"#);
    event(&mut inbox, &mut recorder, r#"["missed",2]"#);
    assert_eq!(inbox.take_answer().expect("it came").evidence().body(), "1", "nothing from before");
    inbox.stop_awaiting();
    inbox.put_back(aside);
    assert_eq!(inbox.take_answer().expect("it came meanwhile").evidence().body(), "2");
    inbox.stop_awaiting();
    inbox.await_answer(AwaitedEvent::Event("kept".into()));
    assert_eq!(inbox.take_answer().expect("kept all the while").evidence().body(), "0");
}

#[test]
fn however_large_the_burst_no_more_than_the_limit_is_kept() {
    let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
    inbox.keep_all();
    inbox.await_answer(AwaitedEvent::Any);
    for _ in 0..3 * KEPT_MESSAGES {
        event(&mut inbox, &mut recorder, r#"["noise"]"#);
    }
    inbox.stop_awaiting();
    event(&mut inbox, &mut recorder, r#"["more"]"#);
    assert_eq!(inbox.held().kept.len(), KEPT_MESSAGES);
}
