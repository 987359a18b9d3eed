//! `docs/metrics.md` says what the code says.

use sonagi_measure::outcome::{FAILURES, Failure};
use sonagi_measure::{health, ledger};
use std::collections::BTreeSet;

fn page(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/").to_owned() + name;
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_limits_of_generator_health_are_in_the_page() {
    let page = page("metrics.md");
    for limit in [
        format!("above {} ms", health::LAG_WARN_MS),
        format!("above {} % of the objective", health::LAG_WARN_SHARE * 100.0),
        format!("above {} % of the objective", health::LAG_INVALID_SHARE * 100.0),
        format!("less than {} %", health::ACHIEVED_MIN * 100.0),
        format!("fewer than {}", health::ACHIEVED_MIN_ARRIVALS),
        format!("more than {} % of its core for {} s", health::BUSY_SHARE * 100.0, health::BUSY_SECONDS),
        format!("more than {} % of the allowed file descriptors", health::FILES_WARN_SHARE * 100.0),
    ] {
        assert!(page.contains(&limit), "docs/metrics.md should say: {limit}");
    }
}

#[test]
fn every_class_of_the_ledger_is_defined() {
    let page = page("ledger.md");
    let counts = serde_json::to_value(ledger::Counts::default()).unwrap();
    for name in counts.as_object().unwrap().keys() {
        assert!(page.contains(&format!("| `{name}` |")), "docs/ledger.md should define `{name}`");
    }
    let rules = ledger::Rules::default();
    assert_eq!((rules.deadline_ns, rules.settle_ns, rules.echo), (1_000_000_000, 100_000_000, true));
    assert!(page.contains("(default 1 s)") && page.contains("(default 100 ms)"));
}

#[test]
fn every_failure_has_a_code_of_its_own_that_reads_back() {
    use Failure::*;
    let all = [
        NameNotResolved,
        ConnectRefused,
        ConnectTimeout,
        ConnectFailed,
        GeneratorExhausted,
        TlsFailed,
        NotTls,
        CertificateSelfSigned,
        CertificateRootUntrusted,
        CertificateIssuerUnknown,
        CertificateChainIncomplete,
        CertificateExpired,
        CertificateNotYetValid,
        CertificateWrongName,
        HandshakeRefused(503),
        PollRefused(500),
        HandshakeTimeout,
        NamespaceRefused,
        BrokerError,
        Timeout,
        PoolExhausted,
        AckTimeout,
        Reset,
        ClosedEarly,
        Closed(4008),
        Protocol,
        SubprotocolMissing,
        SubprotocolUnknown,
        TooManyRedirects,
        RedirectInvalid,
        CaptureOrMatch,
        JoinRefused,
        ExpectationMissed,
        ExpectationFailed,
        NotConnected,
        Template,
        Function,
        FunctionTimeout,
        ProcessorLost,
    ];
    let codes: BTreeSet<_> = all.iter().map(|failure| failure.code()).collect();
    assert_eq!((codes.len(), FAILURES.len()), (all.len(), all.len()));
    for failure in all {
        assert_eq!(Failure::from_code(&failure.code()), Some(failure));
    }
    assert_eq!((Closed(4008).code().as_ref(), Closed(4008).parameter()), ("closed_4008", Some(4008)));
    for wrong in ["", "closed", "closed_", "closed_x", "reset_1", "nothing"] {
        assert_eq!(Failure::from_code(wrong), None, "{wrong}");
    }
}

#[test]
fn a_refusal_for_too_many_requests_has_a_hint_of_its_own() {
    let hint = |code: &str| Failure::from_code(code).and_then(Failure::hint).unwrap_or_default();
    for code in ["handshake_refused_429", "poll_refused_429"] {
        assert!(hint(code).starts_with("the target limits requests"), "{code}: {}", hint(code));
    }
    assert!(hint("handshake_refused_401").starts_with("check path, token"));
}
