//! Location groups by HTTP: polling, long polling, and sharing a location without a connection.
//!
//! | request | answer |
//! |---|---|
//! | `GET /cur/:group?after=n` | what there is, at once |
//! | `GET /location/long/:group?after=c` | what there is as soon as there is something; 204 when there was not |
//! | `POST /location/long/:group/notify` | `{"ok":true,"seq":n}` once it is stored and published |
//!
//! A poll is a question with a cursor and nobody's connection: the room keeps nothing of it but a place among its
//! waiters while it waits. Only while faults are planted is a poller with an account a member (`pollers`), because a
//! fault needs somebody to happen to. The cursor of long polling also names the store it is from, so that a number of
//! another one is seen for what it is; that of polling is the bare number, which scripts can count with.

mod poll;
pub(crate) mod pollers;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use serde_json::value::RawValue;

use crate::connection::source::Source;
use poll::{Counted, PollAnswer, PollRequest};
use pollers::Pollers;

use crate::http::{self, Answer};
use crate::hub::Hub;
use crate::hub::receipt::{Receipt, Reply};
use crate::model::room_id::OPEN;
use crate::problem::Problem;
use crate::rooms::cursor::{Excerpt, Found, PRESENT, Start, start_of_text};
use crate::rooms::room::Room;
use crate::rooms::waiters::Ticket;
use crate::store::PageRequest;

/// `GET /cur/:group`
pub(crate) async fn current(
    request: &Request<Incoming>,
    group: &str,
    source: Source,
    pollers: &Pollers,
) -> Result<Answer, Problem> {
    let hub = &pollers.hub;
    let start = match start_of_text(&http::query(request, "after").unwrap_or_default())? {
        Start::Now => Start::Last(PRESENT),
        start => start,
    };
    let (room, pulled) = pull(request, group, source, PollRequest { start, hold: None }, pollers).await?;
    // Nothing waits, so nothing expires; a poll that another of its user's overtook finds nothing.
    let Some(pulled) = pulled else { return Ok(nothing(hub)) };
    let next = pulled.excerpt.last.to_string();
    Ok(answer(&room, &pulled, &next, hub))
}

/// `GET /location/long/:group`
pub(crate) async fn long(
    request: &Request<Incoming>,
    group: &str,
    source: Source,
    pollers: &Pollers,
) -> Result<Answer, Problem> {
    let hub = &pollers.hub;
    let cursor = Cursor::read(&http::query(request, "after").unwrap_or_default(), &hub.epoch)?;
    let hold = Some(hub.config.limits.long_hold);
    let asked = match cursor {
        Cursor::None => PollRequest { start: Start::Last(1), hold: None },
        Cursor::Foreign => PollRequest { start: Start::Last(PRESENT), hold: None },
        Cursor::After(after) => PollRequest { start: Start::After(after), hold },
    };
    let (room, pulled) = pull(request, group, source, asked, pollers).await?;
    let Some(mut pulled) = pulled else { return Ok(nothing(hub)) };
    pulled.has_gap |= cursor == Cursor::Foreign;
    let next = format!("\"{}.{}\"", hub.epoch, pulled.excerpt.last);
    Ok(answer(&room, &pulled, &next, hub))
}

/// The cursor of a long poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cursor {
    None,
    After(u64),
    /// The cursor is of another store: its number means nothing here.
    Foreign,
}

impl Cursor {
    fn read(text: &str, epoch: &str) -> Result<Cursor, Problem> {
        if text.is_empty() {
            return Ok(Cursor::None);
        }
        let parts = text.rsplit_once('.').filter(|(epoch, number)| {
            let is_epoch = epoch.len() == 16 && epoch.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_epoch && !number.is_empty()
        });
        let cursor = parts.and_then(|(given, number)| match start_of_text(number) {
            Ok(Start::After(after)) if given == epoch => Some(Cursor::After(after)),
            Ok(_) => Some(Cursor::Foreign),
            Err(_) => None,
        });
        cursor.ok_or_else(|| Problem::bad_request(format!("after is the `next` of an answer, got `{text}`")))
    }
}

async fn pull(
    request: &Request<Incoming>,
    group: &str,
    source: Source,
    asked: PollRequest,
    pollers: &Pollers,
) -> Result<(Arc<Room>, Option<PollAnswer>), Problem> {
    let hub = &pollers.hub;
    let user = http::visitor(request, hub)?;
    let room = hub.group(&http::decode(group, false), source)?;
    if !hub.is_serving() {
        return Err(Problem::draining());
    }
    let pulled = match user {
        Some(user) if !hub.config.faults.is_none() => pollers::pull(user, &room, asked, pollers).await?,
        _ => read(&room, asked, hub).await?,
    };
    Ok((room, pulled))
}

