//! What a script makes of its summary.

use serde_json::Value;
use std::time::Duration;

use super::underway::Collector;
use crate::runtime::{Given, Phase};
use crate::shard::Level;
use crate::summary::Summary;

impl Collector<'_, '_> {
    /// What `handleSummary` returned: names of files and their texts. None: the usual text is shown.
    pub(super) fn handled(&mut self, summary: &Summary, limit: Duration) -> Option<Vec<(String, String)>> {
        if !self.test.has("handleSummary") || self.test.asked.no_summary {
            return None;
        }
        let data = Given::Json(summary.data().to_string());
        match self.once(Phase::Summary, "handleSummary", data, limit) {
            Ok(returned) => {
                let returned = returned.and_then(|text| serde_json::from_str(&text).ok());
                let files = match returned {
                    None => return None,
                    Some(Value::Object(files)) => files,
                    Some(other) => {
                        self.say(
                            Level::Error,
                            format!("handleSummary() should return a map with string keys, got {other}"),
                        );
                        return Some(Vec::new());
                    }
                };
                let (mut texts, mut are_all_good) = (Vec::new(), true);
                for (name, content) in files {
                    match content {
                        Value::String(text) => texts.push((name, text)),
                        other => {
                            are_all_good = false;
                            self.say(Level::Error, format!("error handling summary object {name}: invalid type, expected a string, got {other}"));
                        }
                    }
                }
                // One that cannot be written spoils all of them.
                Some(if are_all_good { texts } else { Vec::new() })
            }
            Err(thrown) => {
                self.say(Level::Error, thrown.text());
                None
            }
        }
    }
}
