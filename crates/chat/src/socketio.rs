//! Socket.IO 5 inside an Engine.IO session: namespaces and the chat's events.
//!
//! | event | arguments | acknowledged with |
//! |---|---|---|
//! | `joinRoom` | `{roomId}` or the id | `{ok:true, room, seq}` |
//! | `leaveRoom` | `{roomId}` or the id | `{ok:true, room}` |
//! | `sendMessage` | `{roomId, content, id?}`, or the content alone when in exactly one room | `{ok:true, seq}` |
//!
//! A refusal is `{ok:false, error:{code, message}}`, or the event `exception` when no acknowledgement was asked for.
//! Room members get `newMessage`. A breach of the protocol ends the session, as it does in the reference server.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use sonagi_wire::socketio::{Assembler, Kind, Packet};
use sonagi_wire::websocket::{self, Opcode};

use crate::cursor::{Joined, Start};
use crate::engineio::{BadPacket, Session};
use crate::form::Form;
use crate::hub::Hub;
use crate::problem::Problem;
use crate::raw::client_id;
use crate::receipt::Receipt;

/// The state of one session's Socket.IO.
#[derive(Default)]
pub(crate) struct Conversation {
    assembler: Assembler,
    namespaces: Vec<String>,
}

impl Conversation {
    pub(crate) fn text(&mut self, text: &str, session: &Session, hub: &Arc<Hub>) -> Result<(), BadPacket> {
        match self.assembler.text(text).map_err(|_| BadPacket)? {
            Some(packet) => self.packet(&packet, &[], session, hub),
            None => Ok(()),
        }
    }

    pub(crate) fn binary(
        &mut self,
        bytes: &[u8],
        session: &Session,
        hub: &Arc<Hub>,
    ) -> Result<(), BadPacket> {
        match self.assembler.attachment(bytes).map_err(|_| BadPacket)? {
            Some(whole) => self.packet(&whole.packet, &whole.attachments, session, hub),
            None => Ok(()),
        }
    }

    fn packet(
        &mut self,
        packet: &Packet<'_>,
        attachments: &[Vec<u8>],
        session: &Session,
        hub: &Arc<Hub>,
    ) -> Result<(), BadPacket> {
        let namespace = packet.namespace.split('?').next().unwrap_or("/");
        let at = self.namespaces.iter().position(|connected| connected == namespace);
        match (packet.kind, at) {
            (Kind::Connect, None) => self.connect(namespace, &packet.data, session, hub),
            (Kind::Disconnect, Some(at)) => {
                self.namespaces.swap_remove(at);
                if namespace == "/" {
                    session.peer.leave_all(&hub.metrics);
                }
                if self.namespaces.is_empty() {
                    session.peer.left(&hub.metrics);
                }
                Ok(())
            }
            (Kind::Event | Kind::BinaryEvent, Some(_)) => {
                let arguments: Vec<&RawValue> = serde_json::from_str(&packet.data).map_err(|_| BadPacket)?;
                Event { namespace, ack: packet.ack, attachments, session, hub }.happen(&arguments)
            }
            // We ask for no acknowledgement, so one is late or made up: nothing depends on it.
            (Kind::Ack | Kind::BinaryAck, Some(_)) => Ok(()),
            // A second CONNECT, an error from a client, anything for a namespace it is not connected to.
            (Kind::Connect | Kind::ConnectError, _) | (_, None) => Err(BadPacket),
        }
    }

    fn connect(
        &mut self,
        namespace: &str,
        data: &str,
        session: &Session,
        hub: &Arc<Hub>,
    ) -> Result<(), BadPacket> {
        let auth: Value = match data {
            "" => Value::Object(serde_json::Map::new()),
            data => serde_json::from_str(data).map_err(|_| BadPacket)?,
        };
        let suite = hub.config.protocol_suite;
        let refusal = match namespace {
            "/" if !hub.is_serving() => Some("draining"),
            "/" => {
                let token = auth.get("token").and_then(Value::as_str).or(session.bearer.as_deref());
                // A browser's client often says `Bearer …` here as well.
                let token = token.map(|token| token.strip_prefix("Bearer ").unwrap_or(token));
                let user = token.and_then(|token| hub.accounts.who(token));
                let known = user.is_some_and(|user| session.peer.belongs_to(user));
                (!known && !suite).then_some("unauthorized")
            }
            "/custom" if suite => None,
            _ => Some("Invalid namespace"),
        };
        if let Some(message) = refusal {
            say(session, &Packet::connect_error(namespace, message));
            return Ok(());
        }
        self.namespaces.push(namespace.to_owned());
        session.peer.pulse.settled();
        session.peer.entered(&hub.metrics);
        let sid = format!(r#"{{"sid":"{}"}}"#, hub.accounts.session_id());
        say(session, &Packet::connect(namespace, &sid));
        if suite {
            say(session, &Packet::event(namespace, None, "auth", [auth.to_string().as_str()]));
        }
        Ok(())
    }
}

fn frame(packet: &Packet<'_>) -> Bytes {
    let mut text = String::from("4");
    sonagi_wire::socketio::encode(packet, &mut text);
    websocket::shared(Opcode::Text, text.as_bytes())
}

fn say(session: &Session, packet: &Packet<'_>) {
    session.peer.outbox.push(frame(packet));
}

/// One event from the client.
struct Event<'a> {
    namespace: &'a str,
    ack: Option<u64>,
    attachments: &'a [Vec<u8>],
    session: &'a Session,
    hub: &'a Arc<Hub>,
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
            "message" | "message-with-ack" if self.hub.config.protocol_suite => {
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
        let greet = |joined: &Joined<'_>| {
            let id = self.ack?;
            let json = format!(r#"{{"ok":true,"room":"{}","seq":{}}}"#, joined.room.id, joined.seq);
            Some(frame(&Packet::ack(self.namespace, id, [json.as_str()])))
        };
        let joined = self.hub.join(&self.session.peer, &room, Form::SocketIo, Start::Now, greet);
        if let Err(problem) = joined {
            self.refuse(&problem);
        }
    }

    fn leave(&self, argument: Option<&RawValue>) {
        let Some(room) = room_id(argument) else { return self.refuse(&no_room_id("leaveRoom")) };
        if self.hub.leave(&self.session.peer, &room) {
            self.answer(&format!(r#"{{"ok":true,"room":"{room}"}}"#));
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
                self.hub.say(peer, room_of(&fields).as_deref(), field("content"), id, receipt);
            }
            _ => self.hub.say(peer, None, argument, None, receipt),
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
            self.session.peer.outbox.push(websocket::shared(Opcode::Binary, bytes));
        }
    }

    fn answer(&self, json: &str) {
        if let Some(id) = self.ack {
            say(self.session, &Packet::ack(self.namespace, id, [json]));
        }
    }

    fn refuse(&self, problem: &Problem) {
        let fields = problem.fields();
        match self.ack {
            Some(_) => self.answer(&format!(r#"{{"ok":false,"error":{{{fields}}}}}"#)),
            None => {
                let json = format!("{{{fields}}}");
                say(self.session, &Packet::event(self.namespace, None, "exception", [json.as_str()]));
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
