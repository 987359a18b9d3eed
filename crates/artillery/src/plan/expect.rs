//! What a step expects of its response. One that does not hold is counted; its user goes on, unless the script says otherwise.

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

/// One thing a step expects.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What it is counted as, e.g. `statusCode`. The kind of [`Demand::HeaderValue`] has the header's name in it.
    pub kind: &'static str,
    /// What must hold.
    pub demand: Demand,
}

/// What must hold of a response.
#[derive(Clone, Debug)]
pub enum Demand {
    /// Its status is one of these; `negated`: none of them.
    Status {
        /// Those that are known.
        fixed: Vec<u16>,
        /// Those that only the user knows: the numbers in these texts.
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
    /// It has this header, and not an empty one.
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
        /// What is looked for, for a reader.
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
