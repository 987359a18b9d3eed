//! Socket.IO inside an Engine.IO session, protocol 5 and Socket.IO 2's protocol 4: namespaces and the chat's events.
//!
//! | event | arguments | acknowledged with |
//! |---|---|---|
//! | `joinRoom` | `{roomId, after?}` or the id | `{ok:true, room, seq, gap?}` |
//! | `leaveRoom` | `{roomId}` or the id | `{ok:true, room}` |
//! | `sendMessage` | `{roomId, content, id?}`, or the content alone when in exactly one room | `{ok:true, seq}` |
//!
//! A refusal is `{ok:false, error:{code, message}}`, or the event `exception` when no acknowledgement was asked for.
//! Room members get `newMessage`. A breach of the protocol ends the session, as it does in the reference server.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sonagi_wire::engineio::Version;
use sonagi_wire::socketio::{Assembler, Kind, Packet, Revision};
use sonagi_wire::websocket::{self, Opcode};

use super::recovery::{self, Claim, Identity};
use super::{BadPacket, EngineIo, Session};
use crate::encoding::form::Form;
use crate::http;
use crate::hub::Hub;
use crate::hub::receipt::Receipt;
use crate::problem::Problem;
use crate::rooms::cursor::{Joined, Start, start_of};
use crate::rooms::peer::Peer;
use crate::transports::websocket::rooms::client_id;

/// The state of one session's Socket.IO.
pub(crate) struct Conversation {
    revision: Revision,
    assembler: Assembler,
    namespaces: Vec<String>,
}

impl Conversation {
    pub(crate) fn new(version: Version) -> Conversation {
        let revision = match version {
            Version::Three => Revision::Four,
            Version::Four => Revision::Five,
        };
        Conversation { revision, assembler: Assembler::new(revision), namespaces: Vec::new() }
    }

    /// The session has been opened: who does not ask for `/` gets it now, or hears why not.
    pub(crate) fn begin(&mut self, session: &Session, io: &Arc<EngineIo>) {
        if self.revision.grants_main_unasked() {
            self.connect("/", Value::Object(Map::new()), session, io);
        }
    }

    pub(crate) fn text(
        &mut self,
        text: &str,
        session: &Session,
        io: &Arc<EngineIo>,
    ) -> Result<(), BadPacket> {
        match self.assembler.text(text).map_err(|_| BadPacket)? {
            Some(packet) => self.packet(&packet, &[], session, io),
            None => Ok(()),
        }
    }

    pub(crate) fn binary(
        &mut self,
        bytes: &[u8],
        session: &Session,
        io: &Arc<EngineIo>,
    ) -> Result<(), BadPacket> {
        match self.assembler.attachment(bytes).map_err(|_| BadPacket)? {
            Some(whole) => self.packet(&whole.packet, &whole.attachments, session, io),
            None => Ok(()),
        }
    }

    fn packet(
        &mut self,
        packet: &Packet<'_>,
        attachments: &[Vec<u8>],
        session: &Session,
        io: &Arc<EngineIo>,
    ) -> Result<(), BadPacket> {
        let (namespace, query) = packet.namespace_and_query();
        let at = self.namespaces.iter().position(|connected| connected == namespace);
        match (packet.kind, at) {
            (Kind::Connect, None) => {
                let auth = match self.revision {
                    Revision::Four => auth_of_query(query.unwrap_or_default()),
                    Revision::Five if packet.data.is_empty() => Value::Object(Map::new()),
                    Revision::Five => serde_json::from_str(&packet.data).map_err(|_| BadPacket)?,
                };
                self.connect(namespace, auth, session, io);
                Ok(())
            }
            // Some clients ask for what they were given unasked.
            (Kind::Connect, Some(_)) if namespace == "/" && self.revision.grants_main_unasked() => {
                say(session, &Packet::connect("/", ""));
                Ok(())
            }
            (Kind::Disconnect, Some(at)) => {
                self.namespaces.swap_remove(at);
                if namespace == "/" {
                    session.forgotten(io);
                    session.peer.leave_all(&io.hub.metrics);
                    // Whoever connects next on this connection says who it is.
                    session.peer.belongs_to_nobody();
                }
                if self.namespaces.is_empty() {
                    session.peer.left(&io.hub.metrics);
                }
                Ok(())
            }
            (Kind::Event | Kind::BinaryEvent, Some(_)) => {
                let arguments: Vec<&RawValue> = serde_json::from_str(&packet.data).map_err(|_| BadPacket)?;
                Event { namespace, ack: packet.ack, attachments, session, io }.happen(&arguments)
            }
            // We ask for no acknowledgement, so one is late or made up: nothing depends on it.
            (Kind::Ack | Kind::BinaryAck, Some(_)) => Ok(()),
            // A second CONNECT, an error from a client, anything for a namespace it is not connected to.
            (Kind::Connect | Kind::ConnectError, _) | (_, None) => Err(BadPacket),
        }
    }

