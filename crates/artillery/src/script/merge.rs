//! Laying one tree over another: environments, `--overrides`.
//!
//! Mappings merge key by key. Lists merge by index for environments and are replaced by `--overrides`: that is how
//! scripts in the field are written, surprising as the first is. Places stay those of the value that won.

use crate::script::yaml::{Kind, Node};

/// The treatment of a list that both sides have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    ByIndex,
    Replaced,
}

/// Lays `over` on `base`.
pub(crate) fn merge(base: &mut Node, over: &Node, lists: Lists) {
    match (&mut base.kind, &over.kind) {
        (Kind::Map(entries), Kind::Map(others)) => {
            for other in others {
                match entries.iter_mut().find(|entry| entry.key == other.key) {
                    Some(entry) => {
                        merge(&mut entry.value, &other.value, lists);
                        entry.place = other.place;
                    }
                    None => entries.push(other.clone()),
                }
            }
        }
        (Kind::List(items), Kind::List(others)) if lists == Lists::ByIndex => {
            for (index, other) in others.iter().enumerate() {
                match items.get_mut(index) {
                    Some(item) => merge(item, other, lists),
                    None => items.push(other.clone()),
                }
            }
        }
        _ => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn merged(base: Value, over: Value, lists: Lists) -> Value {
        let place =
            crate::script::yaml::Place { origin: crate::script::yaml::Origin::Script, line: 1, column: 1 };
        let mut base = Node::from_value(&base, place);
        merge(&mut base, &Node::from_value(&over, place), lists);
        base.to_value()
    }

    #[test]
    fn mappings_merge_by_key_and_lists_by_index_or_whole() {
        let base = json!({"phases": [{"duration": 1, "arrivalRate": 2}, {"pause": 3}], "target": "a"});
        let over = json!({"phases": [{"duration": 9}], "tls": {}});
        assert_eq!(
            merged(base.clone(), over.clone(), Lists::ByIndex),
            json!({"phases": [{"duration": 9, "arrivalRate": 2}, {"pause": 3}], "target": "a", "tls": {}})
        );
        assert_eq!(
            merged(base, over, Lists::Replaced),
            json!({"phases": [{"duration": 9}], "target": "a", "tls": {}})
        );
    }

    #[test]
    fn a_plain_value_replaces_a_mapping() {
        assert_eq!(merged(json!({"a": {"b": 1}}), json!({"a": 2}), Lists::ByIndex), json!({"a": 2}));
    }
}
