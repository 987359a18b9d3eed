//! What a run counts: one row a counter. Run folders, tables, frames and the traffic of the summary are made of these
//! rows. What a script language calls a counter stands in a table of its crate.

use std::ops::Index;

/// The summary has it in its `traffic`, under its name with `_` for the dot and in the order of the rows.
const TRAFFIC: bool = true;
/// The summary has it elsewhere, or not at all.
const APART: bool = false;

struct Row {
    counter: Counter,
    name: &'static str,
    is_traffic: bool,
    about: (&'static str, &'static str),
}

/// Makes [`Counter`] and its rows: a counter, its name, whether it is traffic, and what it means in English and Korean.
macro_rules! counters {
    ($($counter:ident $name:literal $is_traffic:ident $en:literal $ko:literal;)*) => {
        /// Plain counts. Closed, indexed by discriminant: adding is one array write.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(usize)]
        pub enum Counter {
            $(#[doc = $en] $counter),*
        }

        /// By discriminant.
        const ROWS: &[Row] = &[
            $(Row { counter: Counter::$counter, name: $name, is_traffic: $is_traffic, about: ($en, $ko) }),*
        ];
    };
}

counters! {
    ArrivalsPlanned "arrivals.planned" APART
        "Users that the plan asks for." "계획된 사용자 수입니다.";
    ArrivalsStarted "arrivals.started" APART
        "Planned users that were started." "계획대로 시작된 사용자 수입니다.";
    ArrivalsMissed "arrivals.missed" APART
        "Planned users that could not be started, because the run ended or the generator had no capacity left."
        "실행이 끝났거나 부하 발생기에 여력이 없어 시작하지 못한 사용자 수입니다.";
    UsersSkipped "users.skipped" APART
        "Planned users that were refused because as many were active as the script allows."
        "스크립트가 허용한 최대 사용자 수에 이르러 건너뛴 사용자 수입니다.";
    UsersCompleted "users.completed" APART
        "Users that finished their scenario." "시나리오를 끝까지 마친 사용자 수입니다.";
    UsersFailed "users.failed" APART
        "Users that gave up after a failure." "실패하여 도중에 그만둔 사용자 수입니다.";
    UsersStopped "users.stopped" APART
        "Users that were still busy when the run ended." "실행이 끝날 때 아직 시나리오를 진행 중이던 사용자 수입니다.";
    OperationsCut "operations.cut" APART
        "Operations that were under way when the run ended; they count neither as answered nor as failed."
        "실행이 끝날 때 진행 중이던 작업 수이며, 응답이나 실패로 세지 않습니다.";
    MessagesSent "messages.sent" TRAFFIC
        "Messages sent over real-time connections." "실시간 연결로 보낸 메시지 수입니다.";
    MessagesReceived "messages.received" TRAFFIC
        "Messages received over real-time connections." "실시간 연결로 받은 메시지 수입니다.";
    BytesSent "bytes.sent" TRAFFIC
        "Bytes sent to the target." "대상에 보낸 바이트 수입니다.";
    BytesReceived "bytes.received" TRAFFIC
        "Bytes received from the target." "대상에서 받은 바이트 수입니다.";
    HttpRequests "http.requests" TRAFFIC
        "HTTP requests that were sent." "보낸 HTTP 요청 수입니다.";
    HttpResponses "http.responses" TRAFFIC
        "HTTP responses that were received." "받은 HTTP 응답 수입니다.";
    HttpBytesReceived "http.bytes_received" TRAFFIC
        "Bytes of HTTP response bodies." "HTTP 응답 본문의 바이트 수입니다.";
    ErrorsExpected "http.errors_expected" APART
        "HTTP error responses that the script expects." "스크립트가 예상한 HTTP 오류 응답 수입니다.";
    ConnectionsOpened "connections.opened" TRAFFIC
        "Connections that were opened." "새로 연 연결 수입니다.";
    ConnectionsClosed "connections.closed" APART
        "Connections that ended, whichever side closed them." "어느 쪽에서든 끝난 연결 수입니다.";
    ConnectionsReused "connections.reused" APART
        "Requests that used an open connection." "이미 열린 연결을 다시 쓴 요청 수입니다.";
    WebsocketSent "websocket.sent" TRAFFIC
        "WebSocket messages sent." "보낸 WebSocket 메시지 수입니다.";
    WebsocketReceived "websocket.received" TRAFFIC
        "WebSocket messages received." "받은 WebSocket 메시지 수입니다.";
    SocketioEmits "socketio.emits" TRAFFIC
        "Socket.IO events sent." "보낸 Socket.IO 이벤트 수입니다.";
    SocketioReceived "socketio.received" TRAFFIC
        "Socket.IO events received." "받은 Socket.IO 이벤트 수입니다.";
    Polls "polls" TRAFFIC
        "Polls that were answered or failed." "응답을 받았거나 실패한 폴링 요청 수입니다.";
    PollsEmpty "polls.empty" TRAFFIC
        "Polls that were answered without messages." "메시지 없이 응답된 폴링 요청 수입니다.";
    PollsReceived "polls.received" TRAFFIC
        "Messages received in answers to polls." "폴링 응답으로 받은 메시지 수입니다.";
    SseReceived "sse.received" TRAFFIC
        "Events received from event streams." "이벤트 스트림(SSE)으로 받은 이벤트 수입니다.";
    StompSent "stomp.sent" TRAFFIC
        "STOMP messages sent." "보낸 STOMP 메시지 수입니다.";
    StompReceived "stomp.received" TRAFFIC
        "STOMP messages received." "받은 STOMP 메시지 수입니다.";
    ConnectionsLost "connections.lost" TRAFFIC
        "Connections that ended although their user still needed them."
        "사용자가 아직 쓰는 중인데 끊어진 연결 수입니다.";
    Reconnects "reconnects" TRAFFIC
        "Lost connections that were opened again." "끊어졌다가 다시 연결된 횟수입니다.";
    ReconnectsFailed "reconnects.failed" TRAFFIC
        "Attempts to reconnect that failed." "다시 연결하려다 실패한 횟수입니다.";
}

impl Counter {
    /// All counters, by discriminant.
    pub fn all() -> impl Iterator<Item = Counter> {
        ROWS.iter().map(|row| row.counter)
    }

    /// The counter of this name.
    pub fn named(name: &str) -> Option<Counter> {
        Counter::all().find(|counter| counter.name() == name)
    }

    /// Its name, as series and tables have it: `messages.sent`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether it is a member of the summary's traffic.
    pub fn is_traffic(self) -> bool {
        self.row().is_traffic
    }

    /// What it means, in English and Korean.
    pub fn about(self) -> (&'static str, &'static str) {
        self.row().about
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// A number per [`Counter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters([u64; ROWS.len()]);

impl Default for Counters {
    fn default() -> Counters {
        Counters([0; ROWS.len()])
    }
}

impl Counters {
    /// Adds `n`.
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.0[counter as usize] += n;
    }

    /// Adds every count of `other`.
    pub fn merge(&mut self, other: &Counters) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

impl Index<Counter> for Counters {
    type Output = u64;

    /// The count so far.
    fn index(&self, counter: Counter) -> &u64 {
        &self.0[counter as usize]
    }
}
