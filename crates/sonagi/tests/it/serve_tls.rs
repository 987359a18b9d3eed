//! `sonagi serve --tls`, as its user and our own engine meet it.

use crate::support::{Place, Running};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Writes a certificate for 127.0.0.1 and its key, one file after the other.
fn renew(place: &Place) {
    let pair = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    place.write("cert.pem", &pair.cert.pem());
    place.write("key.pem", &pair.signing_key.serialize_pem());
}

/// A service that speaks TLS, and its address. It ends when its standard input does.
fn serving(place: &Place) -> (Running, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    let arguments =
        ["serve", "--listen=127.0.0.1:0", "--tls=cert.pem,key.pem", "--stop-on-eof", "--grace=0s"];
    let mut command = place.command(&arguments);
    command.stdin(Stdio::piped()).stdout(writer);
    let running = Running::start(command);
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it said {line:?}"));
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    (running, url.to_owned())
}

#[test]
fn every_transport_of_the_engine_meets_the_service_over_tls() {
    let place = Place::new();
    renew(&place);
    let (running, url) = serving(&place);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/scripts/churn/churn.yml");
    let mut command = place.command(&["run", script, "--target", &url, "--json", "--seed=1", "--no-folder"]);
    // The certificate is its own authority: whoever has it trusts it.
    command.envs([("SECONDS", "3"), ("RATE", "30"), ("SSL_CERT_FILE", "cert.pem")]);
    let answer = crate::support::Answer::from(command.output().unwrap());
    let summary = answer.json();
    assert_eq!(summary["users"]["failed"], 0, "{}", summary["errors"]);
    assert_eq!(summary["users"]["completed"], 90, "{}", summary["users"]);
    let ways = summary["scenarios"].as_object().unwrap();
    assert_eq!(ways.len(), 9, "{ways:?}");
    let delivery = &summary["delivery"];
    for class in ["lost", "duplicate", "reordered", "leaked", "unknown", "foreign"] {
        assert_eq!(delivery[class], 0, "{class}: {delivery}");
    }
    assert_eq!(delivery["delivered"], delivery["owed"], "{delivery}");
    assert!(delivery["owed"].as_u64().unwrap() > 50, "{delivery}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn sighup_reads_the_certificate_again_and_a_bad_one_changes_nothing() {
    let place = Place::new();
    renew(&place);
    let (mut running, url) = serving(&place);
    let trusts = |place: &Place| {
        let mut command = place.command(&["quick", &format!("{url}/healthz"), "--num", "1", "--no-folder"]);
        crate::support::Answer::from(command.env("SSL_CERT_FILE", "cert.pem").output().unwrap()).code
            == Some(0)
    };
    assert!(trusts(&place));
    place.write("key.pem", "no key");
    running.signal(Signal::HUP);
    running.wait_for("error: the certificate in use stays: cannot use key.pem for TLS: ");
    running.wait_for("hint: ");
    assert!(trusts(&place), "the old one is still shown");
    renew(&place);
    running.signal(Signal::HUP);
    running.wait_for("read the certificate again: new connections get it");
    assert!(trusts(&place), "the new one is shown");
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_certificate_that_cannot_be_used_is_exit_code_4_and_one_file_is_a_mistake_of_the_command_line() {
    let place = Place::new();
    let missing = place.sonagi(&["serve", "--listen=127.0.0.1:0", "--tls=cert.pem,key.pem"]);
    assert_eq!((missing.code, missing.out.as_str()), (Some(4), ""));
    assert!(missing.err.starts_with("error: cannot use cert.pem for TLS: "), "{}", missing.err);
    assert!(missing.err.contains("\nhint: --tls takes two files"), "{}", missing.err);
    for one in ["cert.pem", "cert.pem,", "a,b,c"] {
        let answer = place.sonagi(&["serve", "--tls", one]);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{one}");
        assert!(answer.err.contains("TLS takes two files"), "{}", answer.err);
    }
}
