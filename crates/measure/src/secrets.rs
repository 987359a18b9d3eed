//! Hides secrets in texts that a run keeps as examples: passwords, tokens, cookies.
//!
//! Names say what is secret ([`is_secret`]): of members of JSON, headers, fields of forms and parameters of addresses.
//! Beside them `Bearer` and `Basic` credentials, a password in an address, and JSON Web Tokens are known by their
//! looks. Whoever holds values that are secret by the name of their variable takes them out first ([`without`]). This
//! errs on the side of hiding: an example is for who looks for a cause, and is handed around.

use serde_json::Value;

/// Stands where something secret was.
pub const MASK: &str = "***";

/// A name with one of these among its words is secret.
const WORDS: [&str; 9] = ["auth", "bearer", "csrf", "jwt", "otp", "pwd", "session", "sid", "xsrf"];
/// Also one with a word that has one of these in it: `authtoken`, `cookies`.
const PARTS: [&str; 9] = [
    "authorization",
    "cookie",
    "credential",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "token",
];
/// Words that begin so have a part in them and are no secrets: a tokenizer, a secretary.
const INNOCENT: [&str; 4] = ["tokenis", "tokeniz", "secretar", "secreti"];
/// Also one that has one of these in it when it is written as one word.
const JOINED: [&str; 6] = ["accesskey", "apikey", "privatekey", "sessid", "sessionid", "signingkey"];
/// Also one that ends so, or with the word `pass`.
const ENDS: [&str; 1] = ["jwt"];
/// Last words of names that only tell of a secret: `token_type`, `expires_in`, `session_length`.
const ABOUT: [&str; 17] = [
    "at", "count", "duration", "expires", "expiry", "in", "length", "limit", "ms", "name", "required",
    "timeout", "ttl", "type", "uri", "url", "valid",
];
/// Headers whose value goes on to the end of its line.
const WHOLE_LINES: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];
/// Behind a plain word and a colon (`wrong token: …`) only what is so long is a value and no English.
const LONG: usize = 16;
/// Shortest credential behind its scheme, and shortest part of a known value that counts as it.
const SHORT: usize = 8;
/// Shortest known value that is looked for.
const SHORTEST: usize = 4;
/// Shortest text that may be a token by its looks.
const OPAQUE: usize = 12;

/// Whether what goes by this name is secret: `access_token`, `X-Api-Key`, `newPassword`, `connect.sid`.
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let joined = words.concat();
    !is_about(&words)
        && (words.iter().any(|word| is_secret_word(word))
            || words.last().is_some_and(|last| last == "pass")
            || JOINED.iter().any(|part| joined.contains(part))
            || ENDS.iter().any(|end| joined.ends_with(end)))
}

fn is_secret_word(word: &str) -> bool {
    WORDS.contains(&word)
        || PARTS.iter().any(|part| word.contains(part))
            && !INNOCENT.iter().any(|start| word.starts_with(start))
}

/// Whether a name only tells of a secret; behind that may stand which figure of it: `users.session_length.p95`.
fn is_about(words: &[String]) -> bool {
    let is_figure = |word: &String| {
        let percentile = word.strip_prefix('p').is_some_and(|digits| digits.parse::<u16>().is_ok());
        percentile || matches!(word.as_str(), "min" | "max" | "mean" | "median" | "avg")
    };
    let last = words.iter().rposition(|word| !is_figure(word));
    last.is_some_and(|last| last > 0 && ABOUT.contains(&words[last].as_str()))
}

/// Whether a text is one of the words themselves, in whatever case.
fn is_word(text: &str) -> bool {
    let text = text.to_lowercase();
    let word = text.strip_suffix('s').unwrap_or(&text);
    let mut all = WORDS.iter().chain(&PARTS).chain(&JOINED);
    all.any(|known| *known == text || *known == word)
}

/// Whether a text, a path or a pattern say, speaks of something secret.
pub fn mentions(text: &str) -> bool {
    text.split(|c: char| !is_of_name(c)).any(is_secret)
}

