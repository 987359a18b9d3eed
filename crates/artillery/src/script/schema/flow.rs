//! The keys of scenarios and of the steps in their flows.

use super::area::{Area, Others, SECONDS, TAGS, ignored, key, refused, tags};
use super::connections::SOCKETIO;
use super::functions::FUNCTIONS;
use super::response::{CAPTURE, EXPECTED, FORM_PART, MATCH};
use super::transports::{PULL_CONNECT, STOMP_CONNECT};
use super::turns::{ABOUT_IF_TRUE, EXAMPLE_IF_TRUE, IF_TRUE};

const VALUES: &str = "a mapping of names to texts or lists of them";
const TEXTS: &str = "a mapping of names to texts";
const CAPTURES: &str = "a capture or a list of them";
const MATCHES: &str = "a match or a list of them";
const HANDED_ON: &str = "Artillery hands it on to its HTTP client, and this one has no such option";
const WITH_NAME: &str = "Name of the step in the report.";

pub(super) const ENGINE_NAMES: &str =
    "`http`, `ws`, `websocket`, `socketio`, `socket.io`, `socketio-v3`, `poll`, `longpoll`, `sse` or `stomp`";

pub(crate) const FIXED_FLOW: Area = Area {
    name: "before/after",
    path: "before, after",
    others: Others::Ignored,
    keys: &[
        key("flow", "a list of steps", "[{post: {url: /login}}]", "The steps, taken by one user."),
        key("name", "a text", "set up", "Shown nowhere.").label(),
        key("engine", ENGINE_NAMES, "socketio", "The engine of the steps; http by default."),
        key("beforeScenario", FUNCTIONS, "login", "Called before the first step."),
        key("afterScenario", FUNCTIONS, "logout", "Called after the last step."),
        key("beforeRequest", FUNCTIONS, "sign", "Called before each request; may change it."),
        key("afterResponse", FUNCTIONS, "check", "Called with the response of each request."),
        key("onError", FUNCTIONS, "tell", "Called when a request got no answer."),
    ],
};

pub(crate) const SCENARIO: Area = Area {
    name: "a scenario",
    path: "scenarios[]",
    others: Others::Ignored,
    keys: &[
        key("name", "a text", "chat", "Shown in the report.").label(),
        key(
            "tags",
            TAGS,
            "{team: search}",
            "What its users' steps are told apart by, in figures and thresholds. (Sonagi's own.)",
        )
        .label(),
        key("weight", "a number", "3", "Relative share of users; 1 by default."),
        key(
            "engine",
            ENGINE_NAMES,
            "socketio",
            "The engine of the steps; http by default. HTTP steps work in all of them. `websocket` and `socket.io` are \
             other names of `ws` and `socketio`.",
        ),
        key(
            "transport",
            ENGINE_NAMES,
            "\"{{ transport }}\"",
            "The same as `engine`. (Sonagi's own.)",
        ),
        key("flow", "a list of steps", "[{get: {url: /}}]", "The steps of a user."),
        key(
            "socketio",
            "a mapping",
            "{transports: [polling]}",
            "Laid over `config.socketio` for this scenario only.",
        ).of(&[&SOCKETIO]),
        key(
            "room",
            "a text, or a mapping",
            "\"{{ roomId }}\"",
            "The room a user joins, for the delivery ledger; what `subscribe` names by default. (Sonagi's own.)",
        ).of(&[&ROOM]),
        key("beforeScenario", FUNCTIONS, "login", "Called before the first step."),
        key("afterScenario", FUNCTIONS, "logout", "Called after the last step."),
        key("beforeRequest", FUNCTIONS, "sign", "Called before each request of the flow; may change it."),
        key("afterResponse", FUNCTIONS, "check", "Called with the response of each request of the flow."),
        key("onError", FUNCTIONS, "tell", "Called when a request of the flow got no answer."),
    ],
};

pub(crate) const ROOM: Area = Area {
    name: "room",
    path: "scenarios[].room",
    others: Others::Meant,
    keys: &[
        key("name", "a text", "\"{{ roomId }}\"", "The room's name."),
        key("id", "a text", "\"{{ roomId }}\"", "The same as `name`."),
        key(
            "joinedAfter",
            "the name of a step, the channel of an emit, or `connect`",
            "joinRoom",
            "The step that confirms the subscription. By default the first `subscribe`, else the first acknowledged \
             emit with \"join\" in its channel, else connecting.",
        ),
        key(
            "leftBefore",
            "the name of a step, or the channel of an emit",
            "leaveRoom",
            "The step that ends the membership; by default the end of the scenario.",
        ),
    ],
};

