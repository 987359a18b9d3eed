//! A plan as short text, so that what a script became can be read and compared.

use sonagi_artillery::plan::template::{JsonPiece, Key, Piece};
use sonagi_artillery::plan::*;
use sonagi_transport::link::{PollField, SocketioRevision};
use std::fmt::Write;

pub(crate) fn sketch(plan: &Plan) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} at {}", plan.name, plan.target);
    let _ = writeln!(out, "{:?}", plan.load);
    for (name, values) in &plan.variables {
        let _ = writeln!(out, "variable {name} = {}", serde_json::to_string(values).unwrap());
    }
    for payload in &plan.payloads {
        let rows = serde_json::to_string(&payload.rows).unwrap();
        let _ = writeln!(out, "payload {:?} {:?} {:?} {rows}", payload.fields, payload.order, payload.all_as);
    }
    for threshold in &plan.thresholds {
        let abort = threshold.abort();
        let ends = if abort.on_fail { format!(" ends after {:?}", abort.delay) } else { String::new() };
        let _ = writeln!(out, "threshold {} strict {}{ends}", threshold.expression(), threshold.is_strict());
    }
    for submetric in &plan.submetrics {
        let _ = writeln!(out, "submetric {submetric}");
    }
    let http = &plan.http;
    let _ = writeln!(
        out,
        "http {:?} pool {:?}{} http2 {}{} {}",
        http.timeout,
        http.pool,
        if http.warm { " warm" } else { "" },
        http.http2,
        if http.max_body == HttpOptions::default().max_body {
            String::new()
        } else {
            format!(" body {}", http.max_body)
        },
        pairs(&http.headers)
    );
    let ws = &plan.websocket;
    let _ =
        writeln!(out, "ws {:?} {:?} {} {}", ws.timeout, ws.subprotocols, ws.max_message, pairs(&ws.headers));
    let _ = writeln!(out, "socketio {}", options(&plan.socketio));
    let _ = writeln!(
        out,
        "verify {} delivery {:?} drain {:?}",
        plan.verify_certificates, plan.delivery, plan.drain
    );
    if let Some(lost) = &plan.reconnect {
        let Reconnect { is_automatic, first, most, attempts, resume, .. } = lost;
        let cursor = plan.cursor.as_deref().unwrap_or("none");
        let _ = writeln!(
            out,
            "reconnect automatic {is_automatic} {first:?} to {most:?} × {attempts} resume {resume} cursor {cursor}"
        );
    }
    let plugins = &plan.plugins;
    if plugins.apdex_ms.is_some() || !plugins.endpoint_prefix.is_empty() {
        let _ = writeln!(out, "{plugins:?}");
    }
    let sketch = Sketch { plan };
    for (name, flow) in [("before", &plan.before), ("after", &plan.after)] {
        if !flow.is_empty() {
            let _ = writeln!(out, "{name}:");
            sketch.steps(flow, 1, &mut out);
        }
    }
    for scenario in &plan.scenarios {
        let _ = writeln!(out, "scenario {} × {}:", scenario.name, scenario.weight);
        sketch.steps(&scenario.flow, 1, &mut out);
    }
    out
}

struct Sketch<'p> {
    plan: &'p Plan,
}

