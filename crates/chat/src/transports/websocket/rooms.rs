//! Rooms over a plain WebSocket (`/ws`): JSON objects with a `type`, one per text frame.
//!
//! | from the client | answer |
//! |---|---|
//! | `{"type":"join","room":r,"after":n?}` | `{"type":"joined","room":r,"seq":n,"gap":b?}`, then what was missed |
//! | `{"type":"leave","room":r}` | `{"type":"left","room":r}` |
//! | `{"type":"send","content":c,"room":r?,"id":i?}` | `{"type":"ack","id":i,"seq":n}`, once stored and published |
//!
//! Anything else is answered `{"type":"error","code":…,"message":…}` and the connection goes on.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::Request as HttpRequest;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use sonagi_wire::websocket::{self, Opcode};

use crate::connection::outbox::Close;
use crate::encoding::form::Form;
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::hub::receipt::Receipt;
use crate::problem::Problem;
use crate::rooms::cursor::{Joined, Start, start_of, start_of_text};
use crate::rooms::peer::Peer;
use crate::transports::websocket::connection::SocketHandler;
use crate::transports::websocket::upgrade::{self, Handshake};

#[derive(Clone)]
pub(crate) struct RoomsSocket {
    pub(crate) peer: Arc<Peer>,
    pub(crate) hub: Arc<Hub>,
}

/// A client's frame; `content` and `id` stay the text they came as.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    room: Option<String>,
    #[serde(borrow)]
    after: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// A present value, `null` included, which an `Option` would take for none.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

enum Request<'a> {
    Join(String, Start),
    Leave(String),
    Send(Frame<'a>),
}

fn read(text: &str) -> Result<Request<'_>, Problem> {
    let wrong = |why: &str| {
        Problem::bad_request(format!("a frame is a JSON object with the type join, leave or send: {why}"))
    };
    // Else an array of the fields' values would pass.
    if !text.trim_start().starts_with('{') {
        return Err(wrong("this is no object"));
    }
    let mut frame: Frame<'_> = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    match frame.kind.as_ref() {
        "send" => return Ok(Request::Send(frame)),
        "join" | "leave" => {}
        _ => return Err(wrong("this has another type")),
    }
    let room = frame.room.take().ok_or_else(|| wrong("`room` is missing"))?;
    Ok(if frame.kind == "join" { Request::Join(room, start_of(frame.after)?) } else { Request::Leave(room) })
}

impl RoomsSocket {
    /// Joins and says so, or says why not: later, when it may be a room that another service has made.
    pub(crate) fn join(&self, room: String, start: Start) {
        if !self.hub.may_be_elsewhere(&room) {
            return self.join_known(&room, start);
        }
        let socket = self.clone();
        self.hub.runtime.spawn(async move {
            match socket.hub.look_for(&room).await {
                Ok(()) => socket.join_known(&room, start),
                Err(problem) => socket.refuse(&problem),
            }
        });
    }

    fn join_known(&self, room: &str, start: Start) {
        let greet = move |joined: &Joined<'_>| {
            let Joined { room, seq, gap } = joined;
            let gap = match start {
                Start::Now => String::new(),
                _ => format!(r#","gap":{}"#, gap.is_some()),
            };
            let text = format!(r#"{{"type":"joined","room":"{room}","seq":{seq}{gap}}}"#);
            Some(websocket::shared(Opcode::Text, text.as_bytes()))
        };
        if let Err(problem) = self.hub.join(&self.peer, room, Form::Raw, start, greet) {
            self.refuse(&problem);
        }
    }

    fn refuse(&self, problem: &Problem) {
        self.tell(&format!(r#"{{"type":"error",{}}}"#, problem.fields()));
    }

    fn tell(&self, text: &str) {
        self.peer.outbox.push(websocket::shared(Opcode::Text, text.as_bytes()));
    }
}

/// A client's id of a message: text as it is, anything else as its JSON; empty text is none.
pub(crate) fn client_id(id: Option<&RawValue>) -> Option<String> {
    match id?.get() {
        "null" | "\"\"" => None,
        json if json.starts_with('"') => serde_json::from_str(json).ok(),
        json => Some(json.to_owned()),
    }
}

impl SocketHandler for RoomsSocket {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        match read(text) {
            Ok(Request::Join(room, start)) => self.join(room, start),
            Ok(Request::Leave(room)) => {
                if self.hub.leave(&self.peer, &room) {
                    self.tell(&format!(r#"{{"type":"left","room":"{room}"}}"#));
                } else {
                    self.refuse(&Problem::no_room(&room));
                }
            }
            Ok(Request::Send(Frame { room, content, id, .. })) => {
                // Given back as it came, unless it is no id at all by its length.
                let echoed = id.map(RawValue::get).filter(|id| id.len() <= 1024).map(str::to_owned);
                self.hub.say(&self.peer, room.as_deref(), content, client_id(id), Receipt::Raw(echoed));
            }
            Err(problem) => self.refuse(&problem),
        }
    }

    fn binary(&mut self, _: &[u8]) {
        self.refuse(&Problem::bad_request("a frame is text, got a binary one"));
    }

    fn closing(&mut self) {
        self.peer.outbox.close(Close::Normal);
        self.peer.leave_all(&self.hub.metrics);
    }
}

/// The subprotocol of `/ws`, chosen when a client offers it.
const SUBPROTOCOL: &str = "chat.v1";

/// `/ws`: rooms over a plain WebSocket; without a token only those that are open to everybody.
pub(crate) async fn connect(
    request: HttpRequest<Incoming>,
    slot: &Arc<Slot>,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let handshake = Handshake::check(&request)?;
    hub.admit_connection()?;
    let user = http::visitor(&request, hub)?;
    let room = http::query(&request, "room").map(|room| room.into_owned());
    // Refused while it can still be said with a status.
    let start = start_of_text(&http::query(&request, "after").unwrap_or_default())?;
    if let Some(room) = &room {
        if user.is_some() {
            hub.look_for(room).await?;
        }
        hub.room_for(user, room, slot.source)?;
    }
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let chat = offered
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|name| name.trim() == SUBPROTOCOL);
    let (limits, source) = (hub.config.limits.clone(), slot.source);
    let hub = hub.clone();
    let mut answer = handshake.answer();
    if chat {
        answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    handshake.then(slot, hub.clone(), limits.max_payload, move || {
        let peer = upgrade::newcomer(&hub, limits.queue_bytes, source);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        peer.greeted(Form::Raw);
        let handler = RoomsSocket { peer, hub };
        if let Some(room) = room {
            handler.join(room, start);
        }
        handler
    });
    Ok(answer)
}