pub(crate) const REQUEST_STEP: Area = Area {
    name: "an HTTP step",
    path: "flow[]: an HTTP request",
    others: Others::Ignored,
    keys: &[
        key("get", "a request", "{url: /}", "Sends a request.").of(&[&REQUEST]),
        key("post", "a request", "{url: /login, json: {user: ada}}", "Sends a request.").of(&[&REQUEST]),
        key("put", "a request", "{url: /me}", "Sends a request.").of(&[&REQUEST]),
        key("patch", "a request", "{url: /me}", "Sends a request.").of(&[&REQUEST]),
        key("delete", "a request", "{url: /me}", "Sends a request.").of(&[&REQUEST]),
        key("head", "a request", "{url: /}", "Sends a request.").of(&[&REQUEST]),
        key("options", "a request", "{url: /}", "Sends a request.").of(&[&REQUEST]),
    ],
};

pub(crate) const REQUEST: Area = Area {
    name: "an HTTP request",
    path: "flow[].get, post, put, patch, delete, head, options",
    others: Others::Ignored,
    keys: &[
        key("url", "an address, absolute or relative to the target", "/rooms/{{ roomId }}", "Where to."),
        key("uri", "an address, absolute or relative to the target", "/rooms", "The same as `url`."),
        key("name", "a text", "log in", WITH_NAME).label(),
        tags(),
        key("headers", TEXTS, "{accept: application/json}", "Laid over the default headers."),
        key(
            "cookie",
            TEXTS,
            "{session: \"{{ session }}\"}",
            "Put among the user's cookies first; they and those the service sets go with every request they are for.",
        ),
        key(
            "qs",
            VALUES,
            "{page: 2}",
            "Added to the address, encoded; a list is its name again for each value.",
        ),
        key("json", "any value", "{email: \"{{ email }}\"}", "The body, as JSON."),
        key("body", "a text", "\"a,b\"", "The body, as it is."),
        key(
            "form",
            VALUES,
            "{user: ada}",
            "The body, as an HTML form; the values of a list are joined by commas.",
        ),
        key(
            "formData",
            "a mapping of names to texts or parts",
            "{title: rain, photo: {fromFile: ./photo.png}}",
            "The body, as a form of several parts (multipart/form-data).",
        )
        .of(&[&FORM_PART]),
        ignored("setContentLengthHeader", ""),
        key("auth", "a mapping with user and pass", "{user: ada, pass: secret}", "Basic authentication.")
            .of(&[&AUTH]),
        key("followRedirect", "true or false", "false", "Whether redirects are followed; true by default."),
        key("timeout", SECONDS, "5", "Time limit of this request."),
        key("capture", CAPTURES, "{json: $.token, as: token}", "Keeps values of the response.")
            .of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.ok, value: true}", "Demands values of the response.").of(&[&MATCH]),
        key(
            "expect",
            "a mapping or a list of them",
            "{statusCode: 200}",
            "Expectations of the response: counted, and a failed one fails the run.",
        )
        .of(&[&EXPECTED]),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, ABOUT_IF_TRUE),
        key("probability", "a percentage, 0 to 100", "50", "Share of users that do the step."),
        key(
            "gzip",
            "true or false",
            "true",
            "Whether the response may come compressed; captures see it as it was before. true by default.",
        ),
        refused("searchParams", HANDED_ON, "write `qs`"),
        refused("username", HANDED_ON, "write `auth: {user: …, pass: …}`"),
        refused("password", HANDED_ON, "write `auth: {user: …, pass: …}`"),
        refused("maxRedirects", HANDED_ON, "write `followRedirect: false`, or remove it"),
        refused("http2", HANDED_ON, "set `http: {http2: …}` in config"),
        refused("https", HANDED_ON, "set `tls` in config"),
        refused("encoding", HANDED_ON, "remove it"),
        refused("allowGetBody", HANDED_ON, "remove it"),
        key("beforeRequest", FUNCTIONS, "sign", "Called before the request; may change it."),
        key("afterResponse", FUNCTIONS, "check", "Called with the response."),
    ],
};

pub(crate) const AUTH: Area = Area {
    name: "auth",
    path: "flow[].get.auth",
    others: Others::Ignored,
    keys: &[key("user", "a text", "ada", "User name."), key("pass", "a text", "secret", "Password.")],
};

