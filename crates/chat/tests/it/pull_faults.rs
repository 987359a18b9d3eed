//! Faults planted in what is polled: who polls sees what the service counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service};

use crate::client::{get, metric, post};

const POLLERS: usize = 10;
const STRANGERS: usize = 3;
const MESSAGES: usize = 25;

/// Everything together.
const ALL: &str = "drop=3%,duplicate=3%,delay=20ms@5%,reorder=3%,leak=3%,seed=1";

/// How somebody polls.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Short,
    Long,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    lost: u64,
    duplicate: u64,
    reordered: u64,
    leaked: u64,
}

async fn poll(service: &Service, user: usize, how: How, group: &str, after: &str) -> Option<Value> {
    let path = match how {
        How::Short => format!("/cur/{group}?after={after}"),
        How::Long => format!("/location/long/{group}?after={after}"),
    };
    let reply = get(service.address(), &path, &service.credentials()[user].token).await;
    match reply.status {
        200 => Some(reply.json()),
        204 => None,
        _ => panic!("{} {}", reply.status, reply.body),
    }
}

fn cursor(answer: &Value) -> String {
    answer["next"].as_str().map_or_else(|| answer["next"].to_string(), str::to_owned)
}

/// What the tasks of a shower know of each other.
#[derive(Default)]
struct Talk {
    joined: AtomicUsize,
    /// Senders that have not said all.
    saying: AtomicUsize,
    /// Messages so far.
    said: AtomicUsize,
    /// Answers that were cut short.
    cut: AtomicUsize,
}

