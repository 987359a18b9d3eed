//! Which metrics a test has.

use super::{Contains, Kind, MetricId};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: Arc<str>,
    /// What it does with its samples.
    pub kind: Kind,
    /// What its values are.
    pub contains: Contains,
}

/// The samples of a metric that have certain tags: what a threshold on `http_reqs{status:200}` is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Submetric {
    /// Whose samples they are.
    pub parent: MetricId,
    /// `http_reqs{status:200}`.
    pub name: Arc<str>,
    /// `status:200`: between the braces, as it was written.
    pub suffix: Arc<str>,
    /// Tags and the values they must have.
    pub tags: Arc<[(String, String)]>,
}

/// Why a script may not have a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its name is none.
    #[error(
        "'{0}' is no name for a metric: a letter or underscore comes first, then at least one and at most 128 ASCII letters, digits or underscores"
    )]
    Name(String),
    /// There is one of the name that counts otherwise.
    #[error("metric '{name}' already exists, as a {}, and cannot be a {} as well", .exists.name(), .wanted.name())]
    Kind {
        /// The name.
        name: String,
        /// What it is.
        exists: Kind,
        /// What it should be.
        wanted: Kind,
    },
    /// There is one of the name whose values are something else.
    #[error("metric '{name}' already exists, with values of type {}, and cannot have values of type {}", .exists.name(), .wanted.name())]
    Contains {
        /// The name.
        name: String,
        /// What its values are.
        exists: Contains,
        /// What they should be.
        wanted: Contains,
    },
}

/// Why a name with braces names no sub-metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unnamed {
    /// There is no such metric.
    #[error("there is no metric named \"{0}\"")]
    Unknown(String),
    /// One brace is without the other.
    #[error("\"{0}\" has one curly brace without the other")]
    Braces(String),
    /// Something comes after the tags.
    #[error("\"{0}\" does not end with its closing curly brace")]
    Trailing(String),
    /// A tag is not `name:value`.
    #[error("\"{tag}\" in \"{name}\" is no tag: write name:value, with commas between")]
    Tag {
        /// The whole name.
        name: String,
        /// The part that is no tag.
        tag: String,
    },
}

/// All metrics of a test and the sub-metrics its thresholds name; shared by all threads. It is read when a set of tags meets a
/// metric for the first time and when a script's init code runs, never per sample.
#[derive(Debug)]
pub struct Registry(RwLock<Known>);

#[derive(Debug)]
struct Known {
    metrics: Vec<Metric>,
    by_name: HashMap<Arc<str>, MetricId>,
    submetrics: Vec<Submetric>,
}

impl Registry {
    /// The built-in metrics, and the one sub-metric every summary has: the durations of requests that went as expected.
    pub fn new() -> Registry {
        let metrics: Vec<Metric> = builtin::ALL
            .iter()
            .map(|(name, kind, contains)| Metric { name: Arc::from(*name), kind: *kind, contains: *contains })
            .collect();
        let by_name =
            metrics.iter().zip(0..).map(|(metric, id)| (metric.name.clone(), MetricId(id))).collect();
        let registry = Registry(RwLock::new(Known { metrics, by_name, submetrics: Vec::new() }));
        registry.submetric(builtin::EXPECTED_DURATION).expect("it is one of a built-in metric");
        registry
    }

