//! The HTTP API: login, users, friends, rooms and their history, health and metrics.

pub(crate) mod user_lists;

use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::accounts::Granted;
use crate::accounts::user::User;
use crate::connection::source::Source;
use crate::http::{self, Answer};
use crate::hub::Hub;
use crate::hub::log::others::{self, Others};
use crate::model::room_id::{self, Access};
use crate::problem::Problem;
use crate::rooms::cursor::{Excerpt, Start};
use crate::rooms::room::Room;
use crate::store::{PageRequest, Store};

pub(crate) fn health(hub: &Hub) -> Result<Answer, Problem> {
    if !hub.is_serving() {
        return Err(Problem::draining());
    }
    if hub.is_shared && hub.metrics.bus_up.get() == 0 {
        return Ok(http::text("ok\nbus: down, messages of other instances come from the store\n"));
    }
    Ok(http::text("ok\n"))
}

pub(crate) fn metrics(hub: &Hub) -> Answer {
    let mut answer = http::text(hub.metrics_text());
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
    answer
}

#[derive(Deserialize)]
struct Login {
    email: String,
    password: String,
}

pub(crate) async fn login(
    request: Request<Incoming>,
    from: IpAddr,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let Granted { token, user } = grant(request, from, hub).await?;
    Ok(http::value(&json!({"access_token": token, "user": user.public()})))
}

/// The same login as services of the kind say it that put a version or `api` in front: 201, because a token is made.
pub(crate) async fn api_login(
    request: Request<Incoming>,
    from: IpAddr,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let Granted { token, user } = grant(request, from, hub).await?;
    Ok(http::json(StatusCode::CREATED, json!({"token": token, "user": user.public()}).to_string()))
}

async fn grant(request: Request<Incoming>, from: IpAddr, hub: &Arc<Hub>) -> Result<Granted, Problem> {
    let Login { email, password } = read(request, hub).await?;
    hub.accounts.login(&email, &password, from, &hub.metrics).await
}

/// Open to everybody, as in the service this one stands for: clients ask before they hold a token.
pub(crate) fn user(email: &str, hub: &Hub) -> Result<Answer, Problem> {
    let email = http::decode(email, false);
    let user = hub
        .accounts
        .by_email(&email)
        .ok_or_else(|| Problem::new(404, "no_such_user", format!("there is no user `{email}`")))?;
    Ok(http::value(&user.public()))
}

pub(crate) fn friends(headers: &HeaderMap, hub: &Hub) -> Result<Answer, Problem> {
    let user = caller(headers, hub)?;
    let friends: Vec<Value> =
        user.friends.iter().filter_map(|id| hub.accounts.user(*id)).map(|friend| friend.public()).collect();
    Ok(http::value(&json!({ "friends": friends })))
}

/// An id as a number or as the text a script's template makes of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoomRequest {
    friend_id: Option<Id>,
    name: Option<String>,
}

pub(crate) async fn find_or_create(request: Request<Incoming>, hub: &Arc<Hub>) -> Result<Answer, Problem> {
    let user = caller(request.headers(), hub)?.clone();
    let wanted: RoomRequest = read(request, hub).await?;
    let (id, access) = match (wanted.friend_id, wanted.name) {
        (Some(friend), None) => {
            let friend = match friend {
                Id::Number(id) => id,
                Id::Text(text) => text.trim().parse().map_err(|_| {
                    Problem::bad_request(format!("friendId is a user's number, got `{text}`"))
                })?,
            };
            if !user.friends.contains(&friend) {
                return Err(Problem::forbidden(format!("user {friend} is not a friend of yours")));
            }
            (room_id::direct_id(user.id, friend), Access::Direct(user.id, friend))
        }
        (None, Some(name)) => {
            let id = room_id::group_id(&name)
                .ok_or_else(|| Problem::bad_request("a room's name has 1 to 64 characters"))?;
            (id, Access::Group)
        }
        _ => return Err(Problem::bad_request("give either a friendId or a name")),
    };
    let room = match hub.rooms.find(&id) {
        Some(room) => room,
        None => {
            let (answer, answered) = tokio::sync::oneshot::channel();
            let rooms = hub.clone();
            // Made on the log's one thread, which stores it before anybody can say something in it.
            let make = move |store: &mut dyn Store, others: Option<&mut Others>| {
                let _ = answer.send(make_room(&rooms, store, others.as_deref(), &id, access));
            };
            if !hub.log.ask(Box::new(make)) {
                return Err(Problem::overloaded());
            }
            answered.await.map_err(|_| Problem::overloaded())??
        }
    };
    Ok(http::value(&json!({"roomId": &*room.id})))
}

fn make_room(
    hub: &Hub,
    store: &mut dyn Store,
    others: Option<&Others>,
    id: &str,
    access: Access,
) -> Result<Arc<Room>, Problem> {
    if others.is_some() {
        let found = others::find(id, store, hub).inspect_err(|error| hub.failures.store("read", error));
        found.map_err(|error| error.kind.problem())?;
    }
    let (room, is_new) = hub.make_room(id, access, None)?;
    if is_new {
        match store.insert_room(id, access) {
            Ok(key) => {
                room.is_stored_as(key);
                others.into_iter().for_each(|others| others.made(id));
            }
            Err(error) => {
                hub.rooms.unmake(&room);
                hub.failures.store("write", &error);
                return Err(error.kind.problem());
            }
        }
    }
    Ok(room)
}

/// A page of history: the messages numbered above `after`, oldest first.
pub(crate) async fn messages(
    request: &Request<Incoming>,
    id: &str,
    source: Source,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let user = caller(request.headers(), hub)?;
    let id = http::decode(id, false);
    hub.look_for(&id).await?;
    let room = hub.room_for(Some(user.id), &id, source)?;
    hub.refresh_for(&room, Start::Now).await?;
    let limits = &hub.config.limits;
    let after = http::number(request, "after")?.unwrap_or(0);
    let messages = http::number(request, "limit")?.unwrap_or(100).min(limits.history_page as u64) as usize;
    let wanted = PageRequest { after, upto: u64::MAX, messages, bytes: limits.history_bytes };
    let page = hub.page(&room, wanted).await?;
    let page = Excerpt::new(after, page.iter(), usize::MAX);
    // A page may hold what has been committed and is just being published.
    let last = room.last_published().max(if page.count > 0 { page.last } else { 0 });
    let mut body = format!(r#"{{"roomId":"{}","messages":["#, room.id).into_bytes();
    body.extend_from_slice(&page.objects);
    body.extend_from_slice(format!(r#"],"next":{},"last":{last}}}"#, page.last).as_bytes());
    Ok(http::json(StatusCode::OK, body))
}

/// The user whose token the request carries.
pub(crate) fn caller<'a>(headers: &HeaderMap, hub: &'a Hub) -> Result<&'a Arc<User>, Problem> {
    http::bearer(headers)
        .and_then(|token| hub.accounts.who(token))
        .and_then(|id| hub.accounts.user(id))
        .ok_or_else(Problem::unauthorized)
}

async fn read<T: DeserializeOwned>(request: Request<Incoming>, hub: &Hub) -> Result<T, Problem> {
    let body = http::body_or_problem(request, hub.config.limits.body_bytes, hub).await?;
    serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("the body is not the JSON wanted: {error}")))
}
