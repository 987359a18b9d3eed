//! The opening handshake of RFC 6455 §4, the client's side, written for one socket and nothing else.
//!
//! No HTTP client here: it would cost its buffers for the life of the connection. Redirects are not followed, as in
//! every WebSocket client; they are refusals with their status. Interim answers (103 Early Hints, say) are skipped.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Poll, ready};

use sonagi_measure::outcome::Failure;
use sonagi_wire::websocket::accept_key;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};

use super::channel::Channel;
use crate::http::USER_AGENT;
use crate::net::{Alpn, Failed, Net, Origin, Socket};

/// The largest response head read, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// Bytes of an answer that are read at a time.
const READ: usize = 1024;

/// The most headers in a response.
pub(super) const MAX_HEADERS: usize = 128;

/// Bytes of a refusal's body shown in the detail.
const SHOWN_BODY: usize = 200;

/// A WebSocket's opening handshake.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    /// The target.
    pub origin: Origin,
    /// The path with its query, as [`Origin::parse`] gives it.
    pub path: String,
    /// Added to the handshake's own headers; `host` and `user-agent` replace ours.
    pub headers: Vec<(String, String)>,
    /// Offered in this order.
    pub subprotocols: Vec<String>,
    /// Largest message accepted, in bytes.
    pub max_message: usize,
}

/// Whether the server must choose one of the subprotocols offered, and no other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Bound,
    Free,
}

/// The answer to a handshake: all bytes read after interim answers, its head complete.
pub(super) struct Answered {
    pub(super) socket: Socket,
    pub(super) bytes: Vec<u8>,
    /// Bytes of interim answers.
    pub(super) interim: u64,
    /// Bytes of the request.
    pub(super) sent: u64,
    pub(super) head: Result<Head, Failed>,
}

/// Connects and upgrades. The second value is the server's choice of a subprotocol.
pub(super) async fn connect(
    net: &Net,
    request: &ConnectRequest,
) -> Result<(Channel, Option<Box<str>>), Failed> {
    let Answered { mut socket, mut bytes, interim, sent, head } = ask(net, request, Choice::Bound).await?;
    match head? {
        Head::Upgraded { end, subprotocol } => {
            let early = bytes.split_off(end);
            let received = interim + bytes.len() as u64;
            Ok((Channel::new(socket, request.max_message, early, sent, received), subprotocol))
        }
        Head::Refused { end, status } => {
            let mut body = bytes.split_off(end);
            if body.is_empty() {
                body = what_is_there(&mut socket).await;
            }
            Err(refused(status, &body))
        }
    }
}

pub(super) fn refused(status: u16, body: &[u8]) -> Failed {
    let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY)]).into_owned();
    let detail = match body.trim() {
        "" => format!("upgrade to WebSocket was answered with status {status}"),
        body => format!("upgrade to WebSocket was answered with status {status}: {body}"),
    };
    Failed::new(Failure::HandshakeRefused(status), detail)
}

/// Connects, asks for the upgrade and reads the answer's head.
pub(super) async fn ask(net: &Net, request: &ConnectRequest, choice: Choice) -> Result<Answered, Failed> {
    let key = random_key();
    let (head, offered) = request_head(request, &key)?;
    let mut socket = net.dial(&request.origin, Alpn::Http1).await?;
    let lost = |error: io::Error| Failed::established(&error);
    socket.write_all(head.as_bytes()).await.map_err(lost)?;
    socket.flush().await.map_err(lost)?;
    let sent = head.len() as u64;
    // Whoever waits for an answer holds no more than it takes to judge it.
    drop(head);
    let mut answer = Vec::new();
    let offered = (choice == Choice::Bound).then_some(&offered);
    let mut interim = 0;
    let head = loop {
        if more(&mut socket, &mut answer).await.map_err(lost)? == 0 {
            return Err(cut_short(&answer));
        }
        while let Some(end) = interim_head(&answer) {
            answer.drain(..end);
            interim += end;
        }
        match check(&answer, &key, offered) {
            Ok(Some(head)) => break Ok(head),
            Ok(None) => {}
            Err(failed) => break Err(failed),
        }
        if interim + answer.len() > MAX_HEAD {
            return Err(Failed::protocol(format!(
                "upgrade response's head must end within {MAX_HEAD} bytes"
            )));
        }
    };
    Ok(Answered { socket, bytes: answer, interim: interim as u64, sent, head })
}

/// Appends what has arrived of an answer, and says how many bytes that was. While nothing has, there is no buffer: of
/// ten thousand users who connect at once each would have its own.
async fn more(socket: &mut Socket, answer: &mut Vec<u8>) -> io::Result<usize> {
    poll_fn(|cx| {
        let mut bytes = [MaybeUninit::uninit(); READ];
        let mut buffer = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut *socket).poll_read(cx, &mut buffer))?;
        answer.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().len()))
    })
    .await
}

/// The end of an interim answer (RFC 9110 §15.2), if one is complete: the final one is still to come.
fn interim_head(answer: &[u8]) -> Option<usize> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(end)) = response.parse(answer) else { return None };
    matches!(response.code, Some(100 | 102..=199)).then_some(end)
}

fn random_key() -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(fastrand::u128(..).to_ne_bytes())
}

