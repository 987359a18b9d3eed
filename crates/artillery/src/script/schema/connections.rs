//! The keys of `config:` that say how connections are made: `http`, `defaults`, `ws`, `socketio`, `tls`, `engines`.

use super::area::{Area, Others, SECONDS, ignored, key, refused};

pub(crate) const DEFAULTS: Area = Area {
    name: "http.defaults",
    path: "config.http.defaults (and config.defaults)",
    others: Others::Ignored,
    keys: &[
        key(
            "headers",
            "a mapping of names to texts",
            "{accept: application/json}",
            "Sent with every HTTP request.",
        ),
        key("cookie", "a mapping of names to texts", "{session: abc}", "Sent with every HTTP request."),
        key(
            "strictCapture",
            "true or false",
            "false",
            "Whether a capture that finds nothing fails the user; true by default.",
        ),
        key("think", "a mapping", "{jitter: \"20%\"}", "Spread of all think times.").of(&[&DEFAULT_THINK]),
    ],
};

pub(crate) const DEFAULT_THINK: Area = Area {
    name: "defaults.think",
    path: "config.http.defaults.think",
    others: Others::Ignored,
    keys: &[key(
        "jitter",
        "milliseconds, or a percentage",
        "\"20%\"",
        "Each think time is spread evenly by ± this.",
    )],
};

pub(crate) const HTTP: Area = Area {
    name: "config.http",
    path: "config.http",
    others: Others::Ignored,
    keys: &[
        key("timeout", SECONDS, "10", "Time limit of a request; 10 s by default."),
        key(
            "pool",
            "a whole number of connections",
            "10",
            "Connections per address and core, shared by users; without it each user has its own.",
        ),
        key(
            "warm",
            "true or false",
            "true",
            "Opens the pool's connections to the target before the first user arrives. (Sonagi's own.)",
        ),
        key("defaults", "a mapping", "{headers: {accept: application/json}}", "Settings of every request.")
            .of(&[&DEFAULTS]),
        key(
            "http2",
            "true or false",
            "false",
            "Whether HTTP/2 is offered over TLS; true by default. (Sonagi's own.)",
        ),
        key(
            "maxBody",
            "a whole number of bytes",
            "67108864",
            "How much of a response's body captures, matches, expectations and functions see; 16 MiB by default. \
             (Sonagi's own.)",
        ),
        key("extendedMetrics", "true or false", "true", "Adds http.dns, http.tcp, http.tls and http.total."),
        ignored("maxSockets", "use `pool`"),
        ignored("cookieJarOptions", "cookies go by the rules of browsers"),
        ignored("distributedTracing", "no `traceparent` header is sent"),
    ],
};

pub(crate) const WS: Area = Area {
    name: "config.ws",
    path: "config.ws",
    others: Others::Meant,
    keys: &[
        key("subprotocols", "a list of texts", "[chat.v1]", "Offered in the handshake."),
        key(
            "headers",
            "a mapping of names to texts",
            "{authorization: \"Bearer {{ token }}\"}",
            "Sent with the handshake.",
        ),
        key("timeout", SECONDS, "10", "Time limit of the handshake and of awaited answers."),
        key(
            "maxMessage",
            "a whole number of bytes",
            "1048576",
            "Largest message accepted; 16 MiB by default. (Sonagi's own.)",
        ),
        key("rejectUnauthorized", "true or false", "false", "As `tls.rejectUnauthorized`."),
        ignored("handshakeTimeout", "`timeout` limits the handshake"),
        ignored("maxPayload", "`maxMessage` is the largest message accepted"),
        ignored("perMessageDeflate", "frames are not compressed"),
        refused("origin", "it is a header like others", "write `headers: {origin: …}`"),
        refused("ca", CERTIFICATES, TRUSTED),
        refused("cert", CERTIFICATES, "remove it"),
        refused("key", CERTIFICATES, "remove it"),
        refused("pfx", CERTIFICATES, "remove it"),
        key(
            "url",
            "an address, absolute or relative to the target",
            "/ws",
            "The address of a connection that no `connect` step opens; the target by default. (Sonagi's own.)",
        ),
        key(
            "subscribe",
            "a step, or a list of steps",
            "{send: {payload: {type: join, room: \"{{ $room }}\"}, match: {json: $.type, value: joined}}}",
            "The steps of `subscribe: ROOM`, with {{ $room }}. (Sonagi's own.)",
        ),
        key(
            "publish",
            "a step, or a list of steps",
            "{send: {type: send, room: \"{{ $room }}\", content: \"{{ $message }}\"}}",
            "The steps of `send: DATA` with `to: ROOM`, with {{ $room }} and {{ $message }}. (Sonagi's own.)",
        ),
        refused(
            "proxy",
            "proxies are not supported in this version",
            "set `target` to the address to connect to",
        ),
    ],
};

