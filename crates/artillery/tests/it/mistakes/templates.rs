//! Mistakes in templates.

use super::{Case, check, http};

#[test]
fn mistakes_in_templates_are_placed_and_explained() {
    check(&CASES);
}

const CASES: [Case; 20] = [
    (
        http,
        "    - get: {url: \"/{{ token }}\"}\n",
        &[
            r#"7:23: nothing sets the variable "token" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: $.t, as: token}}\n    - get: {url: \"/é/{{ tokn }}\"}\n",
        &[r#"8:25: nothing sets the variable "tokn" | did you mean {{ token }}?"#],
    ),
    (
        http,
        "    - get: {url: \"/{{ $randomInt(1, 2) }}\"}\n",
        &["7:23: there is no template function $randomInt | write {{ $randomNumber(1, 100) }}"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $randmString(2) }}\"}\n",
        &["7:23: there is no template function $randmString | did you mean {{ $randomString(10) }}?"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $randomNumber(1, 2, 3) }}\"}\n",
        &["7:23: $randomNumber wants 0 to 2 arguments; got 3 | write {{ $randomNumber(1, 100) }}"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $randomNumber(9, 1) }}\"}\n",
        &["7:23: $randomNumber wants the smaller number first; got 9, 1"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $randomString }}\"}\n",
        &["7:23: $randomString is a function and needs its parentheses | write {{ $randomString(10) }}"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $env.PORT || '80' }}\"}\n",
        &[
            "7:23: templates have no defaults: `||` in `$env.PORT || '80'` | set PORT when you run it, or write '80' in an environment and choose it with -e",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ page || 1 }}\"}\n",
        &[
            "7:23: templates have no defaults: `||` in `page || 1` | put the default in `config.variables`: `page: 1`",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ n + 1 }}\"}\n",
        &[
            "7:23: templates have no expressions: `+` in `n + 1` | a template holds one name; capture or load the value in the form you need it",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ a ? b : c }}\"}\n",
        &[
            "7:23: templates have no expressions: `?` in `a ? b : c` | a template holds one name; capture or load the value in the form you need it",
        ],
    ),
    (http, "    - get: {url: \"/{{ }}\"}\n", &["7:23: an empty template: `{{ }}` needs a name"]),
    (http, "    - get: {url: \"/{{ a\"}\n", &["7:20: `{{` without `}}`"]),
    (
        http,
        "    - get: {url: \"/{{ a b }}\"}\n",
        &["7:23: `a b` is not a valid variable name: a path looks like `friends[0].id`"],
    ),
    (
        http,
        "    - get: {url: \"/{{ Math.random() }}\"}\n",
        &[
            "7:23: `Math.random()` is not a valid variable name: a template holds one name, or a function like $randomNumber(1, 9)",
        ],
    ),
    (http, "    - get: {url: \"/{{ $loopCount }}\"}\n", &["7:23: $loopCount outside a loop has no value"]),
    (
        http,
        "    - loop: [{get: {url: \"/{{ $loopElement }}\"}}]\n      count: 2\n",
        &["7:31: $loopElement outside a loop over a list has no value | add `over:` beside `loop:`"],
    ),
    (
        http,
        "    - get: {url: \"/{{ $stamp }}\"}\n",
        &[
            "7:23: $stamp marks a message that is sent; this text is none | put it into the payload of a `send` or `emit` step",
        ],
    ),
    (
        http,
        "    - post: {url: /, json: {\"{{ a }}\": 1}}\n",
        &[
            r#"7:29: nothing sets the variable "a" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ a + 1 }}/{{ $nope }}/{{ missing }}\"}\n",
        &[
            "7:23: templates have no expressions: `+` in `a + 1` | a template holds one name; capture or load the value in the form you need it",
            "7:35: there is no template function $nope | functions are $randomNumber, $randomString, $uuid, $loopCount, $loopElement, $stamp, $now, $user, $cursor, $quotient, $remainder",
            r#"7:47: nothing sets the variable "missing" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
];