/// The messages for a cursor in the room, now or within its hold; `None` when that has passed.
async fn read(room: &Arc<Room>, asked: PollRequest, hub: &Arc<Hub>) -> Result<Option<PollAnswer>, Problem> {
    let limits = &hub.config.limits;
    let found = |excerpt, has_gap| Ok(Some(PollAnswer { excerpt, has_gap, is_counted: false }));
    let until = asked.hold.map(|hold| tokio::time::Instant::now() + hold);
    let mut start = asked.start;
    let mut is_fresh = false;
    loop {
        match room
            .look(start, std::mem::take(&mut is_fresh), limits.history_bytes)
            .ok_or_else(Problem::store)?
        {
            Found::Stale => {
                hub.refresh(room).await?;
                is_fresh = true;
            }
            Found::Excerpt(excerpt, gap) => return found(excerpt, gap.is_some()),
            Found::Behind { after, upto, gap } => {
                let wanted =
                    PageRequest { after, upto, messages: limits.history_page, bytes: limits.history_bytes };
                let page = hub.page(room, wanted).await?;
                // Between the look and the page it may have been deleted.
                let hole = page.first().is_none_or(|first| first.seq > after + 1);
                let mut excerpt = Excerpt::new(after, page.iter(), usize::MAX);
                if page.is_empty() {
                    excerpt.last = upto;
                }
                return found(excerpt, gap.is_some() || hole);
            }
            Found::Nothing(after) => {
                let Some(until) = until else { return found(Excerpt::new(after, [].iter(), 0), false) };
                let _waiting = Counted::new(&hub.metrics.longpoll);
                let wait = Waiting { room, hub, after, ticket: None };
                if tokio::time::timeout_at(until, wait).await.is_err() {
                    return Ok(None);
                }
                if !hub.is_serving() {
                    return Err(Problem::draining());
                }
                start = Start::After(after);
            }
        }
    }
}

/// Waits until the room has a message above a number, or the service drains.
struct Waiting<'a> {
    room: &'a Room,
    hub: &'a Hub,
    after: u64,
    ticket: Option<Ticket>,
}

impl Future for Waiting<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (room, after) = (self.room, self.after);
        // In this order: a drain says so first, and wakes whoever has registered then.
        if room.wait(after, &mut self.ticket, cx.waker()) || !self.hub.is_serving() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = &self.ticket {
            self.room.give_up(ticket);
        }
    }
}

