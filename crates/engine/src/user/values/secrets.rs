//! What a user knows that is secret, and texts without it.

use sonagi_measure::secrets::{collect, is_secret, without};

use super::Values;

impl Values {
    /// A text for an example or a line of ours, without the values of variables that are secret by their names. What names in
    /// the text itself say is secret is masked where examples are kept (`sonagi_measure::secrets`).
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
        without(text, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use serde_json::json;

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
