//! Whether the acknowledgement of a join refuses it.
//!
//! Services word a refusal as they like. Only what nobody says by mistake counts: `{ok: false}`, `{success: false}`,
//! `{status: "error"}`, an `error` or `err` that says something (a text, an object, `true`), `false` alone, or, as
//! callbacks of Node have it, an error object (with a `message`, an `error`, an `err` or a `code`) before a result that
//! is not there. A text says neither yes nor no, not even before `null`: `("joined", null)` is as common as
//! `("forbidden", null)`.

use serde_json::{Map, Value};

/// Whether these arguments refuse what was asked for.
pub(super) fn is_refusal(arguments: &[Value]) -> bool {
    match arguments {
        [Value::Bool(answer)] => !answer,
        [Value::Object(answer)] => says_no(answer),
        [Value::Null, Value::Object(result), ..] => says_no(result),
        [Value::Object(first), ..] if says_no(first) => true,
        [Value::Object(first), results @ ..] => {
            let is_error = ["message", "error", "err", "code"].iter().any(|name| first.contains_key(*name));
            is_error && !results.is_empty() && results.iter().all(Value::is_null)
        }
        _ => false,
    }
}

fn says_no(answer: &Map<String, Value>) -> bool {
    let is_false = |name: &str| answer.get(name) == Some(&Value::Bool(false));
    let is_error = |value: &Value| match value {
        Value::Bool(is_error) => *is_error,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        // 0 is what many services call success.
        Value::Null | Value::Number(_) | Value::Array(_) => false,
    };
    is_false("ok")
        || is_false("success")
        || answer.get("status").is_some_and(|status| status == "error")
        || ["error", "err"].iter().any(|name| answer.get(*name).is_some_and(is_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses(arguments: &str) -> bool {
        is_refusal(&serde_json::from_str::<Vec<Value>>(arguments).unwrap())
    }

    #[test]
    fn an_acknowledgement_refuses_by_a_false_an_error_or_an_error_without_a_result() {
        for refusal in [
            r#"[{"ok":false}]"#,
            r#"[{"ok":false,"error":{"code":"ROOM_NOT_FOUND"}}]"#,
            r#"[{"success":false}]"#,
            r#"[{"status":"error"}]"#,
            r#"[{"error":"forbidden"}]"#,
            r#"[{"err":"forbidden"}]"#,
            r#"[{"err":404},null]"#,
            r#"[false]"#,
            r#"[{"message":"forbidden"},null]"#,
            r#"[{"code":403},null]"#,
            r#"[{"error":true}]"#,
            r#"[{"error":{"code":403}}]"#,
            r#"[{"error":"forbidden"},{"room":"lobby"}]"#,
            r#"[null,{"ok":false}]"#,
        ] {
            assert!(refuses(refusal), "{refusal}");
        }
    }

    #[test]
    fn every_other_acknowledgement_confirms() {
        for confirmation in [
            "[]",
            "[null]",
            "[true]",
            r#"["joined"]"#,
            r#"[{}]"#,
            r#"[{"ok":true}]"#,
            r#"[{"ok":true,"error":null}]"#,
            r#"[{"error":""}]"#,
            r#"[{"err":null}]"#,
            r#"[{"error":false,"members":3}]"#,
            r#"[null,{"room":"lobby"}]"#,
            r#"[false,{"room":"lobby"}]"#,
            r#"["joined","lobby"]"#,
            r#"[200,null]"#,
            r#"[{"error":0}]"#,
            r#"[{"error":{}}]"#,
            r#"[{"error":[]}]"#,
            r#"["joined",null]"#,
            r#"[{"room":"lobby"},null]"#,
        ] {
            assert!(!refuses(confirmation), "{confirmation}");
        }
    }
}
