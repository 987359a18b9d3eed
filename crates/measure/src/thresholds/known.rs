//! The names a run measures by itself, and which of them a misspelt one was meant to be.
//!
//! Functions of a script may add names of their own; so what is refused here is refused only where there are none.

use super::ParseError;

/// A family of names: the words behind its first dot.
struct Family {
    name: &'static str,
    /// Single figures, and groups whose members hang on the run.
    figures: &'static [&'static str],
    /// Distributions: behind them stands which figure of it.
    distributions: &'static [&'static str],
}

const FAMILIES: [Family; 10] = [
    Family {
        name: "delivery",
        figures: &[
            "messages",
            "owed",
            "delivered",
            "late",
            "replayed",
            "lost",
            "lost_own",
            "outstanding",
            "duplicate",
            "reordered",
            "leaked",
            "unknown",
            "settling",
            "foreign",
            "negative",
            "ratio",
            "deadline_ms",
        ],
        distributions: &["latency_ms", "replay_latency_ms"],
    },
    Family {
        name: "vusers",
        figures: &["created", "completed", "failed", "skipped", "created_by_name"],
        distributions: &["session_length"],
    },
    Family {
        name: "http",
        figures: &["requests", "responses", "downloaded_bytes", "codes", "request_rate"],
        distributions: &["response_time", "dns", "tcp", "tls", "total"],
    },
    Family {
        name: "websocket",
        figures: &["messages_sent", "messages_received", "send_rate", "receive_rate"],
        distributions: &[],
    },
    Family { name: "socketio", figures: &["emit", "emit_rate"], distributions: &["response_time"] },
    Family {
        name: "users",
        figures: &[
            "planned",
            "started",
            "missed",
            "skipped",
            "completed",
            "failed",
            "stopped",
            "operations_cut",
            "active",
            "peak",
            "connected_peak",
            "wanted",
        ],
        distributions: &["session_ms"],
    },
    Family {
        name: "traffic",
        figures: &[
            "messages_sent",
            "messages_received",
            "bytes_sent",
            "bytes_received",
            "http_requests",
            "http_responses",
            "http_bytes_received",
            "connections_opened",
            "websocket_sent",
            "websocket_received",
            "socketio_emits",
            "socketio_received",
            "polls",
            "polls_empty",
            "polls_received",
            "sse_received",
            "stomp_sent",
            "stomp_received",
            "connections_lost",
            "reconnects",
            "reconnects_failed",
        ],
        distributions: &[],
    },
    Family {
        name: "generator",
        figures: &[
            "achieved_ratio",
            "busiest_core",
            "cpu_s",
            "cpu_wait_s",
            "cpu_pressure",
            "resident_peak_mb",
            "open_files_peak",
            "open_files_limit",
            "shards",
        ],
        distributions: &["send_lag_ms", "hiccup_ms"],
    },
    Family { name: "statuses", figures: &["answers", "errors", "expected", "codes"], distributions: &[] },
    Family { name: "duration_s", figures: &[], distributions: &[] },
];

/// Families whose members hang on the run.
const OPEN: [&str; 16] = [
    "errors",
    "operations",
    "kinds",
    "http_codes",
    "http_answers_ms",
    "http_classes",
    "scenarios",
    "plugins",
    "expectations",
    "apdex",
    "polls",
    "sse",
    "stomp",
    "connections",
    "reconnects",
    "service",
];

/// The figures of a distribution.
const QUANTILES: [&str; 11] =
    ["min", "max", "count", "mean", "p50", "median", "p75", "p90", "p95", "p99", "p999"];

/// Times of answers by the first digit of their statuses.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name).chain(OPEN)
}

/// Whether a run may measure this by itself.
pub(super) fn is_ours(name: &str) -> bool {
    let family = name.split('.').next().unwrap_or_default();
    families().any(|known| known == family)
}

