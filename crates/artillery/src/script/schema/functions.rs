//! The keys of what calls functions of the processor.

use super::area::{Area, Others, key, tags};
use super::turns::{ABOUT_IF_TRUE, EXAMPLE_IF_TRUE, IF_TRUE};

pub(super) const FUNCTIONS: &str = "the name of a function of the processor, or a list of them";

pub(crate) const FUNCTION_STEP: Area = Area {
    name: "a function step",
    path: "flow[]: function",
    others: Others::Ignored,
    keys: &[
        key(
            "function",
            "the name of a function of the processor",
            "loadUser",
            "Calls it, and waits until it is done.",
        ),
        key("name", "a text", "log in", "Name of the step in the report.").label(),
        tags(),
        key("ifTrue", IF_TRUE, EXAMPLE_IF_TRUE, ABOUT_IF_TRUE),
        key("probability", "a percentage, 0 to 100", "50", "Share of users that do the step."),
    ],
};