pub(crate) const CONNECT_STEP: Area = Area {
    name: "a connect step",
    path: "flow[]: connect",
    others: Others::Ignored,
    keys: &[
        key(
            "connect",
            "an address, true, or a mapping of options",
            "\"{{ target }}/ws?room=lobby\"",
            "Opens the connection now; `true`: as config says. Without it, it is opened before the first step that \
             needs it; an event stream or polls by `subscribe`.",
        ).of(&[&WS_CONNECT, &SOCKETIO, &STOMP_CONNECT, &PULL_CONNECT]),
        key("namespace", "a path", "/chat", "Socket.IO: the namespace to join; `/` by default."),
        key("name", "a text", "enter", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const WS_CONNECT: Area = Area {
    name: "a WebSocket connect",
    path: "flow[].connect (engine: ws)",
    others: Others::Meant,
    keys: &[
        key("target", "an address", "\"{{ target }}/ws\"", "Where to; the target by default."),
        key(
            "headers",
            TEXTS,
            "{authorization: \"Bearer {{ token }}\"}",
            "Sent with the handshake, instead of `config.ws.headers`.",
        ),
        key(
            "subprotocols",
            "a list of texts",
            "[chat.v1]",
            "Offered in the handshake, instead of `config.ws.subprotocols`.",
        ),
        key("timeout", SECONDS, "5", "Time limit of the handshake."),
        refused(
            "url",
            "a WebSocket connect has no `url` (Artillery ignores it)",
            "write `target:`, or the address itself: `connect: \"ws://…\"`",
        ),
        key(
            "function",
            "the name of a function of the processor",
            "sign",
            "Called first; may change `target`, `subprotocols` and `options.headers`.",
        ),
        refused(
            "proxy",
            "proxies are not supported in this version",
            "set `target` to the address to connect to",
        ),
        ignored("rejectUnauthorized", "use `config.tls.rejectUnauthorized`"),
    ],
};

pub(crate) const SEND_STEP: Area = Area {
    name: "a send step",
    path: "flow[]: send (every engine but http)",
    others: Others::Ignored,
    keys: &[
        key(
            "send",
            "a text, or a value sent as JSON",
            "{type: send, content: \"{{ $stamp }}\"}",
            "Sends a message: to a room (`to`), or without one as the engine has it: a text over a WebSocket, a \
             mapping with a destination over STOMP.",
        )
        .of(&[&SEND, &super::STOMP_SEND]),
        key(
            "to",
            "a room",
            "\"{{ group }}\"",
            "The room the message goes to; how is in the engine's block of config, under `publish`. (Sonagi's own.)",
        ),
        key("name", "a text", "say", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const SEND_BYTES_STEP: Area = Area {
    name: "a sendBytes step",
    path: "flow[]: sendBytes (engine: ws)",
    others: Others::Ignored,
    keys: &[
        key("sendBytes", "a text", "hello", "Sends the text's bytes as a binary message."),
        key("name", "a text", "say", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const SEND: Area = Area {
    name: "a send that waits",
    path: "flow[].send with capture or match",
    others: Others::Ignored,
    keys: &[
        key("payload", "a text, or a value sent as JSON", "{type: ping}", "The message to send."),
        key("capture", CAPTURES, "{json: $.id, as: id}", "Waits for a message and keeps values of it.")
            .of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.ok, value: true}", "Waits for a message and demands values of it.")
            .of(&[&MATCH]),
        key("timeout", SECONDS, "5", "How long to wait for it."),
    ],
};

pub(crate) const WAIT_STEP: Area = Area {
    name: "a wait step",
    path: "flow[]: wait (engine: ws)",
    others: Others::Ignored,
    keys: &[
        key(
            "wait",
            "a mapping with capture or match",
            "{match: {json: $.type, value: joined}}",
            "Waits for a message that fits without sending one; others are skipped.",
        )
        .of(&[&AWAITED]),
        key("name", "a text", "welcome", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const AWAITED: Area = Area {
    name: "a wait",
    path: "flow[].wait",
    others: Others::Ignored,
    keys: &[
        key("capture", CAPTURES, "{json: $.id, as: id}", "Keeps values of the message.").of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.type, value: joined}", "Demands values of the message.")
            .of(&[&MATCH]),
        key("timeout", SECONDS, "5", "How long to wait."),
    ],
};

pub(crate) const EMIT_STEP: Area = Area {
    name: "an emit step",
    path: "flow[]: emit (engine: socketio, socketio-v3)",
    others: Others::Ignored,
    keys: &[
        key(
            "emit",
            "a channel with data, or a list [event, …arguments]",
            "{channel: sendMessage, data: {text: hi}}",
            "Sends an event. An argument `{$base64: AAEC}` is sent as those bytes.",
        )
        .of(&[&EMIT]),
        key("namespace", "a path", "/chat", "The namespace it goes to; `/` by default."),
        key("response", "a mapping", "{on: newMessage}", "Waits for an event after it.").of(&[&RESPONSE]),
        key("acknowledge", "true, or a mapping", "true", "Asks for an acknowledgement and waits for it.")
            .of(&[&ACKNOWLEDGE]),
        key(
            "reconnect",
            "true or false",
            "true",
            "true: the session is closed before, and opened anew with the variables as they are now.",
        ),
        key("name", "a text", "say", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const EMIT: Area = Area {
    name: "an emit",
    path: "flow[].emit",
    others: Others::Ignored,
    keys: &[
        key("channel", "a text", "sendMessage", "The event's name."),
        key("data", "any value", "{text: hi}", "The event's argument; `{$base64: AAEC}` is those bytes."),
        key("namespace", "a path", "/chat", "The same as beside `emit`."),
        key("response", "a mapping", "{on: newMessage}", "The same as beside `emit`.").of(&[&RESPONSE]),
        key("acknowledge", "true, or a mapping", "true", "The same as beside `emit`.").of(&[&ACKNOWLEDGE]),
    ],
};

pub(crate) const RESPONSE: Area = Area {
    name: "a response",
    path: "flow[].response",
    others: Others::Ignored,
    keys: &[
        key("on", "a text", "newMessage", "The event to wait for."),
        key("channel", "a text", "newMessage", "The same as `on`."),
        key(
            "data",
            "any value",
            "{text: hi}",
            "The value of its last argument, or, as a list, of all of them; a text must be a part of it.",
        ),
        key("args", "any value", "{text: hi}", "The same as `data`."),
        key("capture", CAPTURES, "{json: $.seq, as: seq}", "Keeps values of its first argument.")
            .of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.ok, value: true}", "Demands values of its first argument.")
            .of(&[&MATCH]),
        key("timeout", SECONDS, "5", "How long to wait."),
        ignored("concat", "each event is looked at by itself"),
    ],
};

pub(crate) const ACKNOWLEDGE: Area = Area {
    name: "an acknowledge",
    path: "flow[].acknowledge",
    others: Others::Ignored,
    keys: &[
        key(
            "data",
            "any value",
            "{ok: true}",
            "The value of its last argument, or, as a list, of all of them; a text must be a part of it.",
        ),
        key("args", "any value", "{ok: true}", "The same as `data`."),
        key(
            "capture",
            CAPTURES,
            "{json: $.0.seq, as: seq}",
            "Keeps values of it; `$.0` is its first argument, and `$.seq` means `$.0.seq`.",
        )
        .of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.0.ok, value: true}", "Demands values of it.").of(&[&MATCH]),
        key("timeout", SECONDS, "5", "How long to wait."),
    ],
};

pub(crate) const EXPECT_STEP: Area = Area {
    name: "an expect step",
    path: "flow[]: expect",
    others: Others::Meant,
    keys: &[
        key(
            "expect",
            "a mapping",
            "{channel: newMessage, within: 2}",
            "Waits for a message that fits without sending one; others are skipped. (Sonagi's own.)",
        )
        .of(&[&EXPECT]),
        key("name", "a text", "news", WITH_NAME).label(),
        tags(),
    ],
};

pub(crate) const EXPECT: Area = Area {
    name: "an expect",
    path: "flow[].expect",
    others: Others::Meant,
    keys: &[
        key(
            "channel",
            "a text",
            "newMessage",
            "Socket.IO: the event's name. Event streams: the event's type. STOMP: the destination.",
        ),
        key("within", SECONDS, "2", "How long to wait; 10 s by default."),
        key("data", "any value", "{text: hi}", "The value of its first argument."),
        key("capture", CAPTURES, "{json: $.seq, as: seq}", "Keeps values of it.").of(&[&CAPTURE]),
        key("match", MATCHES, "{json: $.ok, value: true}", "Demands values of it.").of(&[&MATCH]),
    ],
};

pub(crate) const DISCONNECT_STEP: Area = Area {
    name: "a disconnect step",
    path: "flow[]: disconnect",
    others: Others::Meant,
    keys: &[key("disconnect", "true", "true", "Closes the connection. (Sonagi's own.)")],
};
