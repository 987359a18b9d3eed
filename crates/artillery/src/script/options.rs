//! Settings of connections: `http`, `defaults`, `ws`, `socketio`, `engines`, `tls`, and the same options of single
//! scenarios and connect steps.

use crate::plan::{HttpOptions, Jitter, SocketioOptions, Template, WebsocketOptions};
use sonagi_transport::link::{SocketioRevision, SocketioTransport};
use std::time::Duration;

use crate::script::engine::Engine;
use crate::script::expectations;
use crate::script::problem::IGNORED;
use crate::script::pull_settings::Pulls;
use crate::script::reader::{Fields, Reader};
use crate::script::room_block::Block;
use crate::script::schema;
use crate::script::stomp_settings::Stomp;
use crate::script::yaml::{Kind, Node};

/// The settings of steps from `config`.
pub(crate) struct Settings {
    /// The engine of scenarios that name none.
    pub(crate) engine: Engine,
    pub(crate) http: HttpOptions,
    pub(crate) cookies: Vec<(String, Template)>,
    pub(crate) strict_capture: bool,
    pub(crate) jitter: Jitter,
    pub(crate) websocket: WebsocketOptions,
    pub(crate) socketio: SocketioOptions,
    /// The options for `engine: socketio-v3`: `socketio` with `engines.socketio-v3` merged over it.
    pub(crate) socketio_v3: SocketioOptions,
    pub(crate) verify_certificates: bool,
    /// The time limit of awaited answers.
    pub(crate) timeout: Duration,
    /// Where WebSockets go that no step says it of, as the script writes it: steps compile it where they use it.
    pub(crate) websocket_address: Option<Node>,
    pub(crate) pulls: Pulls,
    pub(crate) stomp: Stomp,
    pub(crate) blocks: Blocks,
    /// A population repeats its scenario: a loop without end ends with the user's time.
    pub(crate) is_closed: bool,
    /// Connections are opened again: what opened them and subscribed is kept.
    pub(crate) reconnects: bool,
    /// Subscriptions of a connection opened again are to take up where it broke off.
    pub(crate) resumes: bool,
    /// The settings for expectations of responses.
    pub(crate) expect: expectations::Settings,
    /// How long connections took to open is told with each response.
    pub(crate) extended_metrics: bool,
}

/// How rooms are spoken of over each engine.
#[derive(Default)]
pub(crate) struct Blocks {
    all: Vec<(&'static str, Block)>,
    none: Block,
}

impl Blocks {
    /// The engine's own settings; empty where `config` has none.
    pub(crate) fn of(&self, engine: Engine) -> &Block {
        let own = self.all.iter().find(|(name, _)| *name == engine.name());
        own.map_or(&self.none, |(_, block)| block)
    }