    fn connect(&mut self, namespace: &str, auth: Value, session: &Session, io: &Arc<EngineIo>) {
        let suite = io.hub.config.protocol_suite;
        let caller = Caller::of(&auth, session, io);
        let refusal = match namespace {
            "/" if !io.hub.is_serving() => Some("draining"),
            "/" => (!caller.is_admitted() && !suite).then_some("unauthorized"),
            "/custom" if suite => None,
            _ => Some("Invalid namespace"),
        };
        if let Some(message) = refusal {
            let packet = match self.revision {
                Revision::Four => Packet::error(namespace, message),
                Revision::Five => Packet::connect_error(namespace, message),
            };
            return say(session, &packet);
        }
        self.namespaces.push(namespace.to_owned());
        session.peer.deadlines.settled();
        session.peer.entered(form(io), &io.hub.metrics);
        let recovered = self.revision == Revision::Five
            && namespace == "/"
            && recovered(&auth, caller.user(), session, io);
        // What a user may do is done in `/`: a token for another namespace opens nothing there.
        if let (Caller::User(user), "/") = (&caller, namespace) {
            session.peer.belongs_to(*user);
        }
        if !recovered {
            let granted = match self.revision {
                Revision::Four => String::new(),
                Revision::Five => fresh(namespace, session, io),
            };
            say(session, &Packet::connect(namespace, &granted));
        }
        if suite {
            say(session, &Packet::event(namespace, None, "auth", [auth.to_string().as_str()]));
        }
    }
}

/// Whether a session was asked for that there was before, and has been answered.
fn recovered(auth: &Value, user: Option<u64>, session: &Session, io: &Arc<EngineIo>) -> bool {
    let text = |name| auth.get(name).and_then(Value::as_str);
    let (Some(_), Some(pid)) = (&io.recovery, text("pid")) else { return false };
    let claim = Claim { pid, offset: text("offset"), user };
    let greet = |identity: &Identity| frame(&Packet::connect("/", &identity.to_json()));
    let recovered = recovery::recover(&claim, session, greet, io);
    (if recovered { &io.hub.metrics.recovered } else { &io.hub.metrics.unrecovered }).add(1);
    recovered
}

