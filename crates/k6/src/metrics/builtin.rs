//! The metrics every test has.

use super::Kind::{Counter, Gauge, Rate, Trend};
use super::Unit::{Bytes, Milliseconds, Number};
use super::{Kind, MetricId, Unit};

/// The sub-metric every summary has.
pub const EXPECTED_DURATION: &str = "http_req_duration{expected_response:true}";

macro_rules! metrics {
    ($($number:literal $id:ident $name:literal $kind:ident $unit:ident;)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $id: MetricId = MetricId::new($number);)*
        /// Name, kind and unit of each, at its number.
        pub(super) const ALL: &[(&str, Kind, Unit)] = &[$(($name, $kind, $unit)),*];
    };
}
metrics! {
    0 VUS "vus" Gauge Number;
    1 VUS_MAX "vus_max" Gauge Number;
    2 ITERATIONS "iterations" Counter Number;
    3 ITERATION_DURATION "iteration_duration" Trend Milliseconds;
    4 DROPPED_ITERATIONS "dropped_iterations" Counter Number;
    5 CHECKS "checks" Rate Number;
    6 GROUP_DURATION "group_duration" Trend Milliseconds;
    7 HTTP_REQS "http_reqs" Counter Number;
    8 HTTP_REQ_FAILED "http_req_failed" Rate Number;
    9 HTTP_REQ_DURATION "http_req_duration" Trend Milliseconds;
    10 HTTP_REQ_BLOCKED "http_req_blocked" Trend Milliseconds;
    11 HTTP_REQ_CONNECTING "http_req_connecting" Trend Milliseconds;
    12 HTTP_REQ_TLS_HANDSHAKING "http_req_tls_handshaking" Trend Milliseconds;
    13 HTTP_REQ_SENDING "http_req_sending" Trend Milliseconds;
    14 HTTP_REQ_WAITING "http_req_waiting" Trend Milliseconds;
    15 HTTP_REQ_RECEIVING "http_req_receiving" Trend Milliseconds;
    16 WS_SESSIONS "ws_sessions" Counter Number;
    17 WS_MSGS_SENT "ws_msgs_sent" Counter Number;
    18 WS_MSGS_RECEIVED "ws_msgs_received" Counter Number;
    19 WS_PING "ws_ping" Trend Milliseconds;
    20 WS_SESSION_DURATION "ws_session_duration" Trend Milliseconds;
    21 WS_CONNECTING "ws_connecting" Trend Milliseconds;
    22 GRPC_REQ_DURATION "grpc_req_duration" Trend Milliseconds;
    23 DATA_SENT "data_sent" Counter Bytes;
    24 DATA_RECEIVED "data_received" Counter Bytes;
}