/// The words of a name, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_part = c.is_alphanumeric();
        if (!is_part || (c.is_uppercase() && was_lower)) && words.last().is_some_and(|word| !word.is_empty())
        {
            words.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| is_part) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The text without what names in it say is secret.
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_name) {
        let before = &rest[..start];
        let word = &rest[start..];
        let end = word.find(|c| !is_of_name(c)).unwrap_or(word.len());
        let (name, behind) = word.split_at(end);
        out.push_str(before);
        rest = behind;
        if is_jwt(name) {
            out.push_str(MASK);
            continue;
        }
        out.push_str(name);
        let value = match name.to_ascii_lowercase().as_str() {
            "bearer" | "basic" => credential(behind),
            "http" | "https" | "ws" | "wss" => password(behind),
            _ if is_secret(name) => value(name, before.ends_with('<'), behind),
            _ => None,
        };
        if let Some((start, end)) = value.filter(|(start, end)| start < end) {
            out.push_str(&behind[..start]);
            out.push_str(MASK);
            rest = &behind[end..];
        }
    }
    out.push_str(rest);
    out
}

/// `eyJ…`, three parts of it or a beginning.
fn is_jwt(word: &str) -> bool {
    word.starts_with("eyJ") && word.len() >= LONG
}

/// Where the credential behind the name of its scheme is.
fn credential(behind: &str) -> Option<(usize, usize)> {
    let value = behind.strip_prefix(' ')?;
    let end = value.find(|c: char| !is_of_token(c)).unwrap_or(value.len());
    (end >= SHORT).then_some((1, 1 + end))
}

/// Where the password of `://user:password@host` is.
fn password(behind: &str) -> Option<(usize, usize)> {
    let authority = behind.strip_prefix("://")?;
    let authority = &authority
        [..authority.find(|c: char| c.is_whitespace() || "/?#\"'`".contains(c)).unwrap_or(authority.len())];
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    Some((3 + colon + 1, 3 + at))
}

/// Where the value is that belongs to the name before `behind`.
fn value(name: &str, is_element: bool, behind: &str) -> Option<(usize, usize)> {
    if is_element && behind.starts_with('>') {
        return Some((1, behind.find('<').unwrap_or(behind.len())));
    }
    let unquoted = behind.trim_start_matches(['\\', '"', '\'', '`', ']']);
    let is_quoted = unquoted.len() < behind.len();
    let sign = unquoted.trim_start();
    let at = |rest: &str| behind.len() - rest.len();
    if let Some(rest) = sign.strip_prefix("value=").filter(|_| is_quoted) {
        // A field of an HTML form.
        return Some((
            at(rest) + 1,
            at(rest) + 1 + rest.get(1..)?.find(['"', '\'']).unwrap_or(rest.len() - 1),
        ));
    }
    let assigned =
        sign.strip_prefix('=').or_else(|| sign.strip_prefix("%3D")).or_else(|| sign.strip_prefix("%3d"));
    let rest = match (assigned, sign.strip_prefix(':')) {
        (Some(rest), _) => rest,
        (None, Some(rest)) => rest.trim_start(),
        (None, None) => return None,
    };
    let start = at(rest);
    let length = if let Some(whole) = nested(rest) {
        whole
    } else if let Some((opening, closing)) = quoted(rest) {
        return Some((start + opening, start + closing));
    } else if assigned.is_some() {
        rest.find(|c: char| c.is_whitespace() || "&;\"'`,)]}<…".contains(c)).unwrap_or(rest.len())
    } else if !is_quoted && WHOLE_LINES.contains(&name.to_ascii_lowercase().as_str()) {
        rest.find(['\r', '\n', '`']).unwrap_or(rest.len())
    } else {
        let length = rest.find(|c: char| c.is_whitespace() || ",;}])`\"'".contains(c)).unwrap_or(rest.len());
        let is_nothing = matches!(&rest[..length], "true" | "false" | "null");
        let is_english = !is_quoted && words(name).len() == 1 && length < LONG;
        if is_nothing || is_english { 0 } else { length }
    };
    Some((start, start + length))
}

