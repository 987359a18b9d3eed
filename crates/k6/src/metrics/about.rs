//! What k6's metrics mean, in a sentence of plain words for whoever reads a page.

use sonagi_measure::frame::About;

/// The explanation of a metric; None: it is the script's own.
pub fn about(metric: &str) -> Option<About> {
    let (_, en, ko) = ROWS.iter().find(|(name, ..)| *name == metric)?;
    Some(About { en, ko })
}

/// Metrics with their explanations in English and Korean.
const ROWS: [(&str, &str, &str); 40] = [
    ("vus", "Virtual users that are active.", "활동 중인 가상 사용자 수입니다."),
    ("vus_max", "Virtual users that are ready to be used.", "쓸 수 있게 준비된 가상 사용자 수입니다."),
    (
        "iterations",
        "Times the script's function ran to its end.",
        "스크립트의 함수가 끝까지 실행된 횟수입니다.",
    ),
    ("iteration_duration", "Time that an iteration took.", "반복 한 번에 걸린 시간입니다."),
    (
        "dropped_iterations",
        "Iterations that could not begin, for want of virtual users or time.",
        "가상 사용자나 시간이 모자라 시작하지 못한 반복 횟수입니다.",
    ),
    ("checks", "Share of the script's checks that passed.", "스크립트의 검사가 통과한 비율입니다."),
    ("group_duration", "Time that a group of the script took.", "스크립트의 그룹 하나에 걸린 시간입니다."),
    ("http_reqs", "HTTP requests.", "HTTP 요청 수입니다."),
    ("http_req_failed", "Share of HTTP requests that failed.", "실패한 HTTP 요청의 비율입니다."),
    (
        "http_req_duration",
        "Time from sending a request to the end of its answer.",
        "요청을 보내기 시작한 때부터 응답이 끝날 때까지의 시간입니다.",
    ),
    (
        "http_req_blocked",
        "Time that a request waited for a connection.",
        "요청이 연결을 얻을 때까지 기다린 시간입니다.",
    ),
    ("http_req_connecting", "Time to open a connection.", "연결을 여는 데 걸린 시간입니다."),
    ("http_req_tls_handshaking", "Time of the TLS handshake.", "TLS 핸드셰이크에 걸린 시간입니다."),
    ("http_req_sending", "Time to send a request.", "요청을 보내는 데 걸린 시간입니다."),
    (
        "http_req_waiting",
        "Time from the request to the first byte of the answer.",
        "요청을 보낸 뒤 응답의 첫 바이트가 올 때까지의 시간입니다.",
    ),
    ("http_req_receiving", "Time to receive the answer.", "응답을 받는 데 걸린 시간입니다."),
    ("ws_sessions", "WebSocket sessions that were opened.", "연 WebSocket 세션 수입니다."),
    ("ws_msgs_sent", "WebSocket messages sent.", "보낸 WebSocket 메시지 수입니다."),
    ("ws_msgs_received", "WebSocket messages received.", "받은 WebSocket 메시지 수입니다."),
    ("ws_ping", "Time from a WebSocket ping to its pong.", "WebSocket 핑에서 퐁까지 걸린 시간입니다."),
    ("ws_session_duration", "Length of WebSocket sessions.", "WebSocket 세션이 이어진 시간입니다."),
    ("ws_connecting", "Time to open a WebSocket.", "WebSocket을 여는 데 걸린 시간입니다."),
    ("grpc_req_duration", "Time that a gRPC request took.", "gRPC 요청에 걸린 시간입니다."),
    ("data_sent", "Bytes sent to the target.", "대상에 보낸 바이트 수입니다."),
    ("data_received", "Bytes received from the target.", "대상에서 받은 바이트 수입니다."),
    (
        "sonagi_delivery",
        "Share of owed copies of messages that arrived.",
        "도착해야 하는 메시지 사본 중 도착한 비율입니다.",
    ),
    (
        "sonagi_e2e",
        "Time from a message's planned sending to the arrival of each copy.",
        "메시지를 보내기로 한 때부터 각 사본이 도착할 때까지의 시간입니다.",
    ),
    ("sonagi_messages", "Messages sent whose delivery is tracked.", "전달을 추적하는, 보낸 메시지 수입니다."),
    ("sonagi_owed", "Copies that had to arrive.", "도착해야 하는 사본 수입니다."),
    ("sonagi_arrived", "Owed copies that arrived.", "도착해야 하는 사본 중 도착한 수입니다."),
    ("sonagi_lost", "Copies that never arrived.", "끝내 도착하지 않은 사본 수입니다."),
    ("sonagi_duplicate", "Copies that arrived again.", "다시 도착한 중복 사본 수입니다."),
    ("sonagi_late", "Copies that arrived after the deadline.", "기한을 넘겨 도착한 사본 수입니다."),
    (
        "sonagi_replayed",
        "Copies that arrived over a later connection, after the receiver's own was lost.",
        "받는 쪽 연결이 끊어진 뒤 새 연결로 도착한 사본 수입니다.",
    ),
    (
        "sonagi_reordered",
        "Copies that arrived after a later message of the same sender.",
        "같은 보낸이의 나중 메시지보다 늦게 도착한 사본 수입니다.",
    ),
    (
        "sonagi_leaked",
        "Copies received by somebody who was not in the room.",
        "방에 없는 사람이 받은 사본 수입니다.",
    ),
    (
        "sonagi_unknown",
        "Copies of messages whose sending was never confirmed, and that did not arrive.",
        "보내졌는지 확인되지 않았고 도착하지도 않은 사본 수입니다.",
    ),
    (
        "sonagi_settling",
        "Copies received just around a join or leave, which are neither owed nor leaked.",
        "방에 들어오거나 나가는 순간에 받아, 도착 여부를 따지지 않는 사본 수입니다.",
    ),
    ("sonagi_foreign", "Copies of messages of other runs.", "다른 실행의 메시지 사본 수입니다."),
    (
        "sonagi_negative",
        "Copies that seem to have arrived before they were sent, because clocks disagree.",
        "시계가 어긋나 보내기 전에 도착한 것으로 보이는 사본 수입니다.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{builtin, delivery};

    #[test]
    fn every_metric_of_k6_is_explained() {
        for (name, ..) in builtin::ALL.iter().chain(&delivery::METRICS) {
            assert!(about(name).is_some(), "{name}");
        }
    }
}