impl Sketch<'_> {
    fn steps(&self, steps: &[Step], depth: usize, out: &mut String) {
        for step in steps {
            let _ = writeln!(out, "{}{}", "  ".repeat(depth), self.step(step));
            match step {
                Step::Loop(of) => self.steps(&of.body, depth + 1, out),
                Step::Parallel(parallel) => {
                    parallel.branches.iter().for_each(|branch| self.steps(branch, depth + 1, out));
                }
                Step::When { steps, .. } => self.steps(steps, depth + 1, out),
                Step::Open(step) => self.steps(std::slice::from_ref(step), depth + 1, out),
                Step::Subscribe(subscribe) => self.steps(&subscribe.steps, depth + 1, out),
                _ => {}
            }
        }
    }

    fn name(&self, of: sonagi_measure::outcome::CountedAs) -> String {
        let operation = &self.plan.operations[usize::from(of.id.0)];
        let tags = of.tagged.map(|id| &self.plan.tagged[usize::from(id.0)]);
        let tags = tags.map(|tagged| {
            assert_eq!(tagged.operation, of.id);
            format!(" {:?}", tagged.tags)
        });
        format!("{:?}/{:?}{}", operation.name, operation.kind, tags.unwrap_or_default())
    }

    fn step(&self, step: &Step) -> String {
        match step {
            Step::Think(think) => format!("think {} {:?}", expression(&think.seconds), think.jitter),
            Step::Log(text) => format!("log {}", template(text)),
            Step::Set { name, value } => format!("set {name} = {}", expression(value)),
            Step::Loop(of) => {
                format!("loop {} pace {:?}", repeat(&of.repeat), of.pace.map(|pace| (pace.every, pace.phase)))
            }
            Step::Parallel(of) => format!("{} in parallel, {} at a time", of.branches.len(), of.limit),
            Step::Http(step) => self.http(step),
            Step::WebsocketConnect(step) => self.websocket(step),
            Step::WebsocketSend(step) => {
                let awaits = step.response.as_ref().map(awaited).unwrap_or_default();
                format!("send {} {}{awaits}", self.name(step.operation), content(&step.payload))
            }
            Step::SocketioConnect(step) => format!("connect {}", self.session(step)),
            Step::SocketioEmit(step) => self.emit(step),
            Step::Expect(step) => {
                let event = step.event.as_ref().map(template).unwrap_or_default();
                format!("expect {} {event}{}", self.name(step.operation), awaited(&step.awaited))
            }
            Step::Join(room) => format!("join {}", template(room)),
            Step::Leave(room) => format!("leave {}", template(room)),
            Step::Disconnect => "disconnect".into(),
            Step::Reconnect => "reconnect".into(),
            Step::Open(_) => "open".into(),
            Step::Subscribe(subscribe) => {
                format!("subscribe{}", if subscribe.resumes { " and resume" } else { "" })
            }
            Step::SseOpen(step) => format!(
                "listen {} to {} {} {:?}",
                self.name(step.operation),
                template(&step.url),
                pairs(&step.headers),
                step.timeout
            ),
            Step::PollOpen(step) => self.poll(step),
            Step::StompConnect(step) => self.stomp(step),
            Step::StompSubscribe(step) => format!(
                "subscribe {} to {} {} {:?} receipt {} {:?}",
                self.name(step.operation),
                template(&step.destination),
                pairs(&step.headers),
                step.ack,
                step.receipt,
                step.timeout
            ),
            Step::StompSend(step) => format!(
                "send {} to {} {} {} receipt {} {:?}{}",
                self.name(step.operation),
                template(&step.destination),
                pairs(&step.headers),
                content(&step.content),
                step.receipt,
                step.timeout,
                step.response.as_ref().map(awaited).unwrap_or_default()
            ),
            Step::Call(call) => format!("{}: {}()", self.name(call.operation), call.function),
            Step::When { condition: None, probability, .. } => format!("when  with {probability}"),
            Step::When { condition: Some(holds), probability, .. } => {
                format!("when {} with {probability}", condition(holds))
            }
        }
    }

    fn websocket(&self, step: &WebsocketConnect) -> String {
        let function = step.function.as_ref().map(|name| format!(" as {name}() says")).unwrap_or_default();
        format!(
            "connect {} to {} {} {:?} {:?}{function}",
            self.name(step.operation),
            template(&step.url),
            pairs(&step.headers),
            step.subprotocols,
            step.timeout
        )
    }

    fn stomp(&self, step: &StompConnect) -> String {
        format!(
            "connect {} to {} {} {} {:?} heart-beat {:?} sockjs {} {:?}",
            self.name(step.operation),
            template(&step.url),
            pairs(&step.headers),
            pairs(&step.connect_headers),
            step.versions,
            step.heart_beat,
            step.sockjs,
            step.timeout
        )
    }

    fn poll(&self, step: &PollOpen) -> String {
        let mut text = format!(
            "poll {} then {} {} {} {:?} {:?} messages {}",
            self.name(step.operation),
            self.name(step.again),
            template(&step.url),
            pairs(&step.headers),
            step.rhythm,
            step.timeout,
            step.messages
        );
        if let Some(cursor) = &step.cursor {
            text.push_str(&format!(" cursor {} as {}", poll_field(&cursor.from), cursor.parameter));
        }
        if let Some(more) = &step.more {
            text.push_str(&format!(" more {}", poll_field(more)));
        }
        if !step.empty.is_empty() {
            text.push_str(&format!(" empty {:?}", step.empty));
        }
        text
    }

    fn session(&self, step: &SocketioConnect) -> String {
        format!("{} {} {}", self.name(step.operation), template(&step.namespace), options(&step.options))
    }

    fn emit(&self, step: &SocketioEmit) -> String {
        let mut text = format!("emit {} {} ", self.name(step.operation), template(&step.namespace));
        text.push_str(&template(&step.event));
        for argument in &step.arguments {
            match argument {
                Argument::Json(value) => text.push_str(&format!(", {}", json(value))),
                Argument::Binary(bytes) => text.push_str(&format!(", bytes {bytes:?}")),
            }
        }
        if let Some(ack) = &step.acknowledge {
            text.push_str(&format!(" ack{}", awaited(ack)));
        }
        if let Some((event, response)) = &step.response {
            text.push_str(&format!(" then {}{}", template(event), awaited(response)));
        }
        text.push_str(&format!(" [{}]", self.session(&step.connect)));
        text
    }

    fn http(&self, step: &HttpStep) -> String {
        let mut text = format!("{} {} {}", self.name(step.operation), step.method, template(&step.url));
        for (name, named) in [("headers", &step.headers), ("query", &step.query), ("cookies", &step.cookies)]
        {
            if !named.is_empty() {
                text.push_str(&format!(" {name} {}", pairs(named)));
            }
        }
        match &step.body {
            Body::Empty => {}
            Body::Text(body) => text.push_str(&format!(" text {}", template(body))),
            Body::Json(body) => text.push_str(&format!(" json {}", json(body))),
            Body::Bytes(bytes) => text.push_str(&format!(" {} bytes", bytes.len())),
            Body::Form(fields) => text.push_str(&format!(" form {}", pairs(fields))),
            Body::Multipart(parts) => text.push_str(&format!(" parts [{}]", multipart(parts))),
        }
        if let Some((user, pass)) = &step.basic_auth {
            text.push_str(&format!(" auth {}:{}", template(user), template(pass)));
        }
        if !step.follow_redirects {
            text.push_str(" no redirects");
        }
        text.push_str(&format!(" {:?}", step.timeout));
        text.push_str(&found(&step.captures, &step.matches));
        if !step.compressed {
            text.push_str(" uncompressed");
        }
        if let Some(expect) = &step.expect {
            text.push_str(&expectations(expect));
        }
        if let Some(hooks) = &step.hooks {
            let names = |all: &[Template]| all.iter().map(template).collect::<Vec<_>>().join(", ");
            let Hooks { before, after, on_error, .. } = &**hooks;
            let [before, after, on_error] = [before, after, on_error].map(|all| names(all));
            text.push_str(&format!(" functions [{before}; {after}; {on_error}]"));
        }
        if step.is_message {
            text.push_str(" as a message");
        }
        text
    }
}

