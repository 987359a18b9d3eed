//! Every failure, in one row each: the variant, its code, what is said of it, and what to try. The metric codes, the
//! hints and the table in `docs/metrics.md` all come from these rows.

use std::borrow::Cow;
use std::mem::discriminant;

/// How long it took says something of the target: it was answered, if with a refusal, or waited for until its time
/// limit. What waited for a connection of our pool has a time as well, since its user did wait.
const TIMED: bool = true;
/// It was refused or cut off, and has no response time.
const UNTIMED: bool = false;

/// A request failed so.
const OF_REQUEST: bool = true;
/// The script made a failure of it: by its captures and expectations, its templates and functions.
const OF_SCRIPT: bool = false;

/// What is known of a failure.
#[derive(Clone, Copy, Debug)]
pub struct FailureEntry {
    /// The variant (its parameter, if it has one, is an example).
    pub failure: Failure,
    /// Metric code; variants with a parameter append `_<parameter>`.
    pub code: &'static str,
    /// A sentence that says what happened.
    pub meaning: &'static str,
    /// The remedy, if one is known.
    pub hint: Option<&'static str>,
    has_time: bool,
    is_of_request: bool,
}

/// Makes [`Failure`] and its rows: a failure (with its parameter's type and an example of it), its code, whether it has
/// a time, whose it is, a sentence that says what happened, and the remedy.
macro_rules! failures {
    ($($failure:ident $(($parameter:ident = $example:literal))? $code:literal $has_time:ident
        $is_of_request:ident $meaning:literal $hint:expr;)*) => {
        /// Why an operation failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Failure {
            $(#[doc = $meaning] $failure $(($parameter))?),*
        }

        /// Every failure, documented once.
        pub const FAILURES: &[FailureEntry] = &[
            $(FailureEntry {
                failure: Failure::$failure $(($example))?,
                code: $code,
                meaning: $meaning,
                hint: $hint,
                has_time: $has_time,
                is_of_request: $is_of_request,
            }),*
        ];
    };
}

/// The remedy for a certificate without a trusted issuer.
const TRUST: Option<&str> = Some(
    "have this machine trust it (`SSL_CERT_FILE=FILE.pem`), or do not check: `-k`, `tls: { rejectUnauthorized: false \
     }`",
);

/// The remedy for an answer that says that there were too many requests (429), whatever was asked for.
const LIMITED: Option<&str> = Some(
    "the target limits requests: raise the limit where it is set, let users come from more addresses or accounts, or \
     send less",
);

