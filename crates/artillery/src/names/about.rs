//! What the metrics by tags mean, in a sentence of plain words for whoever reads a page.

use sonagi_measure::frame::About;

/// The explanation of a metric that tags of a script tell apart; None: it is not one.
pub fn about(metric: &str) -> Option<About> {
    if metric == "http.response_time" {
        return Some(About {
            en: "Response times of the HTTP requests that have tags, by tag.",
            ko: "태그가 있는 HTTP 요청의 태그별 응답 시간입니다.",
        });
    }
    let figure = metric.strip_prefix("kinds.")?.rsplit_once('.')?.1;
    let (_, en, ko) = OF_KINDS.iter().find(|(name, ..)| *name == figure)?;
    Some(About { en, ko })
}

/// Figures of a kind of operations, with their explanations in English and Korean.
const OF_KINDS: [(&str, &str, &str); 5] = [
    (
        "response_ms",
        "Response times of this kind's operations that have tags, by tag.",
        "태그가 있는 이 종류 작업의 태그별 응답 시간입니다.",
    ),
    (
        "service_ms",
        "Service times of this kind's operations that have tags, by tag.",
        "태그가 있는 이 종류 작업의 태그별 처리 시간입니다.",
    ),
    (
        "first_byte_ms",
        "Times to the first byte of this kind's operations that have tags, by tag.",
        "태그가 있는 이 종류 작업의 태그별 첫 바이트까지의 시간입니다.",
    ),
    (
        "count",
        "This kind's operations that have tags, by tag.",
        "태그가 있는 이 종류 작업의 태그별 횟수입니다.",
    ),
    (
        "failed",
        "Failures of this kind's operations that have tags, by tag.",
        "태그가 있는 이 종류 작업의 태그별 실패 횟수입니다.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_that_tags_tell_apart_are_explained_and_those_of_scripts_are_not() {
        for name in ["http.response_time", "kinds.websocket_send.response_ms", "kinds.http.failed"] {
            assert!(about(name).is_some_and(|about| about.en.contains("by tag")), "{name}");
        }
        for name in ["sips", "kinds.http", "kinds.http.other", "http.response_time.p95"] {
            assert_eq!(about(name), None, "{name}");
        }
    }
}
