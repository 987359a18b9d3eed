//! The keys of everything that came with further transports: their blocks of `config`, reconnecting, matrix and
//! service, and the steps every engine knows.

use super::area::{Area, Key, Others, SECONDS, ignored, key, refused, tags};
use super::launch::LIMITS;
use super::response::{CAPTURE, MATCH};

const TEXTS: &str = "a mapping of names to texts";
const ADDRESS: &str = "an address, absolute or relative to the target";
const STEPS: &str = "a step, or a list of steps";
const WITH_NAME: &str = "Name of the step in the report.";
const NO_PROXY: &str = "proxies are not supported in this version";

/// The settings for reopening a connection.
pub(crate) const RECONNECT: Area = Area {
    name: "config.reconnect",
    path: "config.reconnect",
    others: Others::Meant,
    keys: &[
        key(
            "automatic",
            "true or false",
            "false",
            "Whether a lost connection is opened again by itself; true by default. `reconnect: true` steps do it in \
             any case.",
        ),
        key(
            "first",
            SECONDS,
            "500ms",
            "The first wait is drawn from 0 to this, each further one from twice as much; 500 ms by default.",
        ),
        key("most", SECONDS, "10s", "The longest a wait is drawn from; 10 s by default."),
        key(
            "attempts",
            "a whole number",
            "10",
            "After so many the user gives up and has failed; 10 by default.",
        ),
        key(
            "resume",
            "true or false",
            "false",
            "Whether subscriptions continue where the lost connection ended; true by default. Messages sent in between \
             are then owed, too.",
        ),
        key(
            "cursor",
            "a member's name",
            "seq",
            "The member of received messages whose largest number is {{ $cursor }}. Event streams and polls have a \
             cursor of their own.",
        ),
    ],
};

const POLL_URL: Key =
    key("url", ADDRESS, "\"/cur/{{ $room }}\"", "The address to request, without the cursor.");
const POLL_CURSOR: Key = key(
    "cursor",
    "a mapping",
    "{json: $.next, as: after}",
    "Where an answer holds the cursor, and the query parameter that gives it back.",
)
.of(&[&CURSOR]);
const POLL_HEADERS: Key =
    key("headers", TEXTS, "{authorization: \"Bearer {{ token }}\"}", "Sent with every poll.");
const POLL_MESSAGES: Key = key(
    "messages",
    "a member's name",
    "messages",
    "The member of an answer that lists the messages; `messages` by default. An answer that is a list is its own, any \
     other is one message.",
);
const POLL_EMPTY: Key = key(
    "empty",
    "a status or a list of them",
    "[503]",
    "Statuses that say there is nothing new, beside 204, 304 and an empty 200.",
);
const PUBLISH: Key = key(
    "publish",
    STEPS,
    "{post: {url: \"/location/long/{{ $room }}/notify\", json: \"{{ $message }}\"}}",
    "The steps of `send: DATA` with `to: ROOM`, with {{ $room }} and {{ $message }}.",
);

pub(crate) const POLL: Area = Area {
    name: "config.poll",
    path: "config.poll",
    others: Others::Meant,
    keys: &[
        POLL_URL,
        key("every", SECONDS, "3", "One poll is planned every so often, however long the one before took."),
        POLL_CURSOR,
        key(
            "more",
            "a JSONPath",
            "$.more",
            "Where an answer says that it was cut short: what is there and is not false, null, 0 or empty has the next \
             poll leave at once. The one after that keeps to the rhythm.",
        ),
        POLL_HEADERS,
        key("timeout", SECONDS, "10", "Time limit of a poll; 10 s by default."),
        POLL_MESSAGES,
        POLL_EMPTY,
        PUBLISH,
    ],
};

pub(crate) const LONGPOLL: Area = Area {
    name: "config.longpoll",
    path: "config.longpoll",
    others: Others::Meant,
    keys: &[
        key("url", ADDRESS, "\"/location/long/{{ $room }}\"", "The address to request, without the cursor."),
        key(
            "hold",
            SECONDS,
            "30",
            "How long the target may hold an answer back; 30 s by default. A poll that got its answer is followed by \
             the next.",
        ),
        POLL_CURSOR,
        POLL_HEADERS,
        key("timeout", SECONDS, "10", "Time limit of a poll beyond `hold`; 10 s by default."),
        POLL_MESSAGES,
        POLL_EMPTY,
        PUBLISH,
    ],
};

