//! The names under which a run's steps are counted, each once.

use sonagi_measure::outcome::{Operation, OperationId, OperationKind};

/// Interns step names.
#[derive(Default)]
pub(crate) struct Operations {
    all: Vec<Operation>,
}

impl Operations {
    /// The id of an operation; the same name and kind is the same operation. A name already taken by another kind gets
    /// the kind added, because names are unique in a plan. None: more operations than ids (65,535).
    pub(crate) fn intern(&mut self, name: &str, kind: OperationKind) -> Option<OperationId> {
        let distinct = format!("{name} ({})", word(kind));
        let known = self.all.iter().position(|operation| {
            operation.kind == kind && (operation.name == name || operation.name == distinct)
        });
        if let Some(index) = known {
            return u16::try_from(index).ok().map(OperationId);
        }
        let taken = self.all.iter().any(|operation| operation.name == name);
        let index = u16::try_from(self.all.len()).ok()?;
        self.all.push(Operation { name: if taken { distinct } else { name.to_owned() }, kind });
        Some(OperationId(index))
    }

    pub(crate) fn all(&self) -> &[Operation] {
        &self.all
    }

    pub(crate) fn into_all(self) -> Vec<Operation> {
        self.all
    }
}

fn word(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Http => "request",
        OperationKind::WebsocketConnect => "WebSocket",
        OperationKind::WebsocketSend => "message",
        OperationKind::SocketioConnect => "session",
        OperationKind::SocketioEmit => "emit",
        OperationKind::SocketioRequest => "answered",
        OperationKind::Expect => "expected",
        OperationKind::SseConnect => "event stream",
        OperationKind::PollSubscribe => "first poll",
        OperationKind::Poll => "poll",
        OperationKind::StompConnect => "STOMP session",
        OperationKind::StompSubscribe => "subscription",
        OperationKind::StompSend => "STOMP message",
        OperationKind::StompRequest => "STOMP request",
        OperationKind::Function => "function",
        OperationKind::Reconnect => "reconnect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_operation_per_kind_and_unique() {
        let mut operations = Operations::default();
        let first = operations.intern("emit say", OperationKind::SocketioEmit);
        let other = operations.intern("emit say", OperationKind::SocketioRequest);
        assert_eq!(operations.intern("emit say", OperationKind::SocketioEmit), first);
        assert_eq!(operations.intern("emit say", OperationKind::SocketioRequest), other);
        let names: Vec<String> = operations.into_all().into_iter().map(|operation| operation.name).collect();
        assert_eq!(names, ["emit say", "emit say (answered)"]);
    }
}