/// `next` is JSON.
fn answer(room: &Room, pulled: &PollAnswer, next: &str, hub: &Hub) -> Answer {
    let PollAnswer { excerpt, has_gap, is_counted } = pulled;
    let group = room.id.strip_prefix(OPEN).unwrap_or(&room.id);
    let mut body = Vec::with_capacity(excerpt.objects.len() + group.len() + next.len() + 64);
    body.extend_from_slice(format!(r#"{{"group":"{group}","messages":["#).as_bytes());
    body.extend_from_slice(&excerpt.objects);
    let more = if excerpt.last < room.last_published() { r#","more":true"# } else { "" };
    body.extend_from_slice(format!(r#"],"next":{next},"gap":{has_gap}{more}}}"#).as_bytes());
    let metrics = &hub.metrics;
    metrics.bytes_out.add(body.len() as u64);
    if excerpt.count == 0 { &metrics.empty_polls } else { &metrics.polls }.add(1);
    if !is_counted {
        metrics.deliveries.add(excerpt.count);
        metrics.delivery_bytes.add(excerpt.objects.len() as u64);
    }
    http::json(StatusCode::OK, body)
}

/// The answer to a long poll that has waited for nothing.
fn nothing(hub: &Hub) -> Answer {
    hub.metrics.empty_polls.add(1);
    http::empty(match hub.config.long_expiry_503 {
        true => StatusCode::SERVICE_UNAVAILABLE,
        false => StatusCode::NO_CONTENT,
    })
}

/// The content published for a request without a body.
const SIGN_OF_LIFE: &str = "{}";

/// Has the body published in the group: any JSON value, or nothing at all.
pub(crate) async fn share(
    request: Request<Incoming>,
    group: &str,
    source: Source,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let user = http::visitor(&request, hub)?;
    let room = hub.group(group, source)?;
    let id = idempotency_key(request.headers())?;
    let body = http::body_or_problem(request, hub.config.limits.body_bytes, hub).await?;
    hub.metrics.bytes_in.add(body.len() as u64);
    let text = std::str::from_utf8(&body).map_err(|_| Problem::bad_request("the body is not UTF-8"))?;
    let text = if text.trim_ascii().is_empty() { SIGN_OF_LIFE } else { text };
    let content: &RawValue = serde_json::from_str(text)
        .map_err(|error| Problem::bad_request(format!("the body is a JSON value or nothing: {error}")))?;
    let sender = hub.senders.of(user, &hub.peers, hub.now(), &hub.config.limits);
    let (reply, replied) = Reply::channel();
    hub.say(&sender, Some(&room.id), Some(content), id, Receipt::Reply(reply));
    // Dropped by a log that has stopped.
    let seq = replied.await.map_err(|_| Problem::draining())??;
    Ok(http::json(StatusCode::OK, format!(r#"{{"ok":true,"seq":{seq}}}"#)))
}

/// The client's id of what it sends: `Idempotency-Key`, in quotes as its specification has it, or bare.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().map_err(|_| Problem::bad_request("Idempotency-Key is ASCII text"))?.trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    Ok((!key.is_empty()).then(|| key.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::{Wake, Waker};

    use super::*;
    use crate::config::{Config, Limits};
    use crate::model::message::Message;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn publish(room: &Room, seq: u64, hub: &Hub) {
        room.publish(&[Message::new(seq, seq, 0, "1", 9)], &mut [], &hub.metrics);
    }

    #[test]
    fn the_cursor_of_a_long_poll_is_its_store_s() {
        let read = |text: &str| Cursor::read(text, "0123456789abcdef");
        assert_eq!(read(""), Ok(Cursor::None));
        assert_eq!(read("0123456789abcdef.7"), Ok(Cursor::After(7)));
        assert_eq!(read("0123456789abcdee.7"), Ok(Cursor::Foreign));
        for wrong in ["7", ".7", "0123456789abcdef.", "0123456789abcdef.x", "0123456789abcdefg.7", "a.b.c"] {
            assert_eq!(read(wrong).unwrap_err().code, "bad_request", "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_message_published_at_any_moment_around_the_registration_is_not_missed() {
        let service = crate::start(Config::default()).await.unwrap();
        let (hub, room) = (service.hub(), service.hub().group("7", Source::default()).unwrap());
        let ready = |after: u64, published_before: &[u64], published_between: &[u64]| {
            let woken = Arc::<Counting>::default();
            let waker: Waker = woken.clone().into();
            published_before.iter().for_each(|seq| publish(&room, *seq, hub));
            let mut wait = std::pin::pin!(Waiting { room: &room, hub, after, ticket: None });
            let first = wait.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            published_between.iter().for_each(|seq| publish(&room, *seq, hub));
            let wakes = woken.0.load(Relaxed);
            let second = !first && wait.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            (first, wakes, second)
        };
        // After the cursor was taken, before the wait began; after it began; and never.
        assert_eq!(ready(0, &[1], &[]), (true, 0, false));
        assert_eq!(ready(1, &[], &[2, 3]), (false, 1, true));
        assert_eq!(ready(3, &[], &[]), (false, 0, false));
        assert_eq!(hub.metrics.longpoll.get(), 0);
        assert_eq!(room.waiting(), 0, "whoever gave up waits no more");
    }

    #[tokio::test]
    async fn polls_that_wait_are_woken_once_each_by_a_message_however_many_they_are() {
        let service = crate::start(Config::default()).await.unwrap();
        let (hub, room) = (service.hub(), service.hub().group("7", Source::default()).unwrap());
        let mut waits: Vec<_> = (0..1000)
            .map(|_| {
                (Box::pin(Waiting { room: &room, hub, after: 0, ticket: None }), Arc::<Counting>::default())
            })
            .collect();
        let poll = |waits: &mut Vec<(Pin<Box<Waiting<'_>>>, Arc<Counting>)>| {
            let polled = waits.iter_mut().map(|(wait, count)| {
                wait.as_mut().poll(&mut Context::from_waker(&count.clone().into())).is_ready()
            });
            polled.filter(|ready| *ready).count()
        };
        assert_eq!(poll(&mut waits), 0);
        // Asked once more for no reason, they still hold one place each.
        assert_eq!(poll(&mut waits), 0);
        publish(&room, 1, hub);
        publish(&room, 2, hub);
        assert!(waits.iter().all(|(_, count)| count.0.load(Relaxed) == 1));
        assert_eq!(poll(&mut waits), 1000);
    }

    /// Without the atomicity of look and registration this hangs sooner or later.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_poll_that_races_the_message_gets_it() {
        let limits = Limits { long_hold: Duration::from_secs(20), ..Limits::default() };
        let service = crate::start(Config { limits, ..Config::default() }).await.unwrap();
        let (hub, room) = (service.hub().clone(), service.hub().group("7", Source::default()).unwrap());
        for seq in 1..=2000 {
            let asked = PollRequest { start: Start::After(seq - 1), hold: Some(Duration::from_secs(20)) };
            let (its_hub, its_room) = (hub.clone(), room.clone());
            let poll = tokio::spawn(async move { read(&its_room, asked, &its_hub).await });
            tokio::task::yield_now().await;
            publish(&room, seq, &hub);
            let pulled = poll.await.unwrap().unwrap().unwrap();
            assert_eq!((pulled.excerpt.last, pulled.excerpt.count, pulled.has_gap), (seq, 1, false));
        }
    }
}
