//! The surroundings of a step in its flow.

use crate::plan::{SocketioConnect, SocketioOptions, Step, Template};
use std::sync::Arc;

use crate::script::engine::Engine;
use crate::script::opening::{Opening, subscription};
use crate::script::options::Settings;
use crate::script::reader::{Fields, Reader};
use crate::script::room_block::Block;
use crate::script::yaml::{Node, Place};

/// The surroundings of steps in their flow.
pub(crate) struct Flow<'s> {
    pub(crate) engine: Engine,
    pub(crate) settings: &'s Settings,
    /// How this scenario opens its Socket.IO sessions.
    pub(crate) options: SocketioOptions,
    /// The session that emits open when it is not open yet, once known.
    pub(crate) session: Option<Arc<SocketioConnect>>,
    pub(crate) opening: Opening,
    pub(crate) room: Option<ScriptRoom>,
    /// How rooms are spoken of.
    pub(crate) block: Block,
    /// The subscription, as written, of the step whose membership the ledger follows.
    pub(crate) subscribed: Option<String>,
    /// Where the flow subscribes first.
    pub(crate) subscribes: Option<Place>,
    /// The step whose stream or polls are open, read so far.
    pub(crate) listens: Option<Place>,
    /// Its first `reconnect` step, read so far.
    pub(crate) reconnects: Option<Place>,
    /// Where the flow stands, for what no step of it says.
    pub(crate) place: Place,
    /// The step whose template is being read.
    pub(crate) behalf: Option<Behalf>,
    /// Loops around the step being read.
    pub(crate) depth: usize,
    /// Functions around each of its requests.
    pub(crate) around: Around,
    /// Whether its requests expect a 200 where the script wants that of those that say nothing.
    pub(crate) expects_ok: bool,
}

impl<'s> Flow<'s> {
    pub(crate) fn new(
        engine: Engine,
        settings: &'s Settings,
        options: SocketioOptions,
        block: Block,
        opening: Opening,
        room: Option<ScriptRoom>,
        items: &[Node],
    ) -> Flow<'s> {
        let first = subscription(items);
        let confirms =
            |step: &Node| room.as_ref().is_some_and(|room| room.joined == Joined::After(step.place));
        let subscribed = first
            .filter(|(step, _)| confirms(step))
            .and_then(|(_, named)| crate::script::reader::plain_text(named));
        let subscribes = first.map(|(step, _)| step.place);
        let (session, behalf, listens, reconnects) = (None, None, None, None);
        let place = items.first().map_or(crate::script::yaml::START, |item| item.place);
        let depth = 0;
        Flow {
            engine,
            settings,
            options,
            session,
            opening,
            room,
            block,
            subscribed,
            subscribes,
            listens,
            reconnects,
            place,
            behalf,
            depth,
            around: Around::default(),
            expects_ok: false,
        }
    }

    /// The name of an operation: of its own step, or of the one on whose behalf it is.
    pub(crate) fn operation_name(&self, reader: &mut Reader, fields: &Fields<'_>) -> Option<String> {
        reader.text(fields, "name").or_else(|| self.behalf.as_ref().map(|behalf| behalf.name.clone()))
    }

    /// A step that opens a connection, kept where it may have to be taken again.
    pub(crate) fn opened(&self, step: Step) -> Step {
        if self.settings.reconnects { Step::Open(Arc::new(step)) } else { step }
    }
}

/// The step on whose behalf a template is read.
pub(crate) struct Behalf {
    /// The name for operations without a name of their own.
    pub(crate) name: String,
    /// Requests carry a message to a room.
    pub(crate) is_publish: bool,
}

/// Hooks of a scenario that are laid around each of its requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    pub(super) before: Vec<Template>,
    pub(super) after: Vec<Template>,
    pub(super) on_error: Vec<Template>,
}

/// Where a user of the scenario becomes a member of its room, and where it stops being one.
#[derive(Clone, Debug)]
pub(crate) struct ScriptRoom {
    pub(crate) name: Template,
    pub(crate) joined: Joined,
    /// The step before which the membership ends.
    pub(crate) left_before: Option<Place>,
}

/// The step that confirms the subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    After(Place),
    /// After the connection that the flow does not write down.
    AfterOpening,
}