fn multipart(parts: &[FormPart]) -> String {
    let part = |part: &FormPart| {
        let content = match &part.content {
            PartContent::Text(text) => template(text),
            PartContent::File { name, bytes } => format!("file {name} of {} bytes", bytes.len()),
            PartContent::OneOf { path, files } => format!("file {} of {}", template(path), files.len()),
        };
        let content_type = part.content_type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        format!("{}: {content}{content_type}", part.name)
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn expectations(expect: &Expectations) -> String {
    let demand = |demand: &Demand| match demand {
        Demand::Status { fixed, open, negated } => {
            let open: Vec<String> = open.iter().map(template).collect();
            format!("{}status {fixed:?}{}", if *negated { "not " } else { "" }, open.join(", "))
        }
        Demand::ContentType(wanted) => format!("type {}", template(wanted)),
        Demand::Property { path, negated } => {
            format!("{}property {}", if *negated { "no " } else { "" }, template(path))
        }
        Demand::Equal(texts) => texts.iter().map(template).collect::<Vec<_>>().join(" = "),
        Demand::Header(name) => format!("header {}", template(name)),
        Demand::HeaderValue { name, value } => format!("header {}: {}", template(name), template(value)),
        Demand::Found { shown, from } => format!("{shown} at {}", source(from)),
        Demand::CacheHit(hit) => format!("cache hit {hit}"),
    };
    let all: Vec<String> =
        expect.all.iter().map(|one| format!("{} {}", one.kind, demand(&one.demand))).collect();
    format!(" expect{} [{}]", if expect.fails_user { " or fail" } else { "" }, all.join("; "))
}

fn content(content: &Content) -> String {
    match content {
        Content::Text(text) => format!("text {}", template(text)),
        Content::Json(value) => format!("json {}", json(value)),
        Content::Binary(bytes) => format!("bytes {:?}", String::from_utf8_lossy(bytes)),
    }
}

fn awaited(awaited: &Awaited) -> String {
    let data = awaited.data.as_ref().map(|data| format!(" = {}", value(data))).unwrap_or_default();
    format!(" within {:?}{data}{}", awaited.timeout, found(&awaited.captures, &awaited.matches))
}

fn found(captures: &[Capture], matches: &[Match]) -> String {
    let mut text = String::new();
    for capture in captures {
        text.push_str(&format!(" capture {} as {}", source(&capture.from), capture.name));
        text.push_str(if capture.strict { "" } else { " lenient" });
    }
    for wanted in matches {
        text.push_str(&format!(" match {} = {}", source(&wanted.from), template(&wanted.value)));
        text.push_str(if wanted.strict { "" } else { " lenient" });
    }
    text
}

fn source(source: &Source) -> String {
    match source {
        Source::Json(path) => path.to_string(),
        Source::Regexp { regex, group } => format!("/{regex}/{group}"),
        Source::Header(name) => format!("header {name}"),
        Source::Status => "status".into(),
        Source::JsonAll(path) => format!("all {path}"),
        Source::JsonLength(path) => format!("length of {path}"),
        Source::Search(search) => format!("{search:?}"),
        Source::Open(open) => format!("open {}", template(&open.text)),
    }
}

fn poll_field(field: &PollField) -> String {
    match field {
        PollField::Json(path) => path.to_string(),
        PollField::Header(name) => format!("header {name}"),
    }
}

fn options(options: &SocketioOptions) -> String {
    let url = options.url.as_ref().map(template).unwrap_or_default();
    let auth = options.auth.as_ref().map(json).unwrap_or_default();
    let revision = if options.revision == SocketioRevision::V4 { " protocol 4" } else { "" };
    format!(
        "{{{url} {} query {} headers {} auth {auth} {:?} {:?}{revision}}}",
        options.path,
        pairs(&options.query),
        pairs(&options.headers),
        options.transport,
        options.timeout
    )
}

fn repeat(repeat: &Repeat) -> String {
    match repeat {
        Repeat::Forever => "for ever".into(),
        Repeat::Count { from: 0, to } => format!("{to} times"),
        Repeat::Count { from, to } => format!("from {from} to before {to}"),
        Repeat::OverList(list) => format!("over {}", value(list)),
        Repeat::CountOf(count) => format!("{} times", expression(count)),
        Repeat::Over(list) => format!("over {}", expression(list)),
        Repeat::While(condition) => format!("while {}", self::condition(condition)),
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Holds(holds) => expression(holds),
        Condition::Formula(formula) => format!("{formula:?}"),
        Condition::Function(name) => format!("{name}()"),
        Condition::Named(name) => format!("{name}() or {name}"),
    }
}

fn pairs(pairs: &[(String, Template)]) -> String {
    let all: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", template(value))).collect();
    format!("({})", all.join(" "))
}

fn template(text: &Template) -> String {
    text.pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hole(hole) => format!("<{}>", expression(hole)),
        })
        .collect()
}

