//! What the metrics of a run mean, in a sentence of plain words for whoever reads a page.

use crate::recorder::Counter;
use crate::watched;
use serde::Serialize;

/// An explanation, by language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// In English.
    pub en: &'static str,
    /// In Korean.
    pub ko: &'static str,
}

/// The explanation of a metric that every run may have; None: it is of the script or its language.
pub fn about(metric: &str) -> Option<About> {
    let row = ROWS.iter().find(|(name, _)| *name == metric).map(|(_, about)| *about);
    let row = row.or_else(|| Counter::named(metric).map(Counter::about)).or_else(|| watched::about(metric));
    row.map(|(en, ko)| About { en, ko })
}

/// Makes the table of metrics beside those of counters and probes, a row each: its name, and what it means in English
/// and Korean.
macro_rules! metrics {
    ($($name:literal $en:literal $ko:literal;)*) => {
        const ROWS: &[(&str, (&str, &str))] = &[$(($name, ($en, $ko))),*];
    };
}

metrics! {
    "users.created"
        "Users that were started, by scenario." "시나리오별로 시작된 사용자 수입니다.";
    "users.active"
        "Users that are active at the end of the second." "그 초의 끝에 활동 중인 사용자 수입니다.";
    "session.length"
        "How long users took from their start to the end of their scenario."
        "사용자가 시작하여 시나리오를 마칠 때까지 걸린 시간입니다.";
    "response_time"
        "Time from the instant an operation was planned to its end; waiting behind a slow target counts."
        "작업이 계획된 시각부터 끝날 때까지의 시간이며, 느린 대상 때문에 기다린 시간도 포함합니다.";
    "service_time"
        "Time from the instant an operation actually began to its end."
        "작업이 실제로 시작된 시각부터 끝날 때까지의 시간입니다.";
    "first_byte"
        "Time from the start of a request to the first byte of its answer."
        "요청을 시작한 때부터 응답의 첫 바이트가 올 때까지의 시간입니다.";
    "function.time"
        "How long the script's own functions took, by function."
        "스크립트의 함수가 걸린 시간을 함수별로 나타냅니다.";
    "operations.failed"
        "Operations that failed." "실패한 작업 수입니다.";
    "operations.unanswered"
        "Failed operations without a time, such as refused connections."
        "연결 거부처럼 시간을 잴 수 없이 실패한 작업 수입니다.";
    "operations.answers"
        "Answers by operation and status." "작업과 상태 코드별 응답 수입니다.";
    "errors"
        "Failures by kind and operation." "종류와 작업별 실패 수입니다.";
    "http.codes"
        "HTTP responses by status code." "상태 코드별 HTTP 응답 수입니다.";
    "connections.open"
        "Users with an open real-time connection at the end of the second."
        "그 초의 끝에 실시간 연결을 열어 둔 사용자 수입니다.";
    "delivery.messages"
        "Messages sent whose delivery is tracked." "전달 여부를 추적하는, 보낸 메시지 수입니다.";
    "delivery.owed"
        "Copies that had to arrive: one for each member of the room."
        "도착해야 하는 사본 수로, 방의 구성원마다 하나씩입니다.";
    "delivery.delivered"
        "Copies that arrived within the deadline." "기한 안에 도착한 사본 수입니다.";
    "delivery.late"
        "Copies that arrived after the deadline." "기한을 넘겨 도착한 사본 수입니다.";
    "delivery.replayed"
        "Copies that arrived over a later connection, after the receiver's own was lost."
        "받는 쪽 연결이 끊어진 뒤 새 연결로 도착한 사본 수입니다.";
    "delivery.lost"
        "Copies that never arrived." "끝내 도착하지 않은 사본 수입니다.";
    "delivery.duplicate"
        "Copies that arrived again." "다시 도착한 중복 사본 수입니다.";
    "delivery.reordered"
        "Copies that arrived after a later message of the same sender."
        "같은 보낸이의 나중 메시지보다 늦게 도착한 사본 수입니다.";
    "delivery.leaked"
        "Copies received by somebody who was not in the room." "방에 없는 사람이 받은 사본 수입니다.";
    "delivery.unknown"
        "Copies of messages whose sending was never confirmed, and that did not arrive."
        "보내졌는지 확인되지 않았고 도착하지도 않은 사본 수입니다.";
    "delivery.outstanding"
        "Copies that have not arrived yet and are not given up."
        "아직 도착하지 않았지만 기다리고 있는 사본 수입니다.";
    "delivery.latency"
        "Time from a message's planned sending to the arrival of each copy."
        "메시지를 보내기로 계획한 시각부터 각 사본이 도착할 때까지의 시간입니다.";
    "delivery.replay_latency"
        "Time from a message's planned sending to the arrival of each replayed copy."
        "메시지를 보내기로 계획한 시각부터 다시 전달된 사본이 도착할 때까지의 시간입니다.";
    "generator.lag"
        "How late the generator began what was planned; when it is high, results say little of the target."
        "부하 발생기가 계획보다 늦게 시작한 시간이며, 크면 결과가 대상을 제대로 말해 주지 않습니다.";
    "generator.hiccup"
        "How long the generator's threads were held up." "부하 발생기의 스레드가 멈춰 있던 시간입니다.";
    "generator.cpu"
        "Share of a core that each of the generator's threads used." "부하 발생기의 스레드별 코어 사용률입니다.";
    "generator.memory"
        "Memory that the generator uses." "부하 발생기가 쓰는 메모리입니다.";
    "generator.open_files"
        "Files and connections that the generator has open." "부하 발생기가 연 파일과 연결 수입니다.";
    "generator.ports_used"
        "Local ports that the generator uses, at most." "부하 발생기가 쓰는 로컬 포트 수의 상한입니다.";
}
