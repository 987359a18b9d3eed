//! Requests turned away: the codes that Engine.IO's reference server answers with, in either version.

/// Why a server turns a request away: HTTP 400 (403 for `Forbidden`) with the body `{"code":n,"message":"…"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `transport` is not one the server offers.
    UnknownTransport = 0,
    /// `sid` names no session.
    UnknownSid = 1,
    /// A handshake that is not a GET.
    BadHandshakeMethod = 2,
    /// A request the session's state does not allow: a second poll, a transport that goes backwards, bad packets.
    BadRequest = 3,
    /// The server's own check said no.
    Forbidden = 4,
    /// `EIO` is not a version the server speaks.
    UnsupportedVersion = 5,
}

impl Refusal {
    /// Every refusal, in the order of its codes.
    pub const ALL: [Refusal; 6] = [
        Refusal::UnknownTransport,
        Refusal::UnknownSid,
        Refusal::BadHandshakeMethod,
        Refusal::BadRequest,
        Refusal::Forbidden,
        Refusal::UnsupportedVersion,
    ];

    /// The number in the body.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The words in the body, as the reference server puts them.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::UnknownTransport => "Transport unknown",
            Refusal::UnknownSid => "Session ID unknown",
            Refusal::BadHandshakeMethod => "Bad handshake method",
            Refusal::BadRequest => "Bad request",
            Refusal::Forbidden => "Forbidden",
            Refusal::UnsupportedVersion => "Unsupported protocol version",
        }
    }

    /// The HTTP status the body comes with.
    pub fn status(self) -> u16 {
        if self == Refusal::Forbidden { 403 } else { 400 }
    }

    /// The response's body.
    pub fn to_json(self) -> String {
        format!(r#"{{"code":{},"message":"{}"}}"#, self.code(), self.message())
    }

    /// The refusal a response's body names; None when it is something else. Goes by the code: servers word the
    /// message as they like.
    pub fn from_json(body: &str) -> Option<Refusal> {
        #[derive(serde::Deserialize)]
        struct Body {
            code: usize,
        }
        let body: Body = serde_json::from_str(body).ok()?;
        Refusal::ALL.get(body.code).copied()
    }
}