/// The length of a list or object; of one that is cut off, all of it.
fn nested(text: &str) -> Option<usize> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    Some(text.len())
}

/// The text between quotes, JSON in JSON among them; of a truncated text, the rest.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let slashes = text.len() - text.trim_start_matches('\\').len();
    let quote = text[slashes..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let opening = slashes + 1;
    let mut before = 0;
    for (at, c) in text[opening..].char_indices() {
        match c {
            '\\' => before += 1,
            c if c == quote && before == slashes => return Some((opening, opening + at - slashes)),
            _ => before = 0,
        }
    }
    Some((opening, text.len()))
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-' | '.' | '~')
}

/// The text without anything that looks like a token: for answers in which one was looked for, under whatever name.
pub fn without_tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_token) {
        let word = &rest[start..];
        let end = word.find(|c| !is_of_token(c)).unwrap_or(word.len());
        let word = &word[..end];
        let is_mixed = word.contains(|c: char| c.is_ascii_digit())
            || word.contains(char::is_uppercase) && word.contains(char::is_lowercase);
        out.push_str(&rest[..start]);
        out.push_str(if end >= OPAQUE && is_mixed { MASK } else { word });
        rest = &rest[start + end..];
    }
    out.push_str(rest);
    out
}

/// Adds the values that are secret by their names: `value` itself when `name` says so, else those of its members.
pub fn collect(name: &str, value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let is_all = is_secret(name);
            for (member, value) in members {
                collect(if is_all { name } else { member }, value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, into)),
        Value::String(text) if is_secret(name) => into.push(text.clone()),
        Value::Number(number) if is_secret(name) => into.push(number.to_string()),
        _ => {}
    }
}

