//! Expectations of a step about its response. A failed one is counted; its user goes on, unless the script says
//! otherwise.

use super::source::Source;
use super::template::Template;

/// All a step expects.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// Each is looked at, whatever came of the ones before.
    pub all: Vec<Expectation>,
    /// Whether one that does not hold fails the user.
    pub fails_user: bool,
}

/// An expectation of a step.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The name it is counted under, e.g. `statusCode`. The name for [`Demand::HeaderValue`] contains the header's
    /// name.
    pub kind: &'static str,
    /// The demand that must hold.
    pub demand: Demand,
}

/// A demand on a response.
#[derive(Clone, Debug)]
pub enum Demand {
    /// Its status is one of these; `negated`: none of them.
    Status {
        /// The statuses known beforehand.
        fixed: Vec<u16>,
        /// The statuses that only the user knows: the numbers in these texts.
        open: Vec<Template>,
        /// Whether it must be none of them.
        negated: bool,
    },
    /// Its Content-Type is this; `json`: one of JSON's, and its body is a JSON object or list.
    ContentType(Template),
    /// Its body, JSON, has something at this path (`user.rooms[0].id`), be it null; `negated`: it has nothing there.
    Property {
        /// The path.
        path: Template,
        /// Whether there must be nothing.
        negated: bool,
    },
    /// These texts are all the same.
    Equal(Vec<Template>),
    /// The response has this header, and it is not empty.
    Header(Template),
    /// The header has this value.
    HeaderValue {
        /// Its name.
        name: Template,
        /// All of its value.
        value: Template,
    },
    /// Something is found there, and it is truthy.
    Found {
        /// The search text, for messages.
        shown: String,
        /// Where.
        from: Source,
    },
    /// A header of a content delivery network says that the response came from its cache; `false`: that it did not.
    CacheHit(bool),
}

impl Expectations {
    /// Whether the response's headers have to be kept.
    pub(crate) fn look_at_headers(&self) -> bool {
        self.all.iter().any(|expectation| match &expectation.demand {
            Demand::Status { .. } | Demand::Equal(_) => false,
            Demand::ContentType(_)
            | Demand::Property { .. }
            | Demand::Header(_)
            | Demand::HeaderValue { .. }
            | Demand::Found { .. }
            | Demand::CacheHit(_) => true,
        })
    }

    /// Whether one of them says which status there should be.
    pub(crate) fn name_a_status(&self) -> bool {
        self.all.iter().any(|expectation| matches!(expectation.demand, Demand::Status { negated: false, .. }))
    }

    /// Whether its body has to be kept.
    pub(crate) fn look_at_body(&self) -> bool {
        self.all.iter().any(|expectation| {
            let demand = &expectation.demand;
            matches!(demand, Demand::ContentType(_) | Demand::Property { .. } | Demand::Found { .. })
        })
    }
}
