//! Bytes and connections on the wire: every counter whose row says that it is traffic, by its name with `_` for the
//! dot.

use crate::recorder::{Counter, Counters};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Index;

/// Bytes and connections on the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic(Counters);

impl Traffic {
    /// The part of a run's counts that is traffic.
    pub fn of(counters: &Counters) -> Traffic {
        members().map(|(counter, _)| (counter, counters[counter])).collect()
    }
}

/// The counters that are traffic, and what they are called in a summary.
fn members() -> impl Iterator<Item = (Counter, String)> {
    let traffic = Counter::all().filter(|counter| counter.is_traffic());
    traffic.map(|counter| (counter, counter.name().replace('.', "_")))
}

/// A count of it; 0 of what is no traffic.
impl Index<Counter> for Traffic {
    type Output = u64;

    fn index(&self, counter: Counter) -> &u64 {
        &self.0[counter]
    }
}

impl FromIterator<(Counter, u64)> for Traffic {
    fn from_iter<I: IntoIterator<Item = (Counter, u64)>>(counts: I) -> Traffic {
        let mut all = Counters::default();
        counts.into_iter().for_each(|(counter, n)| all.add(counter, n));
        Traffic(all)
    }
}

impl Serialize for Traffic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(members().map(|(counter, name)| (name, self[counter])))
    }
}

/// Summaries of earlier versions lack what they did not count.
impl<'de> Deserialize<'de> for Traffic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Traffic, D::Error> {
        let known = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(members().filter_map(|(counter, name)| Some((counter, *known.get(&name)?))).collect())
    }
}
