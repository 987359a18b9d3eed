//! The keys of what a run is judged by, `config.ensure` and `config.delivery`, and of what runs are: `compare`.

use super::area::{Area, Others, SECONDS, ignored, key};

pub(crate) const ENSURE: Area = Area {
    name: "ensure",
    path: "config.ensure (and config.plugins.ensure)",
    others: Others::Unjudged,
    keys: &[
        key(
            "thresholds",
            "a list of metric: limit",
            "[{\"http.response_time.p95\": 250}]",
            "Each metric must stay below its limit.",
        ),
        key(
            "conditions",
            "a list of conditions",
            "[{expression: \"vusers.failed == 0\"}]",
            "Each expression must hold at the end.",
        )
        .of(&[&CONDITION]),
        key("min", "milliseconds", "100", "Older form: limit of the fastest response."),
        key("max", "milliseconds", "1000", "Older form: limit of the slowest response."),
        key("median", "milliseconds", "100", "Older form: limit of the median response time."),
        key("p50", "milliseconds", "100", "Older form: limit of the median response time."),
        key("p95", "milliseconds", "250", "Older form: limit of the 95th percentile."),
        key("p99", "milliseconds", "500", "Older form: limit of the 99th percentile."),
        key("maxErrorRate", "a percentage, 0 to 100", "1", "Older form: share of users that may fail."),
        ignored("suppressOutput", ""),
    ],
};

pub(crate) const CONDITION: Area = Area {
    name: "a condition",
    path: "config.ensure.conditions[]",
    others: Others::Ignored,
    keys: &[
        key(
            "expression",
            "an expression over metrics",
            "\"http.response_time.p99 < 500 and vusers.failed == 0\"",
            "The condition that must hold.",
        ),
        key(
            "strict",
            "true or false",
            "false",
            "false: reported, but does not fail the run. true by default.",
        ),
        key(
            "abortOnFail",
            "true or false",
            "true",
            "true: also looked at every two seconds, and the run ends, failed, as soon as it does not hold. (Sonagi's \
             own.)",
        ),
        key(
            "delayAbortEval",
            SECONDS,
            "10s",
            "With `abortOnFail`: for so long after the start of the load it ends nothing. (Sonagi's own.)",
        ),
    ],
};

pub(crate) const APDEX: Area = Area {
    name: "apdex",
    path: "config.apdex (and config.plugins.apdex)",
    others: Others::Ignored,
    keys: &[
        key(
            "threshold",
            "milliseconds",
            "100",
            "An answer within this satisfies, one within four times of it is tolerated; 500 by default.",
        ),
        ignored("suppressOutput", ""),
    ],
};

pub(crate) const METRICS_BY_ENDPOINT: Area = Area {
    name: "metrics-by-endpoint",
    path: "config.plugins.metrics-by-endpoint",
    others: Others::Ignored,
    keys: &[
        key(
            "useOnlyRequestNames",
            "true or false",
            "true",
            "A request with a name is told by it alone, not by path and name.",
        ),
        key("stripQueryString", "true or false", "true", "Leaves the query out of paths."),
        key("ignoreUnnamedRequests", "true or false", "true", "Only requests with a name are told."),
        key(
            "metricsNamespace",
            "a text",
            "by_endpoint",
            "The prefix of the names; plugins.metrics-by-endpoint by default.",
        ),
        key(
            "suppressOutput",
            "true or false",
            "true",
            "Leaves them out of `--summary artillery`; they are in reports all the same.",
        ),
        key(
            "groupDynamicURLs",
            "true or false",
            "true",
            "Paths are told as the script has them, holes and all; false: as they were asked for.",
        ),
    ],
};

pub(crate) const DELIVERY: Area = Area {
    name: "delivery",
    path: "config.delivery",
    others: Others::Meant,
    keys: &[
        key(
            "deadline",
            SECONDS,
            "1",
            "A copy received later than this after its planned send is late; 1 s by default.",
        ),
        key(
            "settle",
            SECONDS,
            "100ms",
            "Around a join or leave a copy is neither owed nor leaked; 100 ms by default.",
        ),
        key(
            "drain",
            SECONDS,
            "5",
            "How long a finished user stays to receive what is under way; 5 s by default.",
        ),
        key("echo", "true or false", "false", "Whether a sender gets its own messages; true by default."),
    ],
};

pub(crate) const COMPARE: Area = Area {
    name: "compare",
    path: "compare",
    others: Others::Meant,
    keys: &[
        key(
            "across",
            "the name of an axis of the matrix",
            "pool",
            "The axis whose values are compared, within each combination of the other axes. A matrix of one axis needs \
             none.",
        ),
        key(
            "primary",
            "the name of a figure of the summary",
            "operations.list.response_ms.p99",
            "The figure that decides; p99 of deliveries by default, or else of responses of the kind with most \
             operations.",
        ),
        key(
            "margin",
            "a share, or a percentage",
            "5%",
            "A change of a time or a rate within it does not matter; 5 % by default.",
        ),
    ],
};