/// Refuses names that are obviously misspelt: near that of a family, or of a family that has no such member.
pub(super) fn check(name: &str, offset: usize) -> Result<(), ParseError> {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    let wrong = |hint: String| {
        let what = format!("`{name}` is not a metric");
        Err(ParseError { what, offset, hint: Some(hint), metric: Some(name.to_owned()) })
    };
    let did_you_mean = |right: String| wrong(format!("did you mean `{right}`?"));
    let Some(family) = FAMILIES.iter().find(|family| family.name == first) else {
        // Artillery's plugins and scripts add families of their own; only near misses are refused.
        return match nearest(families(), first).filter(|_| !OPEN.contains(&first)) {
            Some(near) => did_you_mean(name.replacen(first, near, 1)),
            None => Ok(()),
        };
    };
    let (field, rest) = rest.split_once('.').unwrap_or((rest, ""));
    let members = || family.figures.iter().chain(family.distributions).copied();
    if family.figures.contains(&field) || (field.is_empty() && members().next().is_none()) {
        return Ok(());
    }
    if !family.distributions.contains(&field) {
        return match nearest(members(), field) {
            Some(near) => did_you_mean(name.replacen(field, near, 1)),
            None => wrong(format!("there are: {}", members().collect::<Vec<_>>().join(", "))),
        };
    }
    let figure = match rest.split_once('.') {
        Some((class, figure)) if CLASSES.contains(&class) => figure,
        _ => rest,
    };
    match nearest(QUANTILES.into_iter(), figure) {
        _ if QUANTILES.contains(&figure) => Ok(()),
        Some(near) => did_you_mean(format!("{}{near}", &name[..name.len() - figure.len()])),
        None => wrong(format!("say which figure of it: {}", QUANTILES.join(", "))),
    }
}

fn nearest(words: impl Iterator<Item = &'static str>, word: &str) -> Option<&'static str> {
    let near = words.map(|known| (strsim::damerau_levenshtein(known, word), known)).min()?;
    let most = match word.len() {
        0..=2 => 0,
        // Of three signs with a digit, `p80` say, one more or less makes another figure, not the same misspelt.
        3 if word.contains(|c: char| c.is_ascii_digit()) => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    (near.0 <= most).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Ties the table to the document it is of.
    #[test]
    fn every_figure_of_a_summary_is_known_by_its_name() {
        let mut document = serde_json::to_value(crate::summary::Users::default()).unwrap();
        let mut all: Vec<String> = Vec::new();
        let mut add = |family: &str, document: &Value| {
            for (field, value) in document.as_object().unwrap() {
                let figure = if value.is_object() { ".p95" } else { "" };
                all.push(format!("{family}.{field}{figure}"));
            }
        };
        add("users", &document);
        document = serde_json::to_value(crate::summary::Traffic::default()).unwrap();
        add("traffic", &document);
        document = serde_json::to_value(crate::summary::Delivery::default()).unwrap();
        add("delivery", &document);
        assert!(all.len() > 40, "{all:?}");
        for name in all {
            assert_eq!(check(&name, 0), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_misspelt_figure_is_told_with_the_right_one() {
        let hint = |name: &str| check(name, 0).map_err(|error| error.hint.unwrap());
        for (name, meant) in [
            ("http.respons_time.p95", "http.response_time.p95"),
            ("htp.response_time.p95", "http.response_time.p95"),
            ("vusers.fialed", "vusers.failed"),
            ("statuses.erors", "statuses.errors"),
            ("vusers.session_length.p9999", "vusers.session_length.p999"),
            ("traffic.messages_recieved", "traffic.messages_received"),
        ] {
            assert_eq!(hint(name), Err(format!("did you mean `{meant}`?")), "{name}");
        }
        assert!(hint("http.response_time").unwrap_err().starts_with("say which figure of it: min, max"));
        assert!(hint("vusers.nonsense").unwrap_err().starts_with("there are: created, completed"));
        for name in [
            "http.response_time.2xx.p99",
            "http.codes.200",
            "statuses.errors",
            "http.dns.max",
            "vusers.created_by_name.chat",
            "errors.ETIMEDOUT",
            "plugins.expect.ok",
            "duration_s",
            "checkouts",
        ] {
            assert_eq!(hint(name), Ok(()), "{name}");
        }
    }
}
