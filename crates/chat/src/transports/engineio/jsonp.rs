//! Long-polling by script tags, for browsers that cannot ask another origin in any other way: an answer is a call of
//! the client's function, a post is a form.
//!
//! Nothing of a request reaches the script but digits: what is between the brackets and quotes is ours or escaped.

use crate::http;

/// The number of the client's function: `j` of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callback(String);

impl Callback {
    /// The digits of `j`; a client's number is short.
    pub(crate) fn new(j: &str) -> Callback {
        Callback(j.chars().filter(char::is_ascii_digit).take(20).collect())
    }

    /// The script that hands a polling body to the function.
    pub(crate) fn script(&self, body: &str) -> String {
        // Two line ends of JSON's strings end a line in scripts as well.
        let text = serde_json::Value::from(body).to_string();
        let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        format!("___eio[{}]({text});", self.0)
    }
}

/// The polling body in a form's field `d`; `None` when there is none.
///
/// Browsers change line ends in forms, so clients write one as the letters `\n`, and those letters as `\\n`.
pub(crate) fn body_of(form: &str) -> Option<String> {
    let field = form.split('&').find_map(|pair| pair.strip_prefix("d="))?;
    let text = http::decode(field, true);
    let mut body = String::with_capacity(text.len());
    let mut left: &str = &text;
    while let Some(at) = left.find('\\') {
        body.push_str(&left[..at]);
        left = &left[at..];
        if let Some(after) = left.strip_prefix("\\\\n") {
            body.push_str("\\n");
            left = after;
        } else if let Some(after) = left.strip_prefix("\\n") {
            body.push('\n');
            left = after;
        } else {
            body.push('\\');
            left = &left[1..];
        }
    }
    body.push_str(left);
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_call_that_holds_only_digits_and_escaped_text() {
        assert_eq!(Callback::new("7").script("1:6"), r#"___eio[7]("1:6");"#);
        assert_eq!(Callback::new("]);alert(1)//").script("\"\\\n"), r#"___eio[1]("\"\\\n");"#);
        assert_eq!(Callback::new("").script("\u{2028}\u{2029}"), r#"___eio[]("\u2028\u2029");"#);
    }

    #[test]
    fn a_post_is_a_field_of_a_form_with_line_ends_of_its_own() {
        assert_eq!(body_of("d=3%3A4hi"), Some("3:4hi".to_owned()));
        assert_eq!(body_of("x=1&d=5:4a+b%2B"), Some("5:4a b+".to_owned()));
        // A line end, the letters that stand for one in JSON, and a backslash alone.
        assert_eq!(body_of("d=a%5Cnb%5C%5Cnc%5Cd"), Some("a\nb\\nc\\d".to_owned()));
        assert_eq!(body_of("d="), Some(String::new()));
        assert_eq!(body_of("x=1"), None);
    }
}