pub(crate) const CURSOR: Area = Area {
    name: "a cursor",
    path: "config.poll.cursor, config.longpoll.cursor",
    others: Others::Meant,
    keys: &[
        key("json", "a JSONPath", "$.next", "Where the cursor is in a JSON answer."),
        key("header", "the name of a header", "x-cursor", "The header of the answer that is the cursor."),
        key(
            "as",
            "the name of a query parameter",
            "after",
            "The query parameter that the next poll sends it as.",
        ),
    ],
};

pub(crate) const SSE: Area = Area {
    name: "config.sse",
    path: "config.sse",
    others: Others::Meant,
    keys: &[
        key("url", ADDRESS, "\"/location/sse/connect?group={{ $room }}\"", "The event stream."),
        key(
            "headers",
            TEXTS,
            "{authorization: \"Bearer {{ token }}\"}",
            "Sent with the request that opens it.",
        ),
        key("timeout", SECONDS, "10", "Time limit of opening a stream; 10 s by default."),
        key(
            "publish",
            STEPS,
            "{post: {url: \"/location/sse/share?group={{ $room }}\", json: \"{{ $message }}\"}}",
            "The steps of `send: DATA` with `to: ROOM`, with {{ $room }} and {{ $message }}.",
        ),
    ],
};

pub(crate) const STOMP: Area = Area {
    name: "config.stomp",
    path: "config.stomp",
    others: Others::Meant,
    keys: &[
        key(
            "url",
            "an address",
            "/location",
            "Where sessions are opened: the WebSocket, or with `sockjs` the prefix of its endpoint; the target by \
             default.",
        ),
        key("versions", "a list of `1.0`, `1.1` and `1.2`", "[\"1.2\"]", "Offered; all three by default."),
        key(
            "heartBeat",
            "a list of two numbers of milliseconds",
            "[10000, 10000]",
            "How often we send a sign of life and want one; 0 (the default) is never.",
        ),
        key(
            "sockjs",
            "true or false",
            "true",
            "Whether STOMP is wrapped in SockJS (its WebSocket transport); false by default.",
        ),
        key("headers", TEXTS, "{origin: \"https://chat.example\"}", "Sent with the handshake."),
        key(
            "connectHeaders",
            TEXTS,
            "{login: guest, passcode: guest}",
            "Headers of the CONNECT frame, beside those of the protocol.",
        ),
        key(
            "receipts",
            "a list of `subscribe` and `send`",
            "[subscribe, send]",
            "Which frames ask for a receipt and wait for it; none by default.",
        ),
        key(
            "ack",
            "`auto`, `client` or `client-individual`",
            "client",
            "How received messages are acknowledged; `auto` by default: not at all.",
        ),
        key("timeout", SECONDS, "10", "Time limit of opening a session, and of receipts; 10 s by default."),
        key(
            "subscribe",
            "a mapping",
            "{destination: \"/sub/location/{{ $room }}\", headers: {after: \"{{ $cursor }}\"}}",
            "The steps of `subscribe: ROOM`.",
        )
        .of(&[&STOMP_SUBSCRIBE]),
        key(
            "publish",
            "a mapping",
            "{destination: \"/pub/share/{{ $room }}\"}",
            "The step of `send: DATA` with `to: ROOM`; without `body` or `json` the message is the body.",
        )
        .of(&[&STOMP_SEND]),
    ],
};

