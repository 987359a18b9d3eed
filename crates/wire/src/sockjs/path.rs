//! Paths under the service's prefix, and their meanings.

/// How a session's messages travel, by the last part of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// `websocket`: both directions.
    WebSocket,
    /// `xhr`: a POST that ends with the first frame.
    Xhr,
    /// `xhr_streaming`: a POST whose response goes on.
    XhrStreaming,
    /// `xhr_send`: a POST with a client's messages.
    XhrSend,
    /// A transport that is known but unsupported: `eventsource`, `htmlfile`, `jsonp`, `jsonp_send`.
    Other,
}

/// The meaning of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path<'a> {
    /// The prefix alone: answer 200 with [`Path::GREETING`].
    Greeting,
    /// `/info`.
    Info,
    /// `/iframe*.html`: a page for transports not spoken here.
    Iframe,
    /// `/websocket`: a WebSocket without SockJS's frames.
    RawWebSocket,
    /// `/{server}/{session}/{transport}`.
    Session {
        /// For load balancers; does not name the session.
        server: &'a str,
        /// Names the session.
        session: &'a str,
        /// How.
        transport: Transport,
    },
}

impl<'a> Path<'a> {
    /// The body that greets who asks for the prefix alone.
    pub const GREETING: &'static str = "Welcome to SockJS!\n";

    /// Reads what follows the service's prefix, without the query. None is a 404.
    pub fn parse(path: &'a str) -> Option<Path<'a>> {
        match path {
            "" | "/" => return Some(Path::Greeting),
            "/info" => return Some(Path::Info),
            "/websocket" => return Some(Path::RawWebSocket),
            _ => {}
        }
        let path = path.strip_prefix('/')?;
        let Some((server, rest)) = path.split_once('/') else {
            return (path.starts_with("iframe") && path.ends_with(".html")).then_some(Path::Iframe);
        };
        let (session, transport) = rest.split_once('/')?;
        let is_name = |part: &str| !part.is_empty() && !part.contains('.');
        let transport = match transport {
            "websocket" => Transport::WebSocket,
            "xhr" => Transport::Xhr,
            "xhr_streaming" => Transport::XhrStreaming,
            "xhr_send" => Transport::XhrSend,
            "eventsource" | "htmlfile" | "jsonp" | "jsonp_send" => Transport::Other,
            _ => return None,
        };
        (is_name(server) && is_name(session)).then_some(Path::Session { server, session, transport })
    }
}
