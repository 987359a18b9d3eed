//! The values that the loops around a step offer to templates: `$loopCount`, `$loopElement`. They live with the loops
//! alone, so a path into an element, the element by its bare name, and a function's changes to either always agree.

use serde_json::Value;

use super::Values;

/// The element's name.
pub(super) const ELEMENT: &str = "$loopElement";
/// The turn's.
const COUNT: &str = "$loopCount";

/// The values of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopValues {
    /// From 0, or the first number of a range.
    pub(crate) count: u64,
    /// None in a loop over no list: there the element is that of the loop around it. Boxed, because most loops are
    /// such.
    pub(crate) element: Option<Box<Value>>,
}

impl Values {
    /// The element of the innermost loop over a list.
    pub(super) fn loop_element(&self) -> Option<&Value> {
        self.loops.iter().rev().find_map(|turns| turns.element.as_deref())
    }

    /// The values that the loops offer at this place, combined.
    pub(crate) fn innermost(&self) -> Option<LoopValues> {
        let innermost = self.loops.last()?;
        Some(LoopValues { count: innermost.count, element: self.loop_element().cloned().map(Box::new) })
    }

    /// Takes over a variable that a function set; what a loop offers stays with the loop.
    pub(crate) fn take_over(&mut self, name: &str, value: Value) {
        match (name, value.as_u64()) {
            (ELEMENT, _) => {
                let mut elements =
                    self.loops.iter_mut().rev().filter_map(|turns| turns.element.as_deref_mut());
                if let Some(element) = elements.next() {
                    *element = value;
                    return;
                }
            }
            (COUNT, Some(count)) => {
                if let Some(turns) = self.loops.last_mut() {
                    turns.count = count;
                    return;
                }
            }
            _ => {}
        }
        self.set(name, value);
    }
}