/// The text without these values, nor a longer beginning of one: texts are cut.
pub fn without(text: &str, values: &[String]) -> String {
    let mut text = text.to_owned();
    // A value that is one of the words itself (`password`) hides nothing, and would remove the word from every message.
    for value in values.iter().filter(|value| value.len() >= SHORTEST && !is_word(value)) {
        let head: String = value.chars().take(SHORT).collect();
        let mut from = 0;
        while let Some(at) = text[from..].find(&head).map(|at| from + at) {
            let same = text[at..].chars().zip(value.chars()).take_while(|(a, b)| a == b);
            let mut length: usize = same.map(|(c, _)| c.len_utf8()).sum();
            if length < value.len() {
                // Cut off, or another one that begins alike, as tokens do: all of it goes.
                length += text[at + length..].find(|c| !is_of_token(c)).unwrap_or(text.len() - at - length);
            }
            let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let is_within =
                is_part(text[..at].chars().next_back()) || is_part(text[at + length..].chars().next());
            if value.len() < SHORT && is_within {
                from = at + length;
                continue;
            }
            text.replace_range(at..at + length, MASK);
            from = at + MASK.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_say_what_is_secret() {
        for name in [
            "token",
            "access_token",
            "accessToken",
            "ACCESS_TOKEN",
            "refreshToken",
            "authtoken",
            "tokens",
            "password",
            "newPassword",
            "passwd",
            "passphrase",
            "passcode",
            "pwd",
            "pass",
            "db_pass",
            "userPass",
            "client_secret",
            "secretkey",
            "Authorization",
            "Proxy-Authorization",
            "auth",
            "bearer",
            "Cookie",
            "set-cookie",
            "cookies",
            "credentials",
            "api_key",
            "X-Api-Key",
            "apikey",
            "private key",
            "accessKeyId",
            "session",
            "sessionId",
            "PHPSESSID",
            "connect.sid",
            "csrfmiddlewaretoken",
            "xsrf",
            "jwt",
            "idjwt",
            "otp",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "",
            "id",
            "name",
            "tokenizer",
            "tokenized",
            "token_type",
            "tokenExpiresIn",
            "expires_in",
            "secretary",
            "author",
            "side",
            "bypass",
            "compass",
            "pass_rate",
            "users.session_length.p95",
            "users.session_ms.max",
            "session_duration",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(mentions("$.data.accessToken") && mentions("token=([a-z]+)") && !mentions("$.data[0].id"));
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(masked(text), expected);
        assert_eq!(masked(expected), expected, "once is enough");
    }

    #[test]
    fn what_a_name_says_is_secret_is_masked_in_every_form_it_has() {
        check(r#"{"id":7,"access_token":"a\"b c","ok":true}"#, r#"{"id":7,"access_token":"***","ok":true}"#);
        check(r#"{"access_token": "abc de…"#, r#"{"access_token": "***"#);
        check(r#""{\"token\":\"abc\",\"id\":1}""#, r#""{\"token\":\"***\",\"id\":1}""#);
        check(r#"{"pin":1,"password":1234,"session":null}"#, r#"{"pin":1,"password":***,"session":null}"#);
        check(r#"{"set-cookie":["a=1","b=2"],"n":1}"#, r#"{"set-cookie":***,"n":1}"#);
        check(r#"{"token":{"value":"abc"},"n":1}"#, r#"{"token":***,"n":1}"#);
        check("GET /ws?room=1&token=abc.def&x=2", "GET /ws?room=1&token=***&x=2");
        check("user=a&password=b%20c", "user=a&password=***");
        check("Authorization: Bearer abc\r\nX-Room: 7", "Authorization: ***\r\nX-Room: 7");
        check("x-api-key: abc; q", "x-api-key: ***; q");
        check("{ token: 'abc', id: 1 }", "{ token: '***', id: 1 }");
        check("<token>abc</token><id>1</id>", "<token>***</token><id>1</id>");
        check(r#"<input name="csrf_token" value="abc">"#, r#"<input name="csrf_token" value="***">"#);
        check("with Bearer abcdefgh9 it failed", "with Bearer *** it failed");
        check("redis://u:p and https://ann:pass@h:1/x", "redis://u:p and https://ann:***@h:1/x");
        check("got eyJhbGciOiJIUzI1NiJ9.e30.x-y_z", "got ***");
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for text in [
            "expected the property access_token, got nothing",
            "invalid password: too short",
            r#"{"token":null,"token_type":"bearer","expires_in":3600}"#,
            "status 401: nothing to capture as `token` in `{\"error\":\"no such user\"}`",
            "Basic auth is off; the bearer of bad news",
            "größe=5&seite=2",
        ] {
            assert_eq!(masked(text), text);
        }
        check("wrong token: 0123456789abcdef", "wrong token: ***");
    }

    #[test]
    fn known_values_are_taken_out_also_where_they_are_cut_off() {
        let mut values = Vec::new();
        collect(
            "user",
            &json!({"name": "ann", "token": "s3cr3t-value-1", "keys": [{"apiKey": 12345}]}),
            &mut values,
        );
        collect("password", &json!("abcd"), &mut values);
        assert_eq!(values.len(), 3);
        assert_eq!(without("ann: s3cr3t-value-1, 12345, abcd, abcde", &values), "ann: ***, ***, ***, abcde");
        assert_eq!(without("`x s3cr3t-va…`", &values), "`x ***…`");
        assert_eq!(without("s3cr3t-value-2 of another", &values), "*** of another");
        assert_eq!(without("the password", &["password".to_owned()]), "the password");
        for value in ["token-8d2f41c9", "sk_live_token_abc", "my-password-1"] {
            let body = format!(r#"status 401: {{"error":"{value} is no good"}}"#);
            assert_eq!(without(&body, &[value.to_owned()]), r#"status 401: {"error":"*** is no good"}"#);
        }
        assert_eq!(
            without("a Bearer of Credentials", &["Bearer".into(), "Credentials".into()]),
            "a Bearer of Credentials"
        );
        assert_eq!(without_tokens("data aB3dE5gH7jK9 is not-a-token"), "data *** is not-a-token");
    }
}