impl Talk {
    /// A poller's rhythm: one turn for so many messages.
    async fn turn(&self, every: usize) {
        let before = self.said.load(Relaxed);
        while self.said.load(Relaxed) < before + every && self.saying.load(Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
    }
}

/// Polls until all has been said and then nothing comes for longer than any copy is held. `page` is how long an answer
/// may be; what follows one that was cut is asked for at once, the rest by turns in which several pages come together.
async fn listen(service: &Service, user: usize, group: &str, talk: &Talk, page: Option<usize>) -> Vec<Value> {
    let how = if user.is_multiple_of(2) { How::Long } else { How::Short };
    let first = poll(service, user, how, group, "").await.unwrap();
    talk.joined.fetch_add(1, Relaxed);
    let (mut after, mut copies, mut quiet) = (cursor(&first), Vec::new(), None);
    loop {
        let is_over = talk.saying.load(Relaxed) == 0;
        let answer = poll(service, user, how, group, &after).await;
        let got = answer.as_ref().map_or(&[][..], |answer| answer["messages"].as_array().unwrap());
        copies.extend_from_slice(got);
        if let Some(answer) = &answer {
            assert_eq!(answer["gap"], false);
            after = cursor(answer);
            assert!(page.is_none_or(|page| got.len() <= page), "{answer}");
            if answer["more"] == true && !got.is_empty() {
                talk.cut.fetch_add(1, Relaxed);
                continue;
            }
        }
        talk.turn(page.map_or(0, |page| 3 * page)).await;
        if !got.is_empty() || !is_over {
            quiet = None;
            tokio::task::yield_now().await;
        } else if quiet.get_or_insert_with(std::time::Instant::now).elapsed() > Duration::from_millis(400) {
            return copies;
        }
    }
}

fn judge(copies: &[Value], owed: u64, seen: &mut Seen) {
    let mut first: HashMap<(u64, u64), ()> = HashMap::new();
    let mut highest: HashMap<u64, u64> = HashMap::new();
    for copy in copies {
        let (user, n) = (copy["senderId"].as_u64().unwrap(), copy["content"].as_u64().unwrap());
        if first.insert((user, n), ()).is_some() {
            seen.duplicate += 1;
            continue;
        }
        let highest = highest.entry(user).or_default();
        if *highest > n {
            seen.reordered += 1;
        }
        *highest = (*highest).max(n);
    }
    seen.lost += owed - first.len() as u64;
}

async fn shower(plan: &str, page: Option<usize>) -> (Seen, Seen) {
    let faults = format!("{plan},settle=0s,hold=100ms").parse().unwrap();
    let mut limits = Limits { long_hold: Duration::from_millis(200), ..Limits::default() };
    limits.history_page = page.unwrap_or(limits.history_page);
    let config = Config { seed_users: POLLERS + STRANGERS, faults, limits, ..Config::default() };
    let service = Arc::new(sonagi_chat::start(config).await.unwrap());
    let talk = Arc::new(Talk { saying: AtomicUsize::new(POLLERS), ..Talk::default() });
    let listeners: Vec<_> = (0..POLLERS + STRANGERS)
        .map(|user| {
            let (service, talk) = (service.clone(), talk.clone());
            let group = if user < POLLERS { "7" } else { "quiet" };
            tokio::spawn(async move { listen(&service, user, group, &talk, page).await })
        })
        .collect();
    while talk.joined.load(Relaxed) < POLLERS + STRANGERS {
        tokio::task::yield_now().await;
    }
    let senders: Vec<_> = (0..POLLERS)
        .map(|user| {
            let (service, talk) = (service.clone(), talk.clone());
            tokio::spawn(async move {
                for n in 1..=MESSAGES {
                    let token = &service.credentials()[user].token;
                    let body = n.to_string();
                    let reply = post(service.address(), "/location/long/7/notify", token, &body).await;
                    assert_eq!(reply.status, 200, "{}", reply.body);
                    talk.said.fetch_add(1, Relaxed);
                }
                talk.saying.fetch_sub(1, Relaxed);
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    let mut seen = Seen::default();
    for (user, listener) in listeners.into_iter().enumerate() {
        let copies = listener.await.unwrap();
        match user < POLLERS {
            true => judge(&copies, (POLLERS * MESSAGES) as u64, &mut seen),
            false => seen.leaked += copies.len() as u64,
        }
    }
    // 250 messages in pages of 4, or as they come.
    let cut = talk.cut.load(Relaxed);
    assert!(page.is_none_or(|_| cut > POLLERS * 20), "{cut} answers were cut");
    let metrics = service.metrics();
    let planted = |kind: &str| metric(&metrics, &format!("chat_faults_planted_total{{kind=\"{kind}\"}}"));
    let counted = Seen {
        lost: planted("drop"),
        duplicate: planted("duplicate"),
        reordered: planted("reorder"),
        leaked: planted("leak"),
    };
    (seen, counted)
}

#[tokio::test]
async fn each_fault_is_counted_as_pollers_see_it() {
    for plan in ["drop=5%,seed=3", "duplicate=5%,seed=3", "reorder=5%,seed=3", "leak=5%,seed=3"] {
        let (seen, counted) = shower(plan, None).await;
        assert_eq!(seen, counted, "{plan}");
        let sum = seen.lost + seen.duplicate + seen.reordered + seen.leaked;
        assert!((10..500).contains(&sum), "{plan}: {seen:?}");
    }
}

#[tokio::test]
async fn all_faults_together_are_counted_as_pollers_see_them() {
    for page in [None, Some(4)] {
        let (seen, counted) = shower(ALL, page).await;
        assert_eq!(seen, counted, "{page:?}");
        assert!(seen.lost > 0 && seen.duplicate > 0 && seen.leaked > 0, "{page:?}: {seen:?}");
    }
}

#[tokio::test]
async fn each_fault_is_counted_as_pollers_see_it_in_answers_that_are_cut_short() {
    for plan in ["drop=5%,seed=3", "duplicate=5%,seed=3", "delay=20ms@5%,seed=3", "reorder=5%,seed=3"] {
        let (seen, counted) = shower(plan, Some(4)).await;
        assert_eq!(seen, counted, "{plan}");
    }
}

#[tokio::test]
async fn what_was_dropped_stays_dropped_for_a_poll_that_asks_again() {
    let faults = "drop=100%,settle=0s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 1, faults, ..Config::default() }).await.unwrap();
    let ask = async |after: &str| poll(&service, 0, How::Short, "7", after).await.unwrap();
    let first = ask("").await;
    post(service.address(), "/location/long/7/notify", "", "1").await;
    for _ in 0..2 {
        let answer = ask(&cursor(&first)).await;
        assert_eq!(answer, json!({"group": "7", "messages": [], "next": 1, "gap": false}));
    }
}

#[tokio::test]
async fn an_answer_that_did_not_arrive_is_given_again_and_one_that_did_is_not() {
    let faults = "drop=1%,settle=3600s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 2, faults, ..Config::default() }).await.unwrap();
    let seqs = |answer: &Value| {
        let messages = answer["messages"].as_array().unwrap();
        messages.iter().map(|message| message["seq"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    for (user, how) in [(0, How::Short), (1, How::Long)] {
        let group = user.to_string();
        let share = async |times: usize| {
            for _ in 0..times {
                post(service.address(), &format!("/location/long/{group}/notify"), "", "1").await;
            }
        };
        let ask = async |after: String| poll(&service, user, how, &group, &after).await.unwrap();
        let first = ask(String::new()).await;
        assert_eq!((seqs(&first), &first["gap"]), (vec![], &false.into()));
        share(2).await;
        let second = ask(cursor(&first)).await;
        assert_eq!(seqs(&second), [1, 2]);
        share(1).await;
        let again = ask(cursor(&first)).await;
        assert_eq!((seqs(&again), cursor(&again)), (vec![1, 2], cursor(&second)));
        share(1).await;
        let third = ask(cursor(&again)).await;
        assert_eq!(seqs(&third), [3, 4]);
        // Any other cursor begins anew from there.
        assert_eq!(seqs(&ask(cursor(&first)).await), [1, 2, 3, 4]);
        let ahead = cursor(&third).trim_end_matches('4').to_owned() + "9";
        let ahead = ask(ahead).await;
        assert_eq!((seqs(&ahead), &ahead["gap"]), (vec![1, 2, 3, 4], &json!(true)));
    }
}

#[tokio::test]
async fn an_answer_is_no_longer_than_without_faults_and_the_rest_waits_for_the_next() {
    let faults = "drop=1%,settle=3600s".parse().unwrap();
    let limits = Limits { history_page: 5, history_bytes: 1000, ..Limits::default() };
    let service =
        sonagi_chat::start(Config { seed_users: 1, faults, limits, ..Config::default() }).await.unwrap();
    let ask = async |after: String| {
        let answer = poll(&service, 0, How::Short, "7", &after).await.unwrap();
        let messages = answer["messages"].as_array().unwrap();
        let seqs = messages.iter().map(|message| message["seq"].as_u64().unwrap()).collect::<Vec<u64>>();
        (seqs, cursor(&answer))
    };
    let begin = ask(String::new()).await.1;
    for _ in 0..12 {
        post(service.address(), "/location/long/7/notify", "", "1").await;
    }
    for _ in 0..2 {
        let long = format!("\"{}\"", "x".repeat(600));
        post(service.address(), "/location/long/7/notify", "", &long).await;
    }
    let mut after = begin;
    for expected in [vec![1, 2, 3, 4, 5], vec![6, 7, 8, 9, 10], vec![11, 12, 13], vec![14], vec![]] {
        let answer = ask(after.clone()).await;
        // Asked again, it is the same, unless that says that it has arrived.
        if answer.1 != after {
            assert_eq!(ask(after).await, answer);
        }
        assert_eq!(answer.0, expected);
        after = answer.1;
    }
}
