//! Requests, captures and expectations: a wrong use of every key.

use super::{Case, check, config, http};

const FORMS: &[Case] = &[
    (
        http,
        "    - post: {url: /, form: {a: {b: 1}}}\n",
        &[
            "7:32: a in form wants a text or a list of them; got a mapping | names can have brackets: `\"a[key]\": value`",
        ],
    ),
    (
        http,
        "    - post: {url: /, qs: {a: [[1]]}}\n",
        &["7:31: a in qs wants a text or a list of them; got a list of 1"],
    ),
    (
        http,
        "    - post: {url: /, form: x}\n",
        &[
            "7:28: form wants a mapping of names to texts or lists of them; got the text \"x\" | e.g. `form: {user: ada}`",
        ],
    ),
    (
        http,
        "    - post: {url: /, formData: [a]}\n",
        &[
            "7:32: formData wants a mapping of names to texts or parts; got a list of 1 | e.g. `formData: {title: rain, photo: {fromFile: ./photo.png}}`",
        ],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: [1]}}\n",
        &["7:36: a in formData wants a text or a list of them; got a list of 1"],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {fromfile: x}}}\n",
        &["7:37: unknown key \"fromfile\" in a part of a form | did you mean \"fromFile\"?"],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {contentType: x/y}}}\n",
        &["7:36: a part of a form needs a value or a file | add `fromFile: photo.png`, or `value:`"],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {fromFile: users.csv, value: 1}}}\n",
        &["7:58: a part of a form is a value or a file; this one has fromFile and value"],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {fromFile: none.png}}}\n",
        &[
            "7:47: cannot read the file none.png: No such file or directory (os error 2) | its path is relative to the script's folder",
        ],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {fromFile: [x]}}}\n",
        &[
            "7:47: fromFile wants the path of a file, relative to the script; got a list of 1 | e.g. `fromFile: ./photo.png`",
        ],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: {value: x, contentType: [y]}}}\n",
        &["7:60: contentType wants a media type; got a list of 1 | e.g. `contentType: image/png`"],
    ),
    (
        http,
        "    - post: {url: /, form: {a: 1}, formData: {a: 1}}\n",
        &["7:36: a request has one body; this one has form and formData"],
    ),
    (http, "    - get: {url: /, gzip: 5}\n", &["7:27: gzip wants true or false; got 5 | e.g. `gzip: true`"]),
];

const CAPTURES: &[Case] = &[
    (
        http,
        "    - get: {url: /, capture: {selector: 'a[', as: b}}\n",
        &[
            "7:41: `a[` is no CSS selector | selectors are those of CSS: `a.next`, `form#login input[name=\"csrf\"]`",
        ],
    ),
    (
        http,
        "    - get: {url: /, capture: {selector: a, atr: href, as: b}}\n",
        &["7:44: unknown key \"atr\" in a capture | did you mean \"attr\"?"],
    ),
    (
        http,
        "    - get: {url: /, capture: {selector: a, attr: [b], as: b}}\n",
        &["7:50: attr wants the name of an attribute; got a list of 1 | e.g. `attr: value`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {selector: a, index: third, as: b}}\n",
        &[
            "7:51: index wants `first`, `last`, `random` or a whole number from 0; got the text \"third\" | e.g. `index: last`",
        ],
    ),
    (
        http,
        "    - get: {url: /, capture: {xpath: '//a[', as: b}}\n",
        &["7:38: `//a[` is no XPath | expressions are those of XPath 1.0: `//user/@id`, `string(//title)`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: $.a, multiple: maybe, as: b}}\n",
        &["7:52: multiple wants true or false; got the text \"maybe\" | e.g. `multiple: false`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {regexp: a, group: [1], as: b}}\n",
        &["7:49: group wants the number or name of a group; got a list of 1 | e.g. `group: 1`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: '$.a.^', as: b}}\n",
        &[
            "7:37: `$.a.^` is no JSONPath (RFC 9535) | `^` and `~` are not of the standard: capture what is around it, and reach into it with a template",
        ],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: '$.a[{{ nobody }}]', as: b}}\n",
        &[
            "7:45: nothing sets the variable \"nobody\" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`",
        ],
    ),
];

const EXPECTATIONS: &[Case] = &[
    (
        http,
        "    - get: {url: /, expect: {statusCod: 200}}\n",
        &["7:30: unknown key \"statusCod\" in an HTTP step's expect | did you mean \"statusCode\"?"],
    ),
    (
        http,
        "    - get: {url: /, expect: {notStatusCode: [200, 2xx]}}\n",
        &[
            "7:51: notStatusCode wants a status from 100 to 599; got the text \"2xx\" | e.g. `notStatusCode: 500`",
        ],
    ),
    (
        http,
        "    - get: {url: /, expect: {contentType: [a]}}\n",
        &["7:43: contentType wants a media type, or `json`; got a list of 1 | e.g. `contentType: json`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {hasProperty: [a]}}\n",
        &["7:43: hasProperty wants a path; got a list of 1 | e.g. `hasProperty: user.rooms[0].id`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {notHasProperty: {}}}\n",
        &["7:46: notHasProperty wants a path; got a mapping | e.g. `notHasProperty: error`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {equals: a}}\n",
        &["7:38: equals wants a list of texts; got the text \"a\" | e.g. `equals: [\"{{ id }}\", \"7\"]`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {hasHeader: []}}\n",
        &["7:41: hasHeader wants the name of a header; got a list of 0 | e.g. `hasHeader: x-request-id`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {headerEquals: [a]}}\n",
        &[
            "7:44: headerEquals wants a list of a header's name and its value; got a list of 1 | e.g. `headerEquals: [content-type, text/html]`",
        ],
    ),
    (
        http,
        "    - get: {url: /, expect: {matchesRegexp: '('}}\n",
        &["7:45: not a regular expression: unclosed group"],
    ),
    (
        http,
        "    - get: {url: /, expect: {cdnHit: 5}}\n",
        &["7:38: cdnHit wants true or false; got 5 | e.g. `cdnHit: true`"],
    ),
    (
        http,
        "    - get: {url: /, expect: {jmespath: 'a.'}}\n",
        &[
            "7:40: `a.` is no JMESPath: Parse error: Expected identifier, '*', '{', '[', '&', or '[?' -- found Eof | paths look like user.id, rooms[0].id",
        ],
    ),
    (
        http,
        "    - get: {url: /, expect: {jpath: [a]}}\n",
        &["7:37: jpath wants a JMESPath; got a list of 1 | e.g. `jpath: user.id`"],
    ),
    (
        config,
        "  plugins: {expect: {expectDefault200: yes please}}\n",
        &[
            "4:40: expectDefault200 wants true or false; got the text \"yes please\" | e.g. `expectDefault200: true`",
        ],
    ),
    (
        config,
        "  plugins: {expect: {reportFailuresAsErrors: 5}}\n",
        &["4:46: reportFailuresAsErrors wants true or false; got 5 | e.g. `reportFailuresAsErrors: true`"],
    ),
    (
        config,
        "  plugins: {expect: {reportFailuresAsError: true}}\n",
        &[
            "4:22: unknown key \"reportFailuresAsError\" in config.plugins.expect | did you mean \"reportFailuresAsErrors\"?",
        ],
    ),
];

#[test]
fn forms_are_what_they_are_said_to_be() {
    check(FORMS);
}

#[test]
fn captures_say_where_a_value_is() {
    check(CAPTURES);
}

#[test]
fn expectations_are_known_and_complete() {
    check(EXPECTATIONS);
}
