//! Values that `setup` returns, on their way to the users.

use super::*;
use serde_json::{Value, json};

fn returned(expression: &str) -> Result<Value, Thrown> {
    let script = format!(
        "import http from 'k6/http'; import {{ createHash }} from 'k6/crypto'; import {{ SharedArray }} from 'k6/data';
         const list = new SharedArray('list', () => [1]);
         export default () => ({expression});"
    );
    let how = How { is_setup: true, ..How::default() };
    let outcome = run_as(Path::new("/test"), &script, how).outcome;
    outcome.map(|data| serde_json::from_str(&data.unwrap()).unwrap())
}

#[test]
fn a_response_is_handed_on_without_its_functions() {
    let of = returned("[http.get('http://a/away', { redirects: 0, cookies: { mine: 'x' } })]").unwrap();
    let of = &of[0];
    let names: Vec<&String> = of.as_object().unwrap().keys().collect();
    let known = "remote_ip remote_port url status status_text proto headers cookies body timings tls_version tls_cipher_suite ocsp error error_code request";
    assert_eq!(names, known.split(' ').collect::<Vec<_>>());
    assert_eq!((&of["status"], &of["url"]), (&json!(302), &json!("http://a/away")));
    let cookie = json!({
        "Name": "a", "Value": "b", "Domain": "", "Path": "/", "HTTPOnly": false, "Secure": false, "MaxAge": 0,
        "Expires": -6_795_364_578_871_i64,
    });
    assert_eq!(of["cookies"], json!({ "a": [cookie] }));
    let sent = json!({ "mine": [{ "Name": "mine", "Value": "x", "Replace": false }] });
    assert_eq!(of["request"]["cookies"], sent);
}

#[test]
fn what_k6s_own_functions_gave_is_handed_on_and_a_function_of_the_script_is_not() {
    let of = returned("{ jar: http.cookieJar(), hasher: createHash('md5'), b: 1, a: 2, list }").unwrap();
    assert_eq!(of.to_string(), r#"{"jar":{},"hasher":{},"b":1,"a":2,"list":[1]}"#);
    for with_function in
        ["() => 1", "[() => 1]", "{ of: { it() {} } }", "{ jar: http.cookieJar(), f: http.get }"]
    {
        let refused = returned(with_function);
        assert!(matches!(refused, Err(Thrown::Unusable(_))), "{with_function}: {refused:?}");
    }
}