pub(crate) const STOMP_CONNECT: Area = Area {
    name: "a STOMP connect",
    path: "flow[].connect (engine: stomp)",
    others: Others::Meant,
    keys: &[
        key("target", "an address", "/location", "Where to; `config.stomp.url` by default."),
        key(
            "versions",
            "a list of `1.0`, `1.1` and `1.2`",
            "[\"1.2\"]",
            "Instead of `config.stomp.versions`.",
        ),
        key(
            "heartBeat",
            "a list of two numbers of milliseconds",
            "[10000, 10000]",
            "Instead of `config.stomp.heartBeat`.",
        ),
        key("sockjs", "true or false", "true", "Instead of `config.stomp.sockjs`."),
        key("headers", TEXTS, "{origin: \"https://chat.example\"}", "Laid over `config.stomp.headers`."),
        key(
            "connectHeaders",
            TEXTS,
            "{login: guest, passcode: guest}",
            "Laid over `config.stomp.connectHeaders`.",
        ),
        key("timeout", SECONDS, "10", "Time limit of opening the session."),
        refused("proxy", NO_PROXY, "set `target` to the address to connect to"),
        ignored("rejectUnauthorized", "use `config.tls.rejectUnauthorized`"),
    ],
};

pub(crate) const PULL_CONNECT: Area = Area {
    name: "a connect",
    path: "flow[].connect (engine: poll, longpoll, sse)",
    others: Others::Meant,
    keys: &[
        key(
            "target",
            "an address",
            "/location/sse/connect?group=1",
            "The address to request; the block's `url` by default.",
        ),
        key("headers", TEXTS, "{authorization: \"Bearer {{ token }}\"}", "Laid over the block's `headers`."),
        key("timeout", SECONDS, "10", "Instead of the block's `timeout`."),
        refused("proxy", NO_PROXY, "set `target` to the address to connect to"),
        ignored("rejectUnauthorized", "use `config.tls.rejectUnauthorized`"),
    ],
};