failures! {
    NameNotResolved "name_not_resolved" UNTIMED OF_REQUEST
        "The target's host name could not be resolved."
        Some("check the host in `target` and this machine's resolver");
    ConnectRefused "connect_refused" UNTIMED OF_REQUEST
        "Nothing accepts connections at the target's address and port."
        Some("is the target running and listening on this address and port?");
    ConnectTimeout "connect_timeout" TIMED OF_REQUEST
        "A connection was not established within the time limit."
        Some("look at the target's listen backlog (ListenOverflows) and at firewalls that drop silently");
    ConnectFailed "connect_failed" UNTIMED OF_REQUEST
        "The network gave no route to the target, or is down."
        Some("check the route to the target from this machine");
    GeneratorExhausted "generator_exhausted" UNTIMED OF_REQUEST
        "The generator ran out of local ports or file descriptors; this counts against the generator."
        Some("raise `ulimit -n`, or spread connections over several local addresses");
    TlsFailed "tls_failed" UNTIMED OF_REQUEST
        "The TLS handshake failed, or the certificate is not one a server may show."
        Some("the example has the reason; certificates are not checked with `-k`, or `tls: { rejectUnauthorized: false \
              }`");
    NotTls "not_tls" UNTIMED OF_REQUEST
        "The target answered the TLS handshake with something that is not TLS."
        Some("does the port speak TLS? if not: `http://` or `ws://`");
    CertificateSelfSigned "certificate_self_signed" UNTIMED OF_REQUEST
        "The target's certificate is self-signed, and this machine does not trust it."
        TRUST;
    CertificateRootUntrusted "certificate_root_untrusted" UNTIMED OF_REQUEST
        "The target's certificate comes with an authority of its own, which this machine does not trust."
        TRUST;
    CertificateIssuerUnknown "certificate_issuer_unknown" UNTIMED OF_REQUEST
        "The target's certificate came alone, and this machine does not know who issued it."
        TRUST;
    CertificateChainIncomplete "certificate_chain_incomplete" UNTIMED OF_REQUEST
        "This machine does not know who issued the last of the certificates that the target showed."
        TRUST;
    CertificateExpired "certificate_expired" UNTIMED OF_REQUEST
        "The target's certificate has expired."
        Some("look at this machine's clock, too; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`");
    CertificateNotYetValid "certificate_not_yet_valid" UNTIMED OF_REQUEST
        "The target's certificate is not valid yet."
        Some("look at this machine's clock, too; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`");
    CertificateWrongName "certificate_wrong_name" UNTIMED OF_REQUEST
        "The target's certificate is for other names than the host in its URL."
        Some("call the target by a name of its certificate; to test all the same: `-k`, or `tls: { rejectUnauthorized: \
              false }`");
    HandshakeRefused(u16 = 401) "handshake_refused" TIMED OF_REQUEST
        "The WebSocket upgrade, Engine.IO handshake, event stream or first poll was answered with this HTTP status."
        Some("check path, token and Origin of the handshake");
    PollRefused(u16 = 500) "poll_refused" TIMED OF_REQUEST
        "A poll or post of polling behind its first (Engine.IO's too) was answered with this HTTP status, which says \
         neither news nor nothing new."
        Some("the example has the answer's beginning; a status that says nothing new belongs in a `poll` step's \
              `empty`");
    HandshakeTimeout "handshake_timeout" TIMED OF_REQUEST
        "The upgrade or handshake was not finished within the time limit."
        None;
    NamespaceRefused "namespace_refused" TIMED OF_REQUEST
        "The Socket.IO namespace answered CONNECT_ERROR."
        Some("the example carries the server's reason; check the `auth` payload and the namespace's name");
    BrokerError "broker_error" TIMED OF_REQUEST
        "The STOMP broker answered with an ERROR frame, which ends the session."
        Some("the example carries the broker's reason; check login, host and destination");
    Timeout "timeout" TIMED OF_REQUEST
        "No answer came within the operation's time limit; its latency is recorded at the limit."
        None;
    PoolExhausted "pool_exhausted" TIMED OF_REQUEST
        "No connection of the pool came free within half of the operation's time limit, and no answer within the rest; \
         its latency is recorded at the limit."
        Some("raise `http.pool`; if the target answers slowly, that is why its connections are busy");
    AckTimeout "ack_timeout" TIMED OF_REQUEST
        "An acknowledgement, or a receipt (STOMP), did not come within its time limit."
        Some("does the server call the acknowledgement callback of this event, or give receipts for such frames?");
    Reset "reset" UNTIMED OF_REQUEST
        "The peer reset the connection."
        None;
    ClosedEarly "closed_early" UNTIMED OF_REQUEST
        "The peer ended the connection in the middle of a response, frame or operation."
        Some("if nothing is ever answered: does the port speak TLS (`https://`, `wss://`)?");
    Closed(u16 = 1006) "closed" UNTIMED OF_REQUEST
        "The peer closed the WebSocket with this code (1005: without a code, 1006: without a close frame)."
        None;
    Protocol "protocol" UNTIMED OF_REQUEST
        "The peer's bytes are not of the protocol spoken."
        Some("does the script's engine match what the target speaks on this port and path?");
    SubprotocolMissing "subprotocol_missing" UNTIMED OF_REQUEST
        "The target opened the WebSocket without one of the subprotocols offered."
        Some("offer in `subprotocols` what the target speaks, or nothing");
    SubprotocolUnknown "subprotocol_unknown" UNTIMED OF_REQUEST
        "The target opened the WebSocket with a subprotocol that was not offered."
        Some("offer in `subprotocols` what the target speaks, or nothing");
    TooManyRedirects "too_many_redirects" TIMED OF_REQUEST
        "One redirect led to another, more often than any address needs."
        Some("follow the addresses in `Location` by hand; `followRedirect: false` takes the first answer");
    RedirectInvalid "redirect_invalid" TIMED OF_REQUEST
        "A redirect led to what is no address of http or https."
        Some("the example has its `Location`; `followRedirect: false` takes the answer as it is");
    CaptureOrMatch "capture_or_match" TIMED OF_SCRIPT
        "A capture found nothing, or a match did not match."
        Some("the example shows the beginning of the answer, with secrets masked");
    JoinRefused "join_refused" TIMED OF_SCRIPT
        "The target acknowledged a join and refused it (`{ok: false}`, `{error: …}`, an error object before `null`): \
         its user is no member."
        Some("the example shows the target's answer; check the room's name and who may enter it. If the answer means \
              yes, say so by a `match` in `acknowledge`");
    ExpectationFailed "expectation_failed" TIMED OF_SCRIPT
        "A response is not as the script expects it, and the script has that fail the user (`reportFailuresAsErrors`)."
        None;
    ExpectationMissed "expectation_missed" TIMED OF_SCRIPT
        "A message the script waits for did not come in time."
        None;
    NotConnected "not_connected" UNTIMED OF_REQUEST
        "A step needs a connection that is not open (any more)."
        None;
    Template "template" UNTIMED OF_SCRIPT
        "A template could not be rendered with this user's values."
        None;
    Function "function_failed" TIMED OF_SCRIPT
        "A function of the processor threw, or called done with an error; the names of `errors.` count it by the \
         error's code or message."
        Some("the example has the function's name, its message and where it was thrown");
    FunctionTimeout "function_timeout" TIMED OF_SCRIPT
        "A function of the processor did not call done, or its promise did not settle, in time."
        Some("every way through the function has to end in done()");
    ProcessorLost "processor_lost" UNTIMED OF_SCRIPT
        "The processor's Node ended while the function was under way."
        Some("does the processor call process.exit, or need more memory (NODE_OPTIONS=--max-old-space-size)?");
}