pub(crate) const SOCKETIO: Area = Area {
    name: "the Socket.IO options",
    path: "config.socketio (and config.engines.socketio-v3, and a scenario's socketio)",
    others: Others::Meant,
    keys: &[
        key(
            "url",
            "an address",
            "\"http://127.0.0.1:8080\"",
            "Where a `connect` step opens its session; without effect in the config, as in Artillery.",
        ),
        key("path", "a path", "/socket.io/", "Path of the handshake; `/socket.io/` by default."),
        key(
            "query",
            "a mapping of names to texts, or a text",
            "{token: \"{{ token }}\"}",
            "Added to the handshake's address.",
        ),
        key(
            "extraHeaders",
            "a mapping of names to texts",
            "{authorization: \"Bearer {{ token }}\"}",
            "Sent with the handshake.",
        ),
        key("auth", "a mapping", "{token: \"{{ token }}\"}", "Sent when joining the namespace."),
        key(
            "transports",
            "a list of `websocket` and `polling`",
            "[websocket]",
            "`[websocket]`: at once; `[polling]`: only long polling; both (the default): polling, then upgraded.",
        ),
        key("timeout", SECONDS, "10", "Time limit of opening a session."),
        key("rejectUnauthorized", "true or false", "false", "As `tls.rejectUnauthorized`."),
        key("upgrade", "true or false", "false", "false: stay on the first transport."),
        key(
            "protocol",
            "`4` or `5`",
            "4",
            "Socket.IO's protocol: 5 of servers of version 3 and 4 (the default), 4 of version 1 and 2. (Sonagi's \
             own.)",
        ),
        key(
            "subscribe",
            "a step, or a list of steps",
            "{emit: [joinRoom, {roomId: \"{{ $room }}\"}], acknowledge: true}",
            "The steps of `subscribe: ROOM`, with {{ $room }}. (Sonagi's own.)",
        ),
        key(
            "publish",
            "a step, or a list of steps",
            "{emit: [sendMessage, {roomId: \"{{ $room }}\", content: \"{{ $message }}\"}]}",
            "The steps of `send: DATA` with `to: ROOM`, with {{ $room }} and {{ $message }}. (Sonagi's own.)",
        ),
        ignored("verbose", ""),
        ignored("forceNew", ""),
        ignored("multiplex", ""),
        ignored("autoConnect", ""),
        ignored("secure", "the address's scheme decides"),
        ignored("withCredentials", ""),
        ignored("reconnection", "a lost session is opened again as `config.reconnect` says"),
        ignored("reconnectionAttempts", "a lost session is opened again as `config.reconnect` says"),
        ignored("reconnectionDelay", "a lost session is opened again as `config.reconnect` says"),
        ignored("reconnectionDelayMax", "a lost session is opened again as `config.reconnect` says"),
        ignored("rememberUpgrade", ""),
        refused("parser", "only the standard packet encoding is spoken", "remove it"),
    ],
};

pub(crate) const TLS: Area = Area {
    name: "config.tls",
    path: "config.tls",
    others: Others::Meant,
    keys: &[
        key(
            "rejectUnauthorized",
            "true or false",
            "false",
            "false: accept any certificate. true by default.",
        ),
        refused("ca", CERTIFICATES, TRUSTED),
        refused("certificateAuthority", CERTIFICATES, TRUSTED),
        refused("cert", CERTIFICATES, "remove it"),
        refused("certificate", CERTIFICATES, "remove it"),
        refused("key", CERTIFICATES, "remove it"),
        refused("pfx", CERTIFICATES, "remove it"),
    ],
};

/// The alternative for trusting a certificate.
const TRUSTED: &str = "put it into the file that SSL_CERT_FILE names, or set `rejectUnauthorized: false`";

/// Why keys of certificates are refused.
const CERTIFICATES: &str = "certificates are not read from files in this version";

pub(crate) const ENGINES: Area = Area {
    name: "config.engines",
    path: "config.engines",
    others: Others::Ignored,
    keys: &[
        key(
            "socketio-v3",
            "a mapping",
            "{transports: [websocket]}",
            "Laid over `socketio` for scenarios with `engine: socketio-v3`.",
        )
        .of(&[&SOCKETIO]),
        key("http", "a mapping", "{}", "Nothing to set here."),
        key("ws", "a mapping", "{}", "Nothing to set here."),
        key("socketio", "a mapping", "{}", "Nothing to set here."),
    ],
};
