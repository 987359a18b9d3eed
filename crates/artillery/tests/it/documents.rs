//! The published examples load, and the reference lists every key as the tables have it.

use crate::support::{loaded, notices, repository};
use sonagi_artillery::Overrides;

#[test]
fn every_published_example_loads() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(repository("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yml") {
            loaded(&path, &Overrides::default());
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    names.sort();
    assert_eq!(
        names,
        [
            "closed-model.yml",
            "held-connections.yml",
            "http.yml",
            "socketio-chat.yml",
            "transports.yml",
            "websocket-room.yml"
        ]
    );
}

#[test]
fn an_example_s_environment_changes_its_transport() {
    let overrides = Overrides { environment: Some("polling".into()), ..Overrides::default() };
    let chat = loaded(&repository("examples/socketio-chat.yml"), &overrides);
    assert_eq!(chat.plan.socketio.transport, sonagi_transport::link::SocketioTransport::Polling);
    assert!(notices(&chat).iter().any(|notice| notice.contains("counts once in socketio.response_time")));
}

/// `UPDATE_PLANS=1 cargo test -p sonagi-artillery` writes the tables anew.
#[test]
fn the_reference_lists_every_key() {
    const BEGIN: &str = "<!-- keys: begin -->\n";
    const END: &str = "<!-- keys: end -->";
    let path = repository("docs/scripts.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}\n{}{END}{after}", sonagi_artillery::reference());
    if std::env::var_os("UPDATE_PLANS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), wanted, "docs/scripts.md lags behind the key tables");
}
