//! The `expect` step: waiting for a message.

use crate::plan::{Expect, Step};
use sonagi_measure::outcome::OperationKind;

use crate::script::awaited::awaited;
use crate::script::context::Flow;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::sources::AnswerKind;

/// The `expect` step.
pub(crate) fn expect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Step> {
    let own = reader.section(fields, verb, &schema::EXPECT)?;
    let event = reader.template_of(&own, "channel");
    let needs_channel = flow.engine.is_socketio() && flow.subscribes.is_none();
    match (own.get("channel"), flow.engine.channelless()) {
        // In a room that is subscribed to explicitly, any event may be meant: `match` describes it.
        (None, _) if needs_channel && own.entry("channel").is_none() => {
            let what = "an expect over Socket.IO needs a channel";
            reader.missing(&own, &["channel"], what, "add `channel: newMessage`");
        }
        (Some(_), Some(messages)) => {
            let hint = "tell messages apart with `match`".to_owned();
            reader.problem(
                own.place_of("channel"),
                format!("{messages} messages have no channel"),
                Some(hint),
            );
        }
        _ => {}
    }
    let within = match reader.duration(&own, "within") {
        Some(within) if within.is_zero() => {
            reader.problem(own.place_of("within"), "within must be longer than 0 s", None);
            flow.settings.timeout
        }
        Some(within) => within,
        None => flow.settings.timeout,
    };
    let awaited = awaited(reader, &own, AnswerKind::Message, within);
    let default = match own.get("channel").and_then(plain_text) {
        Some(channel) => format!("expect {channel}"),
        None => "expect".to_owned(),
    };
    let name = flow.operation_name(reader, fields).unwrap_or(default);
    let operation = reader.operation(fields.place, &name, OperationKind::Expect)?;
    Some(Step::Expect(Box::new(Expect { operation, event, awaited })))
}