impl Failure {
    fn entry(self) -> &'static FailureEntry {
        let same = |e: &&FailureEntry| discriminant(&e.failure) == discriminant(&self);
        // Every variant has its row, so the fallback never shows.
        FAILURES.iter().find(same).unwrap_or(&FAILURES[0])
    }

    /// The status or the code of closing that it came with.
    pub fn parameter(self) -> Option<u16> {
        match self {
            Failure::HandshakeRefused(n) | Failure::PollRefused(n) | Failure::Closed(n) => Some(n),
            _ => None,
        }
    }

    /// Whether how long it took says something of the target.
    pub fn has_time(self) -> bool {
        self.entry().has_time
    }

    /// Whether a request failed so, and not what the script makes of it and of its answer.
    pub fn is_of_request(self) -> bool {
        self.entry().is_of_request
    }

    /// The documented metric code, e.g. `connect_refused`, `closed_1006`.
    pub fn code(self) -> Cow<'static, str> {
        match self.parameter() {
            Some(n) => format!("{}_{n}", self.entry().code).into(),
            None => self.entry().code.into(),
        }
    }

    /// The remedy, if one is known.
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Failure::HandshakeRefused(429) | Failure::PollRefused(429) => LIMITED,
            _ => self.entry().hint,
        }
    }

    /// The failure with this metric code; the inverse of [`Failure::code`].
    pub fn from_code(code: &str) -> Option<Failure> {
        if let Some(entry) = FAILURES.iter().find(|e| e.code == code && e.failure.parameter().is_none()) {
            return Some(entry.failure);
        }
        let (name, number) = code.rsplit_once('_')?;
        let number = number.parse().ok()?;
        match FAILURES.iter().find(|e| e.code == name)?.failure {
            Failure::HandshakeRefused(_) => Some(Failure::HandshakeRefused(number)),
            Failure::PollRefused(_) => Some(Failure::PollRefused(number)),
            Failure::Closed(_) => Some(Failure::Closed(number)),
            _ => None,
        }
    }
}