pub(crate) const SUBSCRIBE_STEP: Area = Area {
    name: "a subscribe step",
    path: "flow[]: subscribe, join (every engine but http)",
    others: Others::Meant,
    keys: &[
        key(
            "subscribe",
            "a room, or (STOMP) a mapping with a destination",
            "\"{{ group }}\"",
            "From here on the user receives what is sent to the room; how is in the engine's block of config. It \
             confirms the membership in `room`. (Sonagi's own.)",
        ).of(&[&STOMP_SUBSCRIBE]),
        key("join", "a room, or (STOMP) a mapping with a destination", "lobby", "The same as \
            `subscribe`.").of(&[&STOMP_SUBSCRIBE]),
        key("name", "a text", "enter", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const STOMP_SUBSCRIBE: Area = Area {
    name: "a STOMP subscription",
    path: "flow[].subscribe (engine: stomp), config.stomp.subscribe",
    others: Others::Meant,
    keys: &[
        key("destination", "a text", "/topic/news", "Where to subscribe."),
        key(
            "headers",
            TEXTS,
            "{after: \"{{ $cursor }}\"}",
            "Headers of the SUBSCRIBE frame; one whose value is empty is left out.",
        ),
        key("ack", "`auto`, `client` or `client-individual`", "client", "Instead of `config.stomp.ack`."),
        key(
            "receipt",
            "true or false",
            "true",
            "Whether to ask for a receipt, instead of `config.stomp.receipts`.",
        ),
    ],
};

pub(crate) const STOMP_SEND: Area = Area {
    name: "a STOMP message",
    path: "flow[].send (engine: stomp), config.stomp.publish",
    others: Others::Meant,
    keys: &[
        key("destination", "a text", "/app/hello", "Where to send."),
        key("body", "a text", "hello", "The body, as it is."),
        key("json", "any value", "{text: \"{{ $stamp }}\"}", "The body, as JSON."),
        key(
            "headers",
            TEXTS,
            "{persistent: \"true\"}",
            "Headers of the SEND frame; one whose value is empty is left out.",
        ),
        key(
            "receipt",
            "true or false",
            "true",
            "Whether to ask for a receipt, instead of `config.stomp.receipts`.",
        ),
        key(
            "capture",
            "a capture or a list of them",
            "{json: $.id, as: id}",
            "Waits for a message after it and keeps values of it.",
        )
        .of(&[&CAPTURE]),
        key(
            "match",
            "a match or a list of them",
            "{json: $.ok, value: true}",
            "Waits for a message after it and demands values of it.",
        )
        .of(&[&MATCH]),
        key("timeout", SECONDS, "5", "How long to wait for receipt and message."),
    ],
};

pub(crate) const RECONNECT_STEP: Area = Area {
    name: "a reconnect step",
    path: "flow[]: reconnect",
    others: Others::Meant,
    keys: &[key(
        "reconnect",
        "true",
        "true",
        "Cuts the connection without a goodbye and opens it again with all its subscriptions; those that say {{ \
         $cursor }} or have a cursor of their own resume. (Sonagi's own.)",
    )],
};

pub(crate) const SERVE: Area = Area {
    name: "serve",
    path: "serve",
    others: Others::Meant,
    keys: &[
        key("workers", "a whole number", "1", "Threads of the service; one per core by default."),
        key(
            "store",
            "`memory`, or a file's name",
            "memory",
            "Where users and messages are kept; in memory by default. A file is relative to the script's folder.",
        ),
        key(
            "seedUsers",
            "a whole number of users",
            "100",
            "Accounts user1@example.test … with the password `password`.",
        ),
        key(
            "account",
            "`EMAIL:PASSWORD` or a list of them",
            "\"ann@example.test:secret\"",
            "Accounts beside the seeded ones, their friends.",
        ),
        key(
            "loginRate",
            "a whole number",
            "50",
            "Logins a second of one account, four times as many at once; 5 by default.",
        ),
        key(
            "passwordCost",
            "a whole number of KiB",
            "64",
            "Memory that hashing a new account's password takes; 4096 by default.",
        ),
        key("fault", "a text", "\"drop=3%,seed=7\"", "Misbehaves on purpose (docs/faults.md)."),
        key(
            "origin",
            "an origin or a list of them",
            "\"https://chat.example\"",
            "The only origins browsers are accepted of.",
        ),
        key("connections", "a whole number", "20000", "Most connections open at once."),
        key(
            "queueBytes",
            "a whole number of bytes",
            "1048576",
            "Limit on bytes queued for one connection before it is closed.",
        ),
        key("maxPayload", "a whole number of bytes", "65536", "Largest message taken."),
        key("pingInterval", SECONDS, "25", "How often each connection is pinged."),
        key("pingTimeout", SECONDS, "20", "How long the answer to a ping may take."),
        key("connectTimeout", SECONDS, "45", "How long a new connection may take to join or CONNECT."),
        key("longHold", SECONDS, "25", "How long a long poll waits for a message."),
        key(
            "longExpiry503",
            "true or false",
            "true",
            "Answers a long poll that brought nothing with 503 instead of 204.",
        ),
        key("gather", SECONDS, "1ms", "The most a message waits to share writes with the next ones."),
        key("grace", SECONDS, "2", "How long the service drains before it stops."),
        key("null", "true or false", "true", "Be a target for measuring load generators: nothing is stored."),
        key("protocolSuite", "true or false", "true", "Offer what the published protocol suites expect."),
        key(
            "limits",
            "a mapping",
            "{cpu: 1, network: {latency: 20ms}}",
            "What the service may use, and the network before it, as in config.launch (docs/launch.md).",
        )
        .of(&[&LIMITS]),
        key("host", "the name of a machine", "t2.micro", "The limits of this machine, as in config.launch."),
        key(
            "before",
            "a text for the shell, or a list of a program and its arguments",
            "rm -f chat.db",
            "Run to its end before each start, in the script's folder; any status but 0 is an error.",
        ),
        key(
            "after",
            "a text for the shell, or a list of a program and its arguments",
            "./clean.sh",
            "Run after each end, in the script's folder, however the run ended.",
        ),
        refused("listen", "each run takes a free port of 127.0.0.1", "remove it"),
        refused(
            "credentials",
            "payloads are read before the service runs",
            "write the seeded users (user1@example.test …) into a payload of your own",
        ),
        refused("stopOnEof", "the service ends with the run in any case", "remove it"),
    ],
};
