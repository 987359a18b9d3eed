use super::*;
use crate::plan::Hooks;
use crate::plan::template::{JsonPiece, Piece};
use serde_json::json;
use sonagi_measure::outcome::OperationId;

fn constants() -> Constants {
    Constants {
        environment: None,
        target: Some("http://t".into()),
        test_id: String::new(),
        dirname: String::new(),
        script: String::new(),
        odd_names: Default::default(),
        fakes: None,
        env: |_| None,
        dotenv: Vec::new(),
    }
}

fn object(value: serde_json::Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn text(text: &str) -> Template {
    Template::constant(text)
}

/// A step as the script has it, with a default header and a default cookie.
fn written(request: Value, body: Body) -> HttpStep {
    let pairs = |pairs: [(&str, &str); 2]| pairs.map(|(name, value)| (name.to_owned(), text(value))).to_vec();
    let hooks = Hooks { request, ..Hooks::default() };
    HttpStep {
        headers: pairs([("x-own", "own"), ("x-default", "default")]),
        cookies: pairs([("own", "1"), ("default", "2")]),
        basic_auth: Some((text("ann"), text("secret"))),
        body,
        hooks: Some(Box::new(hooks)),
        ..HttpStep::new(OperationId(0), "POST", text("/"))
    }
}

fn request() -> Value {
    json!({
        "url": "http://t/", "method": "POST", "headers": { "X-Own": "own" }, "cookie": { "own": "1" },
        "auth": { "user": "ann", "pass": "secret" }, "json": { "list": [1, 2] },
    })
}

/// The request after a function's changes to that step.
fn after(change: impl FnOnce(&mut Map<String, Value>)) -> Result<HttpStep, String> {
    let body = Body::Json(JsonTemplate { pieces: vec![JsonPiece::Raw("as written".into())] });
    let mut params = object(request());
    change(&mut params);
    step(&constants(), &written(request(), body), &params)
}

fn names(pairs: &[(String, Template)]) -> Vec<String> {
    pairs.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect()
}

fn shown(template: &Template) -> String {
    match template.pieces.as_slice() {
        [] => String::new(),
        [Piece::Text(text)] => text.clone(),
        pieces => format!("{pieces:?}"),
    }
}

#[test]
fn what_a_function_takes_away_is_not_sent_and_defaults_are() {
    let untouched = after(|_| {}).unwrap();
    assert!(untouched.basic_auth.is_some());
    assert_eq!(names(&untouched.cookies), ["own: 1", "default: 2"]);
    let taken = after(|params| {
        for key in ["auth", "cookie", "headers", "json"] {
            params.remove(key);
        }
    })
    .unwrap();
    assert!(taken.basic_auth.is_none());
    assert_eq!(names(&taken.cookies), ["default: 2"]);
    assert_eq!(names(&taken.headers), ["x-default: default"]);
    assert!(matches!(taken.body, Body::Empty), "{:?}", taken.body);
}

#[test]
fn what_a_function_sets_is_sent_and_what_it_leaves_alone_is_as_the_script_has_it() {
    let set = after(|params| {
        params.insert("auth".into(), json!({ "user": "bob", "pass": 7 }));
        params.insert("cookie".into(), json!({ "own": "3", "new": "4" }));
        params.insert("headers".into(), json!({ "x-own": "mine", "x-default": "over" }));
    })
    .unwrap();
    let (user, password) = set.basic_auth.unwrap();
    assert_eq!([shown(&user), shown(&password)], ["bob", "7"]);
    assert_eq!(names(&set.cookies), ["own: 3", "default: 2", "new: 4"]);
    assert_eq!(names(&set.headers), ["x-own: mine", "x-default: over"]);
    let Body::Json(json) = set.body else { panic!("{:?}", set.body) };
    assert_eq!(json.pieces, [JsonPiece::Raw("as written".into())]);
    let refused = after(|params| drop(params.insert("auth".into(), json!("ann:secret")))).unwrap_err();
    assert_eq!(refused, "auth: an object with user and pass is wanted, got \"ann:secret\"");
}

#[test]
fn a_body_is_a_text_or_bytes_whose_type_is_sent_unless_the_request_has_one() {
    let with = |body: Value, headers: Value| {
        after(|params| {
            params.remove("json");
            params.insert("body".into(), body);
            params.insert("headers".into(), headers);
        })
    };
    let bytes = with(json!({ "base64": "AQL/", "type": "image/png" }), json!({})).unwrap();
    assert!(matches!(&bytes.body, Body::Bytes(bytes) if bytes[..] == [1, 2, 255]), "{:?}", bytes.body);
    assert_eq!(names(&bytes.headers), ["x-default: default", "content-type: image/png"]);
    let named = with(json!({ "base64": "", "type": "image/png" }), json!({ "Content-Type": "a/b" })).unwrap();
    assert_eq!(names(&named.headers), ["x-default: default", "Content-Type: a/b"]);
    assert!(
        matches!(with(json!("plain"), json!({})).unwrap().body, Body::Text(body) if shown(&body) == "plain")
    );
    let refused = with(json!({ "0": 1 }), json!({})).unwrap_err();
    assert_eq!(refused, "body: a text or bytes are wanted, got {\"0\":1}; an object is sent as `json`");
    assert!(with(json!({ "base64": "?" }), json!({})).unwrap_err().starts_with("body: "));
}

/// A form with a file, and what a function's change of one of its parts makes of it.
fn form(part: &str, value: Value) -> Result<Vec<String>, String> {
    let request = json!({
        "url": "http://t/", "formData": { "title": "a photo", "photo": { "fromFile": "files/p.png" } },
    });
    let bytes = b"PNG".to_vec().into();
    let parts = [
        FormPart { name: "title".into(), content: PartContent::Text(text("a photo")), content_type: None },
        FormPart {
            name: "photo".into(),
            content: PartContent::File { name: "p.png".into(), bytes },
            content_type: Some("image/png".into()),
        },
    ];
    let mut params = object(request.clone());
    params["formData"][part] = value;
    let step = step(&constants(), &written(request, Body::Multipart(parts.into())), &params)?;
    let Body::Multipart(parts) = step.body else { panic!("{:?}", step.body) };
    let told = |part: &FormPart| {
        let content = match &part.content {
            PartContent::Text(text) => shown(text),
            PartContent::File { name, bytes } => format!("{name} of {} bytes", bytes.len()),
            PartContent::OneOf { path, .. } => shown(path),
        };
        format!("{}: {content} {:?}", part.name, part.content_type)
    };
    Ok(parts.iter().map(told).collect())
}

#[test]
fn a_function_may_change_the_parts_of_a_form_and_send_its_files_under_other_names() {
    let photo = "photo: p.png of 3 bytes Some(\"image/png\")";
    assert_eq!(form("title", json!("a photo")).unwrap(), ["title: a photo None", photo]);
    let changed = form("title", json!({ "value": 5, "contentType": "text/x" })).unwrap();
    assert_eq!(changed, ["title: 5 Some(\"text/x\")", photo]);
    let second = form("second", json!({ "fromFile": "files/p.png" })).unwrap();
    assert_eq!(second, ["title: a photo None", photo, "second: p.png of 3 bytes Some(\"image/png\")"]);
    let refused = form("title", json!({ "fromFile": "files/q.png" })).unwrap_err();
    assert!(refused.starts_with("formData: title: the file files/q.png is none of"), "{refused}");
}