/// Names a session that was not there before, as an answer to CONNECT does.
fn fresh(namespace: &str, session: &Session, io: &EngineIo) -> String {
    let sid = io.hub.accounts.session_id();
    let Some(recovery) = io.recovery.as_ref().filter(|_| namespace == "/") else {
        return format!(r#"{{"sid":"{sid}"}}"#);
    };
    let identity = Identity { pid: io.hub.accounts.session_id().into(), sid: sid.into() };
    session.known_as(identity.clone(), recovery);
    identity.to_json()
}

/// The caller that asks for a namespace.
enum Caller {
    User(u64),
    /// Without any token: it may be where everybody may be.
    Nobody,
    /// With a token that is not valid.
    Wrong,
}

impl Caller {
    fn of(auth: &Value, session: &Session, io: &EngineIo) -> Caller {
        let token = match (auth.get("token").filter(|token| !token.is_null()), &session.token) {
            (Some(Value::String(token)), _) => token,
            (Some(_), _) => return Caller::Wrong,
            (None, Some(token)) => token,
            (None, None) => return Caller::Nobody,
        };
        // A browser's client often says `Bearer …` here as well.
        let user = io.hub.accounts.who(token.strip_prefix("Bearer ").unwrap_or(token));
        user.map_or(Caller::Wrong, Caller::User)
    }

    fn is_admitted(&self) -> bool {
        !matches!(self, Caller::Wrong)
    }

    fn user(&self) -> Option<u64> {
        match self {
            Caller::User(user) => Some(*user),
            Caller::Nobody | Caller::Wrong => None,
        }
    }
}

/// Protocol 4's form of an auth payload: the query behind a namespace.
fn auth_of_query(query: &str) -> Value {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    Value::Object(
        pairs
            .map(|(name, value)| (http::decode(name, true).into_owned(), http::decode(value, true).into()))
            .collect(),
    )
}

/// How broadcasts are written for all sessions, of either protocol: by the same bytes.
fn form(io: &EngineIo) -> Form {
    Form::SocketIo(io.recovery.as_ref().map(|recovery| recovery.life))
}

fn frame(packet: &Packet<'_>) -> Bytes {
    let mut text = String::from("4");
    sonagi_wire::socketio::encode(packet, &mut text);
    websocket::shared(Opcode::Text, text.as_bytes())
}

fn say(session: &Session, packet: &Packet<'_>) {
    session.peer.outbox.push(frame(packet));
}

/// An event from the client.
struct Event<'a> {
    namespace: &'a str,
    ack: Option<u64>,
    attachments: &'a [Vec<u8>],
    session: &'a Session,
    io: &'a Arc<EngineIo>,
}

/// Names a client must not emit.
const RESERVED: [&str; 6] =
    ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"];

