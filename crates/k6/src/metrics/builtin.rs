//! The metrics every test has.

use super::Kind::{Counter, Gauge, Rate, Trend};
use super::Unit::{Bytes, Milliseconds, Number};
use super::{Kind, MetricId, Unit};
use sonagi_measure::frame::About;

/// The sub-metric every summary has.
pub const EXPECTED_DURATION: &str = "http_req_duration{expected_response:true}";

/// Makes the metrics' numbers and their rows: a number, its constant, name, kind and unit, and what the metric means in
/// English and Korean.
macro_rules! metrics {
    ($($number:literal $id:ident $name:literal $kind:ident $unit:ident $en:literal $ko:literal;)*) => {
        $(#[doc = concat!("`", $name, "`: ", $en)] pub const $id: MetricId = MetricId::new($number);)*
        /// Name, kind and unit of each, at its number.
        pub(crate) const ALL: &[(&str, Kind, Unit)] = &[$(($name, $kind, $unit)),*];
        /// What each means, at its number.
        const ABOUT: &[About] = &[$(About { en: $en, ko: $ko }),*];
    };
}

metrics! {
    0 VUS "vus" Gauge Number
        "Virtual users that are active." "활동 중인 가상 사용자 수입니다.";
    1 VUS_MAX "vus_max" Gauge Number
        "Virtual users that are ready to be used." "쓸 수 있게 준비된 가상 사용자 수입니다.";
    2 ITERATIONS "iterations" Counter Number
        "Times the script's function ran to its end." "스크립트의 함수가 끝까지 실행된 횟수입니다.";
    3 ITERATION_DURATION "iteration_duration" Trend Milliseconds
        "Time that an iteration took." "반복 한 번에 걸린 시간입니다.";
    4 DROPPED_ITERATIONS "dropped_iterations" Counter Number
        "Iterations that could not begin, for want of virtual users or time."
        "가상 사용자나 시간이 모자라 시작하지 못한 반복 횟수입니다.";
    5 CHECKS "checks" Rate Number
        "Share of the script's checks that passed." "스크립트의 검사가 통과한 비율입니다.";
    6 GROUP_DURATION "group_duration" Trend Milliseconds
        "Time that a group of the script took." "스크립트의 그룹 하나에 걸린 시간입니다.";
    7 HTTP_REQS "http_reqs" Counter Number
        "HTTP requests." "HTTP 요청 수입니다.";
    8 HTTP_REQ_FAILED "http_req_failed" Rate Number
        "Share of HTTP requests that failed." "실패한 HTTP 요청의 비율입니다.";
    9 HTTP_REQ_DURATION "http_req_duration" Trend Milliseconds
        "Time from sending a request to the end of its answer." "요청을 보내기 시작한 때부터 응답이 끝날 때까지의 시간입니다.";
    10 HTTP_REQ_BLOCKED "http_req_blocked" Trend Milliseconds
        "Time that a request waited for a connection." "요청이 연결을 얻을 때까지 기다린 시간입니다.";
    11 HTTP_REQ_CONNECTING "http_req_connecting" Trend Milliseconds
        "Time to open a connection." "연결을 여는 데 걸린 시간입니다.";
    12 HTTP_REQ_TLS_HANDSHAKING "http_req_tls_handshaking" Trend Milliseconds
        "Time of the TLS handshake." "TLS 핸드셰이크에 걸린 시간입니다.";
    13 HTTP_REQ_SENDING "http_req_sending" Trend Milliseconds
        "Time to send a request." "요청을 보내는 데 걸린 시간입니다.";
    14 HTTP_REQ_WAITING "http_req_waiting" Trend Milliseconds
        "Time from the request to the first byte of the answer." "요청을 보낸 뒤 응답의 첫 바이트가 올 때까지의 시간입니다.";
    15 HTTP_REQ_RECEIVING "http_req_receiving" Trend Milliseconds
        "Time to receive the answer." "응답을 받는 데 걸린 시간입니다.";
    16 WS_SESSIONS "ws_sessions" Counter Number
        "WebSocket sessions that were opened." "연 WebSocket 세션 수입니다.";
    17 WS_MSGS_SENT "ws_msgs_sent" Counter Number
        "WebSocket messages sent." "보낸 WebSocket 메시지 수입니다.";
    18 WS_MSGS_RECEIVED "ws_msgs_received" Counter Number
        "WebSocket messages received." "받은 WebSocket 메시지 수입니다.";
    19 WS_PING "ws_ping" Trend Milliseconds
        "Time from a WebSocket ping to its pong." "WebSocket 핑에서 퐁까지 걸린 시간입니다.";
    20 WS_SESSION_DURATION "ws_session_duration" Trend Milliseconds
        "Length of WebSocket sessions." "WebSocket 세션이 이어진 시간입니다.";
    21 WS_CONNECTING "ws_connecting" Trend Milliseconds
        "Time to open a WebSocket." "WebSocket을 여는 데 걸린 시간입니다.";
    22 GRPC_REQ_DURATION "grpc_req_duration" Trend Milliseconds
        "Time that a gRPC request took." "gRPC 요청에 걸린 시간입니다.";
    23 DATA_SENT "data_sent" Counter Bytes
        "Bytes sent to the target." "대상에 보낸 바이트 수입니다.";
    24 DATA_RECEIVED "data_received" Counter Bytes
        "Bytes received from the target." "대상에서 받은 바이트 수입니다.";
}

/// The explanation of a metric; None: it is none of them.
pub(super) fn about(metric: &str) -> Option<About> {
    ALL.iter().position(|(name, ..)| *name == metric).map(|at| ABOUT[at])
}
