//! Variables that hold a secret because it was captured from where a secret is, whatever they are called.

use super::Plan;
use super::source::{Awaited, Capture};
use super::step::Step;

impl Plan {
    /// The names under which captures keep what is secret by the name of its source (`json: $.access_token`, `as: t`).
    pub(crate) fn captured_secrets(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut take = |capture: &Capture| {
            if capture.from.is_secret() && !names.contains(&capture.name) {
                names.push(capture.name.clone());
            }
        };
        let flows = self.scenarios.iter().map(|scenario| &scenario.flow);
        flows.chain([&self.before, &self.after]).for_each(|flow| visit(flow, &mut take));
        names
    }
}

/// Shows every capture of these steps and of the steps in them.
fn visit(steps: &[Step], take: &mut dyn FnMut(&Capture)) {
    for step in steps {
        match step {
            Step::Http(step) => step.captures.iter().for_each(&mut *take),
            Step::WebsocketSend(step) => answers(step.response.as_ref(), take),
            Step::StompSend(step) => answers(step.response.as_ref(), take),
            Step::SocketioEmit(step) => {
                answers(step.acknowledge.as_ref(), take);
                answers(step.response.as_ref().map(|(_, awaited)| awaited), take);
            }
            Step::Expect(step) => answers(Some(&step.awaited), take),
            Step::Open(step) => visit(std::slice::from_ref(step.as_ref()), take),
            Step::Subscribe(subscribe) => visit(&subscribe.steps, take),
            Step::Parallel(parallel) => parallel.branches.iter().for_each(|branch| visit(branch, take)),
            Step::Loop(of) => visit(&of.body, take),
            Step::When { steps, .. } => visit(steps, take),
            Step::Think(_)
            | Step::Log(_)
            | Step::Set { .. }
            | Step::Call(_)
            | Step::Reconnect
            | Step::SseOpen(_)
            | Step::PollOpen(_)
            | Step::StompConnect(_)
            | Step::StompSubscribe(_)
            | Step::WebsocketConnect(_)
            | Step::SocketioConnect(_)
            | Step::Join(_)
            | Step::Leave(_)
            | Step::Disconnect => {}
        }
    }
}

fn answers(awaited: Option<&Awaited>, take: &mut dyn FnMut(&Capture)) {
    awaited.iter().flat_map(|awaited| &awaited.captures).for_each(take);
}