    /// Adds what a section of `config` says of an engine.
    pub(crate) fn lay(&mut self, reader: &mut Reader, engine: Engine, fields: &Fields<'_>) {
        if !self.all.iter().any(|(name, _)| *name == engine.name()) {
            self.all.push((engine.name(), Block::default()));
        }
        if let Some((_, block)) = self.all.iter_mut().find(|(name, _)| *name == engine.name()) {
            block.lay(reader, fields);
        }
    }
}

/// Reads all of them from `config`.
pub(crate) fn settings(reader: &mut Reader, config: &Fields<'_>) -> Settings {
    let mut settings = Settings {
        engine: Engine::Http,
        http: HttpOptions::default(),
        cookies: Vec::new(),
        strict_capture: true,
        jitter: Jitter::None,
        websocket: WebsocketOptions::default(),
        socketio: SocketioOptions::default(),
        socketio_v3: SocketioOptions::default(),
        verify_certificates: true,
        timeout: crate::plan::DEFAULT_TIMEOUT,
        websocket_address: None,
        pulls: Pulls::default(),
        stomp: Stomp::default(),
        blocks: Blocks::default(),
        is_closed: false,
        reconnects: false,
        resumes: false,
        expect: expectations::Settings::default(),
        extended_metrics: false,
    };
    if let Some(engine) = crate::script::engine::named_engine(reader, config, "engine") {
        settings.engine = engine;
    }
    if let Some(timeout) = time_limit(reader, config) {
        settings.http.timeout = timeout;
        settings.websocket.timeout = timeout;
        settings.socketio.timeout = timeout;
        settings.timeout = timeout;
    }
    if let Some(tls) = reader.section(config, "tls", &schema::TLS) {
        verify(reader, &tls, &mut settings);
    }
    http(reader, config, &mut settings);
    if let Some(ws) = reader.section(config, "ws", &schema::WS) {
        websocket(reader, config, &ws, &mut settings);
        settings.blocks.lay(reader, Engine::Websocket, &ws);
    }
    if let Some(fields) = reader.section(config, "socketio", &schema::SOCKETIO) {
        socketio(reader, &fields, &mut settings.socketio);
        at_the_target(reader, &fields, &mut settings.socketio);
        verify(reader, &fields, &mut settings);
        for engine in [Engine::Socketio, Engine::SocketioV3] {
            settings.blocks.lay(reader, engine, &fields);
        }
    }
    engines(reader, config, &mut settings);
    let timeout = settings.timeout;
    for engine in [Engine::Poll, Engine::Longpoll, Engine::Sse] {
        let Some(fields) = reader.section(config, engine.name(), crate::script::pull_settings::area(engine))
        else {
            continue;
        };
        settings.pulls.read(reader, engine, &fields, timeout);
        settings.blocks.lay(reader, engine, &fields);
    }
    crate::script::stomp_settings::settings(reader, config, &mut settings);
    settings
}

/// `config.engines`: of `socketio-v3` what is laid over `socketio`, of the others nothing.
fn engines(reader: &mut Reader, config: &Fields<'_>, settings: &mut Settings) {
    settings.socketio_v3 = settings.socketio.clone();
    let Some(engines) = reader.section(config, "engines", &schema::ENGINES) else { return };
    for empty in ["http", "ws", "socketio"] {
        if let Some(node) = engines.get(empty).filter(|node| !matches!(node.kind, Kind::Map(_))) {
            reader.wrong(&engines, empty, node);
        }
    }
    if let Some(fields) = reader.section(&engines, "socketio-v3", &schema::SOCKETIO) {
        socketio(reader, &fields, &mut settings.socketio_v3);
        at_the_target(reader, &fields, &mut settings.socketio_v3);
        verify(reader, &fields, settings);
        settings.blocks.lay(reader, Engine::SocketioV3, &fields);
    }
}

fn verify(reader: &mut Reader, fields: &Fields<'_>, settings: &mut Settings) {
    if reader.boolean(fields, "rejectUnauthorized") == Some(false) {
        settings.verify_certificates = false;
    }
}

/// A `timeout` above zero.
pub(crate) fn time_limit(reader: &mut Reader, fields: &Fields<'_>) -> Option<Duration> {
    let timeout = reader.duration(fields, "timeout")?;
    if timeout.is_zero() {
        let place = fields.get("timeout").map_or(fields.place, |node| node.place);
        reader.problem(place, "timeout must be longer than 0 s", None);
        return None;
    }
    if timeout >= Duration::from_secs(1000) {
        let place = fields.get("timeout").map_or(fields.place, |node| node.place);
        let text = format!(
            "timeout: {} is in seconds; write \"{}ms\" for milliseconds",
            timeout.as_secs(),
            timeout.as_secs()
        );
        reader.notice(place, text);
    }
    Some(timeout)
}

/// The same of a section, where a `timeout` of the whole config wins, as in Artillery.
fn time_limit_below(reader: &mut Reader, config: &Fields<'_>, fields: &Fields<'_>) -> Option<Duration> {
    let timeout = time_limit(reader, fields)?;
    if config.get("timeout").is_none() {
        return Some(timeout);
    }
    reader.notice(fields.place_of("timeout"), "timeout: no effect, as in Artillery; `config.timeout` wins");
    None
}

fn http(reader: &mut Reader, config: &Fields<'_>, settings: &mut Settings) {
    // The older place first: what `http.defaults` has of headers and of cookies takes the place of all that it has.
    if let Some(fields) = reader.section(config, "defaults", &schema::DEFAULTS) {
        defaults(reader, &fields, settings);
    }
    let Some(fields) = reader.section(config, "http", &schema::HTTP) else { return };
    if let Some(timeout) = time_limit_below(reader, config, &fields) {
        settings.http.timeout = timeout;
    }
    if let Some(pool) = reader.whole(&fields, "pool") {
        if pool == 0 {
            reader.problem(
                fields.place_of("pool"),
                "pool: 0 leaves no connection",
                Some("remove it: then each user has its own".into()),
            );
        }
        settings.http.pool = usize::try_from(pool).ok().filter(|pool| *pool > 0);
    }
    if let Some(warm) = reader.boolean(&fields, "warm") {
        settings.http.warm = warm;
        if warm && settings.http.pool.is_none() {
            let hint = "add `pool: 100`, or remove it".to_owned();
            reader.problem(
                fields.place_of("warm"),
                "warm: true opens a pool's connections; there is no pool",
                Some(hint),
            );
        }
    }
    if let Some(http2) = reader.boolean(&fields, "http2") {
        settings.http.http2 = http2;
    }
    if let Some(bytes) = reader.whole(&fields, "maxBody") {
        settings.http.max_body = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    settings.extended_metrics = reader.boolean(&fields, "extendedMetrics").unwrap_or(false);
    if let Some(fields) = reader.section(&fields, "defaults", &schema::DEFAULTS) {
        defaults(reader, &fields, settings);
    }
}

fn defaults(reader: &mut Reader, fields: &Fields<'_>, settings: &mut Settings) {
    if fields.get("headers").is_some() {
        settings.http.headers = reader.headers(fields, "headers");
    }
    if fields.get("cookie").is_some() {
        settings.cookies = reader.cookies(fields, "cookie");
    }
    if let Some(strict) = reader.boolean(fields, "strictCapture") {
        settings.strict_capture = strict;
    }
    if let Some(node) = fields.get("think").filter(|node| matches!(node.kind, Kind::Number(_))) {
        let hint =
            "every pause is a `think` step of its own; `think: {jitter: \"20%\"}` spreads them".to_owned();
        let what = format!("think wants a mapping; got {}", node.describe());
        reader.tolerable(node.place, what, Some(hint), IGNORED);
    } else if let Some(think) = reader.section(fields, "think", &schema::DEFAULT_THINK)
        && let Some(node) = think.get("jitter")
    {
        settings.jitter = jitter(reader, &think, node);
    }
}

/// Lays named values over others; header names are compared without case.
pub(crate) fn lay_over(base: &mut Vec<(String, Template)>, over: Vec<(String, Template)>, any_case: bool) {
    for (name, value) in over {
        let same = |known: &str| if any_case { known.eq_ignore_ascii_case(&name) } else { known == name };
        match base.iter_mut().find(|(known, _)| same(known)) {
            Some(found) => found.1 = value,
            None => base.push((name, value)),
        }
    }
}

/// Milliseconds, or a percentage.
pub(crate) fn jitter(reader: &mut Reader, fields: &Fields<'_>, node: &Node) -> Jitter {
    let found = match &node.kind {
        Kind::Number(number) => number.as_f64().map(Jitter::Millis),
        Kind::Text { .. } => match reader.constant(node) {
            None => return Jitter::None,
            Some(text) => match text.trim().strip_suffix('%') {
                Some(share) => share.trim().parse().ok().map(|share: f64| Jitter::Share(share / 100.0)),
                None => crate::script::reader::seconds_of(&plain_millis(text.trim()))
                    .map(|seconds| Jitter::Millis(seconds * 1000.0)),
            },
        },
        _ => None,
    };
    match found {
        Some(Jitter::Millis(millis)) if millis >= 0.0 => Jitter::Millis(millis),
        Some(Jitter::Share(share)) if (0.0..=1.0).contains(&share) => Jitter::Share(share),
        _ => {
            reader.wrong(fields, "jitter", node);
            Jitter::None
        }
    }
}

/// A jitter without unit is milliseconds, unlike every other time.
fn plain_millis(text: &str) -> String {
    if text.ends_with(|c: char| c.is_ascii_digit()) { format!("{text}ms") } else { text.to_owned() }
}

fn websocket(reader: &mut Reader, config: &Fields<'_>, fields: &Fields<'_>, settings: &mut Settings) {
    settings.websocket_address = fields.get("url").cloned();
    reader.remark(fields, "url");
    settings.websocket.headers = reader.headers(fields, "headers");
    settings.websocket.subprotocols = texts(reader, fields, "subprotocols");
    if let Some(timeout) = time_limit_below(reader, config, fields) {
        settings.websocket.timeout = timeout;
    }
    if let Some(bytes) = reader.whole(fields, "maxMessage") {
        settings.websocket.max_message = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    verify(reader, fields, settings);
}

/// A list of plain texts.
pub(crate) fn texts(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Vec<String> {
    placed_texts(reader, fields, key).into_iter().map(|(_, text)| text).collect()
}

/// The same, each with where it stands.
pub(crate) fn placed_texts<'n>(
    reader: &mut Reader,
    fields: &Fields<'n>,
    key: &str,
) -> Vec<(&'n Node, String)> {
    let mut all = Vec::new();
    for item in reader.list(fields, key, true) {
        match crate::script::reader::plain_text(item) {
            Some(_) => all.extend(reader.constant(item).map(|text| (item, text))),
            None => reader.wrong(fields, key, item),
        }
    }
    all
}

/// Takes back a `url` of the config or of a scenario. Artillery never looks at it: with it, a script would load another
/// service here than there.
pub(crate) fn at_the_target(reader: &mut Reader, fields: &Fields<'_>, options: &mut SocketioOptions) {
    if options.url.take().is_some() {
        let text = "url: no effect, as in Artillery; sessions are opened at the target, or where a `connect` step says";
        reader.notice(fields.place_of("url"), text);
    }
}

/// Says that certificates are not looked at differently for some sessions only.
pub(crate) fn certificates_elsewhere(reader: &mut Reader, fields: &Fields<'_>) {
    if reader.boolean(fields, "rejectUnauthorized").is_some() {
        let text = "rejectUnauthorized: no effect; use `config.tls.rejectUnauthorized`";
        reader.notice(fields.place_of("rejectUnauthorized"), text);
    }
}

/// Lays Socket.IO options over others.
pub(crate) fn socketio(reader: &mut Reader, fields: &Fields<'_>, options: &mut SocketioOptions) {
    if let Some(url) = reader.address_of(fields, "url") {
        options.url = Some(url);
    }
    if let Some(path) = reader.text(fields, "path") {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let end = if path.ends_with('/') { "" } else { "/" };
        options.path = format!("{slash}{path}{end}");
    }
    match fields.get("query") {
        Some(node) if matches!(node.kind, Kind::Text { .. }) => {
            let query = query_text(reader, node);
            lay_over(&mut options.query, query, false);
        }
        _ => {
            let query = reader.templates(fields, "query");
            lay_over(&mut options.query, query, false);
        }
    }
    let headers = reader.headers(fields, "extraHeaders");
    lay_over(&mut options.headers, headers, true);
    if let Some(auth) = fields.get("auth") {
        if matches!(auth.kind, Kind::Map(_)) {
            options.auth = reader.json(auth);
        } else {
            reader.wrong(fields, "auth", auth);
        }
    }
    if let Some(timeout) = time_limit(reader, fields) {
        options.timeout = timeout;
    }
    if let Some(transport) = transport(reader, fields) {
        options.transport = transport;
    }
    let revision = revision(reader, fields);
    options.revision = revision.unwrap_or(options.revision);
    if options.revision == SocketioRevision::V4 && options.auth.is_some() {
        let key = if fields.get("auth").is_some() { "auth" } else { "protocol" };
        if key == "auth" || revision.is_some() {
            let what = "auth is of Socket.IO's protocol 5; a server of protocol 4 never sees it";
            let hint = "write `query: {token: \"{{ token }}\"}`, which it reads in its place".to_owned();
            reader.problem(fields.place_of(key), what, Some(hint));
        }
    }
}

fn revision(reader: &mut Reader, fields: &Fields<'_>) -> Option<SocketioRevision> {
    let node = fields.get("protocol")?;
    match crate::script::reader::plain_text(node)
        .and_then(|_| reader.constant(node))
        .as_deref()
        .map(str::trim)
    {
        Some("4") => Some(SocketioRevision::V4),
        Some("5") => Some(SocketioRevision::V5),
        _ => {
            reader.wrong(fields, "protocol", node);
            None
        }
    }
}

/// `a=1&b={{ token }}` as pairs.
fn query_text(reader: &mut Reader, node: &Node) -> Vec<(String, Template)> {
    let Some(text) = node.as_text() else { return Vec::new() };
    let mut pairs = Vec::new();
    for pair in text.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = Node { place: node.place, kind: Kind::Text { text: value.to_owned(), inset: None } };
        if let Some(template) = reader.template(&value) {
            pairs.push((name.to_owned(), template));
        }
    }
    pairs
}

fn transport(reader: &mut Reader, fields: &Fields<'_>) -> Option<SocketioTransport> {
    let node = fields.get("transports");
    let upgrade = reader.boolean(fields, "upgrade").unwrap_or(true);
    let Some(node) = node else {
        return (!upgrade).then_some(SocketioTransport::Polling);
    };
    let names = texts(reader, fields, "transports");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names.as_slice() {
        // The client tries them in order and upgrades from polling only.
        ["websocket", ..] => Some(SocketioTransport::Websocket),
        ["polling", "websocket", ..] if upgrade => Some(SocketioTransport::Upgrade),
        ["polling", ..] => Some(SocketioTransport::Polling),
        _ => {
            reader.wrong(fields, "transports", node);
            None
        }
    }
}