fn json(text: &JsonTemplate) -> String {
    text.pieces
        .iter()
        .map(|piece| match piece {
            JsonPiece::Raw(text) => text.clone(),
            JsonPiece::Value(hole) => format!("<{}>", expression(hole)),
            JsonPiece::InString(hole) => format!("<'{}'>", expression(hole)),
        })
        .collect()
}

fn value(of: &ValueTemplate) -> String {
    let all = |items: Vec<String>| items.join(",");
    match of {
        ValueTemplate::Constant(value) => value.to_string(),
        ValueTemplate::Hole(hole) => format!("<{}>", expression(hole)),
        ValueTemplate::Text(text) => quoted(text),
        ValueTemplate::List(items) => format!("[{}]", all(items.iter().map(value).collect())),
        ValueTemplate::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{}:{}", quoted(key), value(member)));
            format!("{{{}}}", all(members.collect()))
        }
    }
}

fn quoted(text: &Template) -> String {
    let pieces = text.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.escape_debug().to_string(),
        Piece::Hole(hole) => format!("<'{}'>", expression(hole)),
    });
    format!("\"{}\"", pieces.collect::<String>())
}

fn expression(hole: &Expression) -> String {
    match hole {
        Expression::Constant(value) => value.to_string(),
        Expression::Path { variable, keys } => {
            let keys: String = keys
                .iter()
                .map(|key| match key {
                    Key::Name(name) => format!(".{name}"),
                    Key::Index(index) => format!("[{index}]"),
                    Key::Of(inner) => format!("[{}]", expression(inner)),
                })
                .collect();
            format!("{variable}{keys}")
        }
        Expression::Call { function, arguments } => {
            let arguments: Vec<String> = arguments.iter().map(expression).collect();
            format!("{function:?}({})", arguments.join(", "))
        }
        Expression::Text(text) => format!("text {}", template(text)),
    }
}
