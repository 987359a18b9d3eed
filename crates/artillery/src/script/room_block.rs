//! The rooms settings in an engine's block of `config`.

use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Kind, Node};

/// The templates of a block, in which `{{ $room }}` and `{{ $message }}` are holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) subscribe: Option<Node>,
    pub(crate) publish: Option<Node>,
}

impl Block {
    /// Lays the templates of a block over these.
    pub(crate) fn lay(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        for (key, template) in [("subscribe", &mut self.subscribe), ("publish", &mut self.publish)] {
            let Some(node) = fields.area.key(key).and_then(|_| fields.get(key)) else { continue };
            match node.kind {
                Kind::Map(_) | Kind::List(_) => *template = Some(node.clone()),
                _ => reader.wrong(fields, key, node),
            }
        }
    }
}
