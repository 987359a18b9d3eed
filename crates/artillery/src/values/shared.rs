//! The variables every user begins with, as functions see them.

use serde_json::{Map, Value};
use std::sync::Arc;

use super::RunValues;
use crate::plan::Plan;

impl RunValues {
    pub(crate) fn new(plan: Arc<Plan>, before: Vec<(String, Value)>, run: u32) -> RunValues {
        let captured_secrets = plan.captured_secrets();
        RunValues { plan, before, run, captured_secrets }
    }

    /// The values that are the same for all users: the processor is told of them once. Values nearer to the user hide
    /// further ones.
    pub(crate) fn shared(&self) -> Map<String, Value> {
        let plan = &self.plan;
        let mut shared = Map::from_iter([("target".to_owned(), plan.target.clone().into())]);
        shared.extend(plan.processor.iter().flat_map(|processor| processor.constants.clone()));
        shared.extend(self.before.iter().cloned());
        for payload in plan.payloads.iter().rev() {
            shared.extend(payload.all_as.iter().map(|name| (name.clone(), payload.all())));
        }
        // Of several choices each user has drawn its own.
        let only = plan.variables.iter().filter(|(_, choices)| choices.len() == 1);
        shared.extend(only.map(|(name, choices)| (name.clone(), choices[0].clone())));
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::super::Values;
    use super::*;
    use crate::plan::{Payload, Processor, Rewrite, RowOrder};
    use serde_json::json;
    use std::rc::Rc;
    use std::time::Duration;

    fn payload(fields: &[&str], all_as: Option<&str>) -> Payload {
        let row = |text: &str| fields.iter().map(|field| json!(format!("{field}{text}"))).collect();
        Payload {
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            rows: vec![row("-1")],
            order: RowOrder::Sequence,
            all_as: all_as.map(str::to_owned),
        }
    }

    fn common() -> Rc<RunValues> {
        let processor = Processor {
            module: "p.js".into(),
            functions: Vec::new(),
            files: Vec::new(),
            environment: Vec::new(),
            constants: Map::from_iter([("$environment".to_owned(), json!("staging"))]),
            timeout: Duration::from_secs(1),
            rewrite: Rewrite::new(|step, _| Ok(step.clone())),
        };
        let plan = Plan {
            target: "http://a".to_owned(),
            processor: Some(processor),
            variables: vec![
                ("word".to_owned(), vec![json!("Sesam")]),
                ("drawn".to_owned(), vec![json!(1), json!(1)]),
                ("hidden".to_owned(), vec![json!("the config's")]),
            ],
            payloads: vec![payload(&["name", "hidden"], None), payload(&["id"], Some("people"))],
            ..Plan::empty()
        };
        let before = vec![("token".to_owned(), json!("t-1")), ("word".to_owned(), json!("further"))];
        Rc::new(RunValues::new(Arc::new(plan), before, 7))
    }

    #[test]
    fn what_all_users_share_is_told_apart_from_what_is_a_users_own() {
        let common = common();
        let shared = json!({
            "target": "http://a", "$environment": "staging", "token": "t-1", "word": "Sesam",
            "people": [{ "id": "id-1" }], "hidden": "the config's",
        });
        assert_eq!(Value::Object(common.shared()), shared);
        let mut values = Values::new(Rc::clone(&common), 3, 0, fastrand::Rng::with_seed(1));
        values.set("token", json!("mine"));
        let own = values.all();
        let uuid = own["$uuid"].clone();
        let told = json!({
            "$uuid": uuid, "name": "name-1", "hidden": "the config's", "drawn": 1, "token": "mine",
        });
        assert_eq!(Value::Object(own), told, "a row's field that the config hides stays hidden");
    }
}