/// The request, and the subprotocols it offers.
fn request_head(request: &ConnectRequest, key: &str) -> Result<(String, Vec<String>), Failed> {
    if !request.path.starts_with('/') || !request.path.bytes().all(|byte| byte.is_ascii_graphic()) {
        let rule = "must begin with a slash and be printable ASCII without spaces";
        return Err(Failed::new(Failure::Template, format!("path {rule}, got {:?}", request.path)));
    }
    let mut offered = request.subprotocols.clone();
    let mut head = format!("GET {} HTTP/1.1\r\n", request.path);
    let has = |wanted: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    if !has("host") {
        push_header(&mut head, "Host", &request.origin.authority())?;
    }
    push_header(&mut head, "Upgrade", "websocket")?;
    push_header(&mut head, "Connection", "Upgrade")?;
    push_header(&mut head, "Sec-WebSocket-Key", key)?;
    push_header(&mut head, "Sec-WebSocket-Version", "13")?;
    if !has("user-agent") {
        push_header(&mut head, "User-Agent", USER_AGENT)?;
    }
    for (name, value) in &request.headers {
        match name.to_ascii_lowercase().as_str() {
            // These are the handshake itself: the script's own could only break it.
            "upgrade"
            | "connection"
            | "sec-websocket-key"
            | "sec-websocket-version"
            | "sec-websocket-extensions" => {}
            "sec-websocket-protocol" => offered.extend(value.split(',').map(|name| name.trim().to_owned())),
            _ => push_header(&mut head, name, value)?,
        }
    }
    if !offered.is_empty() {
        push_header(&mut head, "Sec-WebSocket-Protocol", &offered.join(", "))?;
    }
    head.push_str("\r\n");
    Ok((head, offered))
}

fn push_header(head: &mut String, name: &str, value: &str) -> Result<(), Failed> {
    let is_token = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    let is_line = !value.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f);
    if !is_token || !is_line {
        return Err(Failed::new(
            Failure::Template,
            format!("header {name:?} cannot be sent: a name must be a token, a value one line"),
        ));
    }
    for part in [name, ": ", value, "\r\n"] {
        head.push_str(part);
    }
    Ok(())
}

pub(super) enum Head {
    Upgraded { end: usize, subprotocol: Option<Box<str>> },
    Refused { end: usize, status: u16 },
}

/// Reads the response's head; None: it is incomplete. One of the subprotocols `offered` must be chosen, if they are
/// binding.
fn check(answer: &[u8], key: &str, offered: Option<&Vec<String>>) -> Result<Option<Head>, Failed> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let end = match response.parse(answer) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        // An alert, or a handshake (RFC 8446 §5.1).
        Err(_) if matches!(answer.first(), Some(0x15 | 0x16)) => {
            let what = "upgrade must be answered in HTTP/1.1, got TLS: is it wss that the port speaks?";
            return Err(Failed::protocol(what));
        }
        Err(error) => {
            let start = String::from_utf8_lossy(&answer[..answer.len().min(40)]).into_owned();
            return Err(Failed::protocol(format!(
                "upgrade must be answered in HTTP/1.1, got {start:?} ({error})"
            )));
        }
    };
    let status = response.code.unwrap_or_default();
    if status != 101 {
        return Ok(Some(Head::Refused { end, status }));
    }
    let value = |wanted: &str| {
        response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(wanted))
            .map(|header| header.value)
    };
    let has_token = |wanted: &str, token: &str| {
        value(wanted).is_some_and(|value| {
            value
                .split(|&byte| byte == b',')
                .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        })
    };
    let wrong = |rule: &str| Err(Failed::protocol(format!("upgrade response must {rule}")));
    if !has_token("upgrade", "websocket") {
        return wrong("carry Upgrade: websocket, got another or none");
    }
    if !has_token("connection", "upgrade") {
        return wrong("carry Connection: Upgrade, got another or none");
    }
    if value("sec-websocket-accept").map(<[u8]>::trim_ascii) != Some(accept_key(key).as_bytes()) {
        return wrong("prove that it read our key in Sec-WebSocket-Accept, got another or none");
    }
    if value("sec-websocket-extensions").is_some_and(|value| !value.trim_ascii().is_empty()) {
        return wrong("not choose an extension: none was offered");
    }
    let chosen = value("sec-websocket-protocol").map(|value| String::from_utf8_lossy(value.trim_ascii()));
    match &chosen {
        None if offered.is_some_and(|offered| !offered.is_empty()) => {
            Err(Failed::new(Failure::SubprotocolMissing, format!("{SUBPROTOCOL}, got none")))
        }
        Some(chosen) if offered.is_some_and(|offered| !offered.iter().any(|offer| offer == chosen)) => Err(
            Failed::new(Failure::SubprotocolUnknown, format!("{SUBPROTOCOL}, got {:?}", shortened(chosen))),
        ),
        _ => Ok(Some(Head::Upgraded { end, subprotocol: chosen.map(|name| name.into_owned().into()) })),
    }
}

const SUBPROTOCOL: &str = "upgrade response must choose one of the subprotocols offered";

/// A subprotocol in a message.
fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(SHOWN_BODY)]
}

fn cut_short(answer: &[u8]) -> Failed {
    let what = if answer.is_empty() { "before its response" } else { "in the middle of its response" };
    Failed::new(Failure::ClosedEarly, format!("the peer closed the connection {what} to the upgrade"))
}

/// The part of a refusal's body that has arrived; the example is not worth waiting for more.
pub(super) async fn what_is_there(socket: &mut Socket) -> Vec<u8> {
    let mut bytes = [0; SHOWN_BODY];
    poll_fn(|cx| {
        let read = match socket.poll_receive(cx, &mut bytes) {
            Poll::Ready(Ok(read)) => read,
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        Poll::Ready(bytes[..read].to_vec())
    })
    .await
}