    /// A script's own metric; the same one again when the script (another user's copy of it) asks again.
    ///
    /// # Errors
    /// As k6: the name must be one, and a metric of this name must be of this kind.
    pub fn add(&self, name: &str, kind: Kind, contains: Contains) -> Result<MetricId, Refused> {
        if !is_name(name) {
            return Err(Refused::Name(name.to_owned()));
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = known.by_name.get(name) {
            let Metric { kind: exists, contains: holds, .. } = known.metrics[id.index()];
            if exists != kind {
                return Err(Refused::Kind { name: name.to_owned(), exists, wanted: kind });
            }
            if holds != contains {
                return Err(Refused::Contains { name: name.to_owned(), exists: holds, wanted: contains });
            }
            return Ok(id);
        }
        let id = MetricId(u32::try_from(known.metrics.len()).expect("a script has fewer than 2³² metrics"));
        let name: Arc<str> = Arc::from(name);
        known.metrics.push(Metric { name: name.clone(), kind, contains });
        known.by_name.insert(name, id);
        Ok(id)
    }

    /// The sub-metric of this name (`http_reqs{status:200}`), made if it is new; its place in [`Registry::submetrics`]. All must
    /// be known before the first sample: a set of tags is matched with them once.
    ///
    /// # Errors
    /// When there is no such metric, or the part in braces is malformed.
    pub fn submetric(&self, name: &str) -> Result<usize, Unnamed> {
        let (metric, suffix) = split(name)?;
        let tags = suffix.map_or_else(|| Ok(Vec::new()), |suffix| tags_of(name, suffix))?;
        let unknown = || Unnamed::Unknown(name.to_owned());
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let parent = *known.by_name.get(metric).ok_or_else(unknown)?;
        let suffix = suffix.ok_or_else(unknown)?.trim();
        let same = |other: &Submetric| {
            other.parent == parent
                && other.tags.len() == tags.len()
                && tags.iter().all(|tag| other.tags.contains(tag))
        };
        if let Some(at) = known.submetrics.iter().position(same) {
            return Ok(at);
        }
        let name = Arc::from(format!("{metric}{{{suffix}}}"));
        known.submetrics.push(Submetric { parent, name, suffix: Arc::from(suffix), tags: tags.into() });
        Ok(known.submetrics.len() - 1)
    }

    /// The metric of this name.
    pub fn get(&self, name: &str) -> Option<MetricId> {
        self.read().by_name.get(name).copied()
    }

    /// What a metric is.
    pub fn metric(&self, id: MetricId) -> Metric {
        self.read().metrics[id.index()].clone()
    }

    /// All metrics; a metric's place is its id.
    pub fn metrics(&self) -> Vec<Metric> {
        self.read().metrics.clone()
    }

    /// All metrics with their ids.
    pub fn each(&self) -> Vec<(MetricId, Metric)> {
        self.metrics().into_iter().zip(0..).map(|(metric, id)| (MetricId(id), metric)).collect()
    }

    /// All sub-metrics, in the order they were named.
    pub fn submetrics(&self) -> Vec<Submetric> {
        self.read().submetrics.clone()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    // k6 counts the first letter apart from the 128.
    (2..=129).contains(&bytes.len())
        && !bytes[0].is_ascii_digit()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// A threshold's metric: its name, and what stands in braces.
pub(super) fn split(name: &str) -> Result<(&str, Option<&str>), Unnamed> {
    match (name.find('{'), name.find('}')) {
        (None, None) => Ok((name, None)),
        (Some(open), Some(_)) if name.ends_with('}') && open > 0 => {
            Ok((&name[..open], Some(&name[open + 1..name.len() - 1])))
        }
        (Some(0), Some(_)) => Err(Unnamed::Unknown(name.to_owned())),
        (Some(_), Some(_)) => Err(Unnamed::Trailing(name.to_owned())),
        _ => Err(Unnamed::Braces(name.to_owned())),
    }
}

/// `a:b, "c":"d e"`; quotes and blanks around a name or value are not part of it.
fn tags_of(name: &str, suffix: &str) -> Result<Vec<(String, String)>, Unnamed> {
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    suffix
        .split(',')
        .map(|tag| match tag.split_once(':') {
            Some((key, value)) if !bare(key).is_empty() && !bare(value).is_empty() => {
                Ok((bare(key), bare(value)))
            }
            _ => Err(Unnamed::Tag { name: name.to_owned(), tag: tag.trim().to_owned() }),
        })
        .collect()
}

/// The metrics every test has.
pub mod builtin {
    use super::super::Contains::{Data, Default, Time};
    use super::super::Kind::{Counter, Gauge, Rate, Trend};
    use super::{Contains, Kind, MetricId};

    /// How many there are.
    pub(in super::super) const COUNT: usize = ALL.len();

    /// The sub-metric every summary has.
    pub const EXPECTED_DURATION: &str = "http_req_duration{expected_response:true}";

    macro_rules! metrics {
        ($($number:literal $id:ident $name:literal $kind:ident $contains:ident;)*) => {
            $(#[doc = concat!("`", $name, "`")] pub const $id: MetricId = MetricId($number);)*
            /// Name, kind and values of each, at its number.
            pub(super) const ALL: &[(&str, Kind, Contains)] = &[$(($name, $kind, $contains)),*];
        };
    }
    metrics! {
        0 VUS "vus" Gauge Default;
        1 VUS_MAX "vus_max" Gauge Default;
        2 ITERATIONS "iterations" Counter Default;
        3 ITERATION_DURATION "iteration_duration" Trend Time;
        4 DROPPED_ITERATIONS "dropped_iterations" Counter Default;
        5 CHECKS "checks" Rate Default;
        6 GROUP_DURATION "group_duration" Trend Time;
        7 HTTP_REQS "http_reqs" Counter Default;
        8 HTTP_REQ_FAILED "http_req_failed" Rate Default;
        9 HTTP_REQ_DURATION "http_req_duration" Trend Time;
        10 HTTP_REQ_BLOCKED "http_req_blocked" Trend Time;
        11 HTTP_REQ_CONNECTING "http_req_connecting" Trend Time;
        12 HTTP_REQ_TLS_HANDSHAKING "http_req_tls_handshaking" Trend Time;
        13 HTTP_REQ_SENDING "http_req_sending" Trend Time;
        14 HTTP_REQ_WAITING "http_req_waiting" Trend Time;
        15 HTTP_REQ_RECEIVING "http_req_receiving" Trend Time;
        16 WS_SESSIONS "ws_sessions" Counter Default;
        17 WS_MSGS_SENT "ws_msgs_sent" Counter Default;
        18 WS_MSGS_RECEIVED "ws_msgs_received" Counter Default;
        19 WS_PING "ws_ping" Trend Time;
        20 WS_SESSION_DURATION "ws_session_duration" Trend Time;
        21 WS_CONNECTING "ws_connecting" Trend Time;
        22 GRPC_REQ_DURATION "grpc_req_duration" Trend Time;
        23 DATA_SENT "data_sent" Counter Data;
        24 DATA_RECEIVED "data_received" Counter Data;
    }
}
