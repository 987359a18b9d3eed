//! Every failure in words: what `docs/metrics.md` shows.

use super::Failure;

/// The text about a failure, for the reader of a report.
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
}

const fn entry(
    failure: Failure,
    code: &'static str,
    meaning: &'static str,
    hint: Option<&'static str>,
) -> FailureEntry {
    FailureEntry { failure, code, meaning, hint }
}

/// The remedy for a certificate without a trusted issuer.
const TRUST: Option<&str> = Some(
    "have this machine trust it (`SSL_CERT_FILE=FILE.pem`), or do not check: `-k`, `tls: { rejectUnauthorized: false \
     }`",
);

/// The remedy for an answer that says that there were too many requests (429), whatever was asked for.
pub(super) const LIMITED: Option<&str> = Some(
    "the target limits requests: raise the limit where it is set, let users come from more addresses or accounts, or \
     send less",
);

/// Every failure, documented once.
pub const FAILURES: &[FailureEntry] = &[
    entry(
        Failure::NameNotResolved,
        "name_not_resolved",
        "The target's host name could not be resolved.",
        Some("check the host in `target` and this machine's resolver"),
    ),
    entry(
        Failure::ConnectRefused,
        "connect_refused",
        "Nothing accepts connections at the target's address and port.",
        Some("is the target running and listening on this address and port?"),
    ),
    entry(
        Failure::ConnectTimeout,
        "connect_timeout",
        "A connection was not established within the time limit.",
        Some("look at the target's listen backlog (ListenOverflows) and at firewalls that drop silently"),
    ),
    entry(
        Failure::ConnectFailed,
        "connect_failed",
        "The network gave no route to the target, or is down.",
        Some("check the route to the target from this machine"),
    ),
    entry(
        Failure::GeneratorExhausted,
        "generator_exhausted",
        "The generator ran out of local ports or file descriptors; this counts against the generator.",
        Some("raise `ulimit -n`, or spread connections over several local addresses"),
    ),
    entry(
        Failure::TlsFailed,
        "tls_failed",
        "The TLS handshake failed, or the certificate is not one a server may show.",
        Some(
            "the example has the reason; certificates are not checked with `-k`, or `tls: { rejectUnauthorized: false \
             }`",
        ),
    ),
    entry(
        Failure::NotTls,
        "not_tls",
        "The target answered the TLS handshake with something that is not TLS.",
        Some("does the port speak TLS? if not: `http://` or `ws://`"),
    ),
    entry(
        Failure::CertificateSelfSigned,
        "certificate_self_signed",
        "The target's certificate is self-signed, and this machine does not trust it.",
        TRUST,
    ),
    entry(
        Failure::CertificateRootUntrusted,
        "certificate_root_untrusted",
        "The target's certificate comes with an authority of its own, which this machine does not trust.",
        TRUST,
    ),
    entry(
        Failure::CertificateIssuerUnknown,
        "certificate_issuer_unknown",
        "The target's certificate came alone, and this machine does not know who issued it.",
        TRUST,
    ),
    entry(
        Failure::CertificateChainIncomplete,
        "certificate_chain_incomplete",
        "This machine does not know who issued the last of the certificates that the target showed.",
        TRUST,
    ),
    entry(
        Failure::CertificateExpired,
        "certificate_expired",
        "The target's certificate has expired.",
        Some(
            "look at this machine's clock, too; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`",
        ),
    ),
    entry(
        Failure::CertificateNotYetValid,
        "certificate_not_yet_valid",
        "The target's certificate is not valid yet.",
        Some(
            "look at this machine's clock, too; to test all the same: `-k`, or `tls: { rejectUnauthorized: false }`",
        ),
    ),
    entry(
        Failure::CertificateWrongName,
        "certificate_wrong_name",
        "The target's certificate is for other names than the host in its URL.",
        Some(
            "call the target by a name of its certificate; to test all the same: `-k`, or `tls: { rejectUnauthorized: \
             false }`",
        ),
    ),
    entry(
        Failure::HandshakeRefused(401),
        "handshake_refused",
        "The WebSocket upgrade, Engine.IO handshake, event stream or first poll was answered with this HTTP status.",
        Some("check path, token and Origin of the handshake"),
    ),
    entry(
        Failure::PollRefused(500),
        "poll_refused",
        "A poll or post of polling behind its first (Engine.IO's too) was answered with this HTTP status, which says \
         neither news nor nothing new.",
        Some(
            "the example has the answer's beginning; a status that says nothing new belongs in a `poll` step's `empty`",
        ),
    ),
    entry(
        Failure::HandshakeTimeout,
        "handshake_timeout",
        "The upgrade or handshake was not finished within the time limit.",
        None,
    ),
    entry(
        Failure::NamespaceRefused,
        "namespace_refused",
        "The Socket.IO namespace answered CONNECT_ERROR.",
        Some("the example carries the server's reason; check the `auth` payload and the namespace's name"),
    ),
    entry(
        Failure::BrokerError,
        "broker_error",
        "The STOMP broker answered with an ERROR frame, which ends the session.",
        Some("the example carries the broker's reason; check login, host and destination"),
    ),
    entry(
        Failure::Timeout,
        "timeout",
        "No answer came within the operation's time limit; its latency is recorded at the limit.",
        None,
    ),
    entry(
        Failure::PoolExhausted,
        "pool_exhausted",
        "No connection of the pool came free within half of the operation's time limit, and no answer within the \
         rest; its latency is recorded at the limit.",
        Some("raise `http.pool`; if the target answers slowly, that is why its connections are busy"),
    ),
    entry(
        Failure::AckTimeout,
        "ack_timeout",
        "An acknowledgement, or a receipt (STOMP), did not come within its time limit.",
        Some(
            "does the server call the acknowledgement callback of this event, or give receipts for such frames?",
        ),
    ),
    entry(Failure::Reset, "reset", "The peer reset the connection.", None),
    entry(
        Failure::ClosedEarly,
        "closed_early",
        "The peer ended the connection in the middle of a response, frame or operation.",
        Some("if nothing is ever answered: does the port speak TLS (`https://`, `wss://`)?"),
    ),
    entry(
        Failure::Closed(1006),
        "closed",
        "The peer closed the WebSocket with this code (1005: without a code, 1006: without a close frame).",
        None,
    ),
    entry(
        Failure::Protocol,
        "protocol",
        "The peer's bytes are not of the protocol spoken.",
        Some("does the script's engine match what the target speaks on this port and path?"),
    ),
    entry(
        Failure::SubprotocolMissing,
        "subprotocol_missing",
        "The target opened the WebSocket without one of the subprotocols offered.",
        Some("offer in `subprotocols` what the target speaks, or nothing"),
    ),
    entry(
        Failure::SubprotocolUnknown,
        "subprotocol_unknown",
        "The target opened the WebSocket with a subprotocol that was not offered.",
        Some("offer in `subprotocols` what the target speaks, or nothing"),
    ),
    entry(
        Failure::TooManyRedirects,
        "too_many_redirects",
        "One redirect led to another, more often than any address needs.",
        Some("follow the addresses in `Location` by hand; `followRedirect: false` takes the first answer"),
    ),
    entry(
        Failure::RedirectInvalid,
        "redirect_invalid",
        "A redirect led to what is no address of http or https.",
        Some("the example has its `Location`; `followRedirect: false` takes the answer as it is"),
    ),
    entry(
        Failure::CaptureOrMatch,
        "capture_or_match",
        "A capture found nothing, or a match did not match.",
        Some("the example shows the beginning of the answer, with secrets masked"),
    ),
    entry(
        Failure::JoinRefused,
        "join_refused",
        "The target acknowledged a join and refused it (`{ok: false}`, `{error: …}`, an error object before `null`): \
         its user is no member.",
        Some(
            "the example shows the target's answer; check the room's name and who may enter it. If the answer means \
             yes, say so by a `match` in `acknowledge`",
        ),
    ),
    entry(
        Failure::ExpectationFailed,
        "expectation_failed",
        "A response is not as the script expects it, and the script has that fail the user (`reportFailuresAsErrors`).",
        None,
    ),
    entry(
        Failure::ExpectationMissed,
        "expectation_missed",
        "A message the script waits for did not come in time.",
        None,
    ),
    entry(
        Failure::NotConnected,
        "not_connected",
        "A step needs a connection that is not open (any more).",
        None,
    ),
    entry(Failure::Template, "template", "A template could not be rendered with this user's values.", None),
    entry(
        Failure::Function,
        "function_failed",
        "A function of the processor threw, or called done with an error; the names of `errors.` count it by the \
         error's code or message.",
        Some("the example has the function's name, its message and where it was thrown"),
    ),
    entry(
        Failure::FunctionTimeout,
        "function_timeout",
        "A function of the processor did not call done, or its promise did not settle, in time.",
        Some("every way through the function has to end in done()"),
    ),
    entry(
        Failure::ProcessorLost,
        "processor_lost",
        "The processor's Node ended while the function was under way.",
        Some(
            "does the processor call process.exit, or need more memory (NODE_OPTIONS=--max-old-space-size)?",
        ),
    ),
];
