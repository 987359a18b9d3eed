//! The keys of steps that say when, how often and whether others are done.

use super::area::{Area, Others, SECONDS, SECONDS_OR_RATE, key};

pub(super) const IF_TRUE: &str = "an expression over variables, or the name of a function";
pub(super) const ABOUT_IF_TRUE: &str = "Skips the step unless it holds.";
pub(super) const EXAMPLE_IF_TRUE: &str = "\"tries < 3 and not done\"";

pub(crate) const THINK: Area = Area {
    name: "a think step",
    path: "flow[]: think",
    others: Others::Ignored,
    keys: &[
        key(
            "think",
            "a time: seconds, or a text like \"500ms\", \"2s\"",
            "1",
            "Pauses; {{ variables }} are seconds.",
        ),
        key("jitter", "milliseconds, or a percentage", "\"20%\"", "Spreads the pause evenly by ± this."),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, ABOUT_IF_TRUE),
        key("name", "a text", "read", "Shown nowhere.").label(),
    ],
};

pub(crate) const LOG: Area = Area {
    name: "a log step",
    path: "flow[]: log",
    others: Others::Ignored,
    keys: &[
        key("log", "a text", "\"got {{ token }}\"", "Prints a line."),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, ABOUT_IF_TRUE),
    ],
};

pub(crate) const LOOP: Area = Area {
    name: "a loop",
    path: "flow[]: loop",
    others: Others::Ignored,
    keys: &[
        key(
            "loop",
            "a list of steps",
            "[{think: 1}]",
            "Repeats steps; without count, over or whileTrue indefinitely.",
        ),
        key(
            "count",
            "a whole number, or a range",
            "\"9-12\"",
            "How often; of a range up to, and without, its second number. 0: indefinitely.",
        ),
        key(
            "over",
            "a list, or the name of a variable that is one",
            "friends",
            "Once per element; {{ $loopElement }} is the element.",
        ),
        key("whileTrue", IF_TRUE, "more", "Again while it holds, looked at after each time."),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, "Skips the whole loop unless it holds."),
        key("loopValue", "a variable name", "n", "Another name of $loopCount."),
        key("loopElement", "a variable name", "friend", "Another name of $loopElement."),
        key(
            "pace",
            SECONDS_OR_RATE,
            "1",
            "Iteration n is due n × this after the first one, however late the one before ended. `20/s` is every 50 \
             ms, `30/m` every 2 s, for each user. (Sonagi's own.)",
        ),
        key(
            "phase",
            SECONDS,
            "0",
            "How long after the loop began its first iteration is due; by default a random part of `pace`, so that \
             users do not fall into step with each other or with the target's stalls. `phase: 0`: at once. (Sonagi's \
             own.)",
        ),
        key("name", "a text", "talk", "Shown nowhere.").label(),
    ],
};

pub(crate) const PARALLEL: Area = Area {
    name: "parallel",
    path: "flow[]: parallel",
    others: Others::Ignored,
    keys: &[
        key(
            "parallel",
            "a list of steps",
            "[{get: {url: /a}}, {get: {url: /b}}]",
            "Begins all steps at once and goes on when the last one has ended: requests, think, log, function, loop \
             and parallel. The first that fails fails the user.",
        ),
        key("limit", "a whole number of steps", "5", "So many at a time; 100 by default."),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, "Skips all of them unless it holds."),
        key("name", "a text", "load the page", "Shown nowhere.").label(),
    ],
};