impl Event<'_> {
    fn happen(&self, arguments: &[&RawValue]) -> Result<(), BadPacket> {
        let name = arguments.first().ok_or(BadPacket)?.get();
        let name: String = serde_json::from_str(name).map_err(|_| BadPacket)?;
        let name = name.as_str();
        if RESERVED.contains(&name) {
            return Err(BadPacket);
        }
        let first = arguments.get(1).copied();
        match name {
            "message" | "message-with-ack" if self.io.hub.config.protocol_suite => {
                self.echo(name, &arguments[1..]);
            }
            _ if self.namespace != "/" => {}
            "joinRoom" => self.join(first),
            "leaveRoom" => self.leave(first),
            "sendMessage" => self.send(first),
            _ => self.refuse(&Problem::bad_request(
                "the events are joinRoom, leaveRoom and sendMessage, got another",
            )),
        }
        Ok(())
    }

    fn join(&self, argument: Option<&RawValue>) {
        let Some(room) = room_id(argument) else { return self.refuse(&no_room_id("joinRoom")) };
        let after = argument.and_then(fields).and_then(|fields| fields.get("after").copied());
        let start = match start_of(after) {
            Ok(start) => start,
            Err(problem) => return self.refuse(&problem),
        };
        let (hub, reply, form) = (self.io.hub.clone(), self.reply(), form(self.io));
        if !hub.may_be_elsewhere(&room) {
            return reply.join(&room, start, form, &hub);
        }
        // Another service may have made it.
        let looking = hub.clone();
        hub.runtime.spawn(async move {
            match looking.look_for(&room).await {
                Ok(()) => reply.join(&room, start, form, &looking),
                Err(problem) => reply.refuse(&problem),
            }
        });
    }

    fn reply(&self) -> Reply {
        let (namespace, ack, peer) = (self.namespace.to_owned(), self.ack, self.session.peer.clone());
        Reply { namespace, ack, peer }
    }

    fn leave(&self, argument: Option<&RawValue>) {
        let Some(room) = room_id(argument) else { return self.refuse(&no_room_id("leaveRoom")) };
        if self.io.hub.leave(&self.session.peer, &room) {
            let room = Value::from(room);
            self.answer(&format!(r#"{{"ok":true,"room":{room}}}"#));
        } else {
            self.refuse(&Problem::no_room(&room));
        }
    }

    fn send(&self, argument: Option<&RawValue>) {
        let receipt = self.ack.map_or(Receipt::Silent, Receipt::SocketIo);
        let peer = &self.session.peer;
        match argument.and_then(fields) {
            Some(fields) if fields.contains_key("content") => {
                let field = |name| fields.get(name).copied();
                let id = client_id(field("id"));
                self.io.hub.say(peer, room_of(&fields).as_deref(), field("content"), id, receipt);
            }
            _ => self.io.hub.say(peer, None, argument, None, receipt),
        }
    }

    /// The arguments come back: as `message-back`, or in the acknowledgement.
    fn echo(&self, name: &str, arguments: &[&RawValue]) {
        let texts = arguments.iter().map(|argument| argument.get());
        let packet = match (name, self.ack) {
            ("message", _) => Packet::event(self.namespace, None, "message-back", texts),
            (_, Some(id)) => Packet::ack(self.namespace, id, texts),
            (_, None) => return,
        };
        if self.attachments.is_empty() {
            return say(self.session, &packet);
        }
        say(self.session, &packet.with_attachments(self.attachments.len()));
        for bytes in self.attachments {
            self.session.push_binary(bytes);
        }
    }

    fn answer(&self, json: &str) {
        self.reply().answer(json);
    }

    fn refuse(&self, problem: &Problem) {
        self.reply().refuse(problem);
    }
}

/// The way back to who sent an event.
struct Reply {
    namespace: String,
    ack: Option<u64>,
    peer: Arc<Peer>,
}

impl Reply {
    fn join(self, room: &str, start: Start, form: Form, hub: &Arc<Hub>) {
        let (namespace, ack) = (self.namespace.clone(), self.ack);
        let greet = move |joined: &Joined<'_>| {
            let id = ack?;
            let Joined { room, seq, gap } = joined;
            let gap = match start {
                Start::Now => String::new(),
                _ => format!(r#","gap":{}"#, gap.is_some()),
            };
            let json = format!(r#"{{"ok":true,"room":"{room}","seq":{seq}{gap}}}"#);
            Some(frame(&Packet::ack(&namespace, id, [json.as_str()])))
        };
        if let Err(problem) = hub.join(&self.peer, room, form, start, greet) {
            self.refuse(&problem);
        }
    }

    fn say(&self, packet: &Packet<'_>) {
        self.peer.outbox.push(frame(packet));
    }

    fn answer(&self, json: &str) {
        if let Some(id) = self.ack {
            self.say(&Packet::ack(&self.namespace, id, [json]));
        }
    }

    fn refuse(&self, problem: &Problem) {
        let fields = problem.fields();
        match self.ack {
            Some(_) => self.answer(&format!(r#"{{"ok":false,"error":{{{fields}}}}}"#)),
            None => {
                let json = format!("{{{fields}}}");
                self.say(&Packet::event(&self.namespace, None, "exception", [json.as_str()]));
            }
        }
    }
}

/// An object's fields, each still as text; `None` for what is no object.
fn fields(argument: &RawValue) -> Option<HashMap<String, &RawValue>> {
    serde_json::from_str(argument.get()).ok()
}

fn room_of(fields: &HashMap<String, &RawValue>) -> Option<String> {
    let room = fields.get("roomId").or_else(|| fields.get("room"))?;
    serde_json::from_str(room.get()).ok()
}

/// The room of an argument that is its id, or an object with it.
fn room_id(argument: Option<&RawValue>) -> Option<String> {
    let argument = argument?;
    serde_json::from_str(argument.get()).ok().or_else(|| room_of(&fields(argument)?))
}

fn no_room_id(event: &str) -> Problem {
    Problem::bad_request(format!("{event} takes {{roomId}} or the id of a room"))
}
