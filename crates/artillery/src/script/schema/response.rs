//! The keys of what is sent as a form, and of what is looked for and expected in an answer.

use super::area::{Area, Others, ignored, key, refused};

const NO_TRANSFORM: &str = "expressions of JavaScript are not evaluated";

pub(crate) const FORM_PART: Area = Area {
    name: "a part of a form",
    path: "flow[].post.formData.<name>",
    others: Others::Ignored,
    keys: &[
        key("value", "any value", "rain", "The content of the part; an object or a list as JSON."),
        key(
            "fromFile",
            "the path of a file, relative to the script",
            "./photo.png",
            "A file that is the part; read once, when the script is, and at most 64 MiB.",
        ),
        key(
            "contentType",
            "a media type",
            "image/png",
            "The part's content type; for a file, by default that of its name's ending.",
        ),
    ],
};

pub(crate) const EXPECT_PLUGIN: Area = Area {
    name: "config.plugins.expect",
    path: "config.plugins.expect",
    others: Others::Ignored,
    keys: &[
        key(
            "expectDefault200",
            "true or false",
            "true",
            "Whether a request of a scenario without an `expect` expects a 200.",
        ),
        key(
            "reportFailuresAsErrors",
            "true or false",
            "true",
            "Whether an expectation that does not hold fails the user, too.",
        ),
        ignored("useOnlyRequestNames", ""),
        ignored("formatter", ""),
        ignored("outputFormat", ""),
    ],
};

pub(crate) const EXPECTED: Area = Area {
    name: "an HTTP step's expect",
    path: "flow[].get.expect",
    others: Others::Unjudged,
    keys: &[
        key("statusCode", "a status or a list of them", "200", "The status is one of these."),
        key("notStatusCode", "a status or a list of them", "500", "The status is none of these."),
        key(
            "contentType",
            "a media type, or `json`",
            "json",
            "The Content-Type is this; `json`: one of JSON, and the body is a JSON object or list.",
        ),
        key(
            "hasProperty",
            "a path",
            "user.rooms[0].id",
            "The body, a JSON object or list, has something there, be it null.",
        ),
        key("notHasProperty", "a path", "error", "The body, a JSON object or list, has nothing there."),
        key("equals", "a list of texts", "[\"{{ id }}\", \"7\"]", "They are all the same."),
        key("hasHeader", "the name of a header", "x-request-id", "The response has it."),
        key(
            "headerEquals",
            "a list of a header's name and its value",
            "[content-type, text/html]",
            "The header has this value.",
        ),
        key("matchesRegexp", "a regular expression", "\"^ok\"", "It is found in the body."),
        key(
            "cdnHit",
            "true or false",
            "true",
            "The response came from the cache of a content delivery network; false: it did not.",
        ),
        key("jmespath", "a JMESPath", "user.id", "Its value in the body, JSON, is truthy."),
        key("jpath", "a JMESPath", "user.id", "The same as `jmespath`."),
        key("description", "a text", "has a user", "The expectation of `jmespath`, in words.").label(),
        ignored("notEquals", "the plugin does not know it"),
    ],
};

pub(crate) const CAPTURE: Area = Area {
    name: "a capture",
    path: "capture",
    others: Others::Ignored,
    keys: &[
        key("json", "a JSONPath", "$.token", JSON),
        key("regexp", "a regular expression", "\"id=([0-9]+)\"", REGEXP),
        key("group", "the number or name of a group", "1", GROUP),
        key("flags", "any of the letters i, m, s, g, u", "i", "Flags of the regular expression."),
        key("header", "the name of a header", "x-request-id", HEADER),
        key("selector", "a CSS selector", "\"input[name=csrf]\"", SELECTOR),
        key("attr", "the name of an attribute", "value", ATTR),
        key("index", "`first`, `last`, `random` or a whole number from 0", "last", INDEX),
        key("xpath", "an XPath", "//user/@id", XPATH),
        key(
            "as",
            "a variable name",
            "token",
            "The variable that gets the value; `user.id`: the member `id` of `user`.",
        ),
        key(
            "strict",
            "true or false",
            "false",
            "false: finding nothing does not fail the user, and leaves an empty text. true by default.",
        ),
        key(
            "multiple",
            "true or false",
            "false",
            "When a `json` selects several values: true picks one at random; false takes all, as a list. true by \
             default.",
        ),
        refused("transform", NO_TRANSFORM, "capture the part you need with `regexp`"),
    ],
};

const JSON: &str = "Where the value is in a JSON answer; of several one is picked at random.";
const REGEXP: &str = "Where the value is in the text of an answer.";
const GROUP: &str = "Which group of the expression; all that it matches by default.";
const HEADER: &str = "A header of the response; `set-cookie` is a list.";
const SELECTOR: &str = "An element of an HTML answer: of its attributes, `attr` is the value.";
const ATTR: &str = "The attribute of the element; without it all of them, by name.";
const INDEX: &str = "Which of the elements that are found; the first by default.";
const XPATH: &str = "The text of the first node it selects in an XML answer, or what it computes.";

pub(crate) const MATCH: Area = Area {
    name: "a match",
    path: "match",
    others: Others::Ignored,
    keys: &[
        key("json", "a JSONPath", "$.ok", JSON),
        key("regexp", "a regular expression", "\"id=([0-9]+)\"", REGEXP),
        key("group", "the number or name of a group", "1", GROUP),
        key("flags", "any of the letters i, m, s, g, u", "i", "Flags of the regular expression."),
        key("header", "the name of a header", "content-type", HEADER),
        key("selector", "a CSS selector", "\"input[name=csrf]\"", SELECTOR),
        key("attr", "the name of an attribute", "value", ATTR),
        key("index", "`first`, `last`, `random` or a whole number from 0", "last", INDEX),
        key("xpath", "an XPath", "//user/@id", XPATH),
        key("value", "a plain value", "true", "The value it must have, compared as text."),
        key("strict", "true or false", "false", "false: a mismatch does not fail the user. true by default."),
    ],
};
