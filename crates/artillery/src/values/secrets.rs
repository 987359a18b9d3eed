//! A user's secret values, and texts without them.

use sonagi_measure::secrets::{collect, is_secret, without};

use super::Values;

impl Values {
    /// A text for an example or a line of ours, without the values of variables that are secret by their names or by
    /// where they are captured from. What names in the text itself say is secret is masked where examples are kept
    /// (`sonagi_measure::secrets`).
    pub(crate) fn shown(&self, text: &str) -> String {
        let mut values = Vec::new();
        let plan = &self.common.plan;
        let given = self.own.iter().chain(&self.common.before).map(|(name, value)| (name, value));
        given.for_each(|(name, value)| collect(name, value, &mut values));
        let of_rows =
            plan.payloads.iter().flat_map(|payload| &payload.fields).filter(|field| is_secret(field));
        let of_all = plan.variables.iter().map(|(name, _)| name).filter(|name| is_secret(name));
        for name in of_rows.chain(of_all) {
            if let Some(value) = self.find(name) {
                collect(name, &value, &mut values);
            }
        }
        for name in &self.common.captured_secrets {
            if let Some(value) = self.captured_at(name) {
                collect("secret", &value, &mut values);
            }
        }
        without(text, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::super::{RunValues, Values};
    use crate::plan::{Capture, HttpStep, Loop, Plan, Repeat, Source, Step, Template};
    use serde_json::json;
    use serde_json_path::JsonPath;
    use sonagi_measure::outcome::OperationId;
    use std::rc::Rc;
    use std::sync::Arc;

    #[test]
    fn what_a_user_captured_from_where_a_secret_is_is_not_shown_whatever_it_is_called() {
        let source = |path: &str| Source::Json(JsonPath::parse(path).unwrap());
        let capture =
            |path: &str, name: &str| Capture { from: source(path), name: name.into(), strict: true };
        let captures =
            vec![capture("$.access_token", "t"), capture("$.apiKey", "me.key"), capture("$.id", "id")];
        let login =
            HttpStep { captures, ..HttpStep::new(OperationId(0), "POST", Template::constant("/login")) };
        let body = vec![Step::Http(Box::new(login))];
        let looped = Step::Loop(Loop { body, repeat: Repeat::Forever, pace: None });
        let plan = Plan { before: vec![looped], ..Plan::empty() };
        let common = RunValues::new(Arc::new(plan), Vec::new(), 0);
        let mut values = Values::new(Rc::new(common), 0, 0, fastrand::Rng::with_seed(1));
        values.set("t", json!("8d2f41c9"));
        values.set("me", json!({ "key": "k-77777777", "name": "ann-lee" }));
        values.set("id", json!("id-4711"));
        assert_eq!(values.shown("8d2f41c9 k-77777777 ann-lee id-4711"), "*** *** ann-lee id-4711");
    }

    #[test]
    fn what_a_user_captured_under_a_secret_name_is_not_shown() {
        let mut values = values(Vec::new(), Vec::new(), 0);
        values.set("token", json!("s3cr3t-of-one"));
        values.set("login", json!({ "name": "ann", "refreshToken": "s3cr3t-of-two" }));
        values.set("room", json!("s3cr3t-room"));
        let text = "ann in s3cr3t-room: s3cr3t-of-one, s3cr3t-of-two";
        assert_eq!(values.shown(text), "ann in s3cr3t-room: ***, ***");
    }
}
