//! Lets the Autobahn fuzzing server test our WebSocket client: `autobahn_client ws://127.0.0.1:PORT`.
//!
//! It runs every case the server offers, echoes what it hears as the suite demands, and has the server write its
//! report. It judges nothing: `conformance/judge.mjs` reads the report.

#![allow(clippy::disallowed_methods, clippy::print_stderr, missing_docs)]

use std::future::poll_fn;
use std::process::ExitCode;
use std::time::Duration;

use sonagi_measure::At;
use sonagi_transport::link::{ConnectRequest, Ended, Env, Present, SCRATCH, WebsocketEvent, WebsocketLink};
use sonagi_transport::net::{Failed, Net, NetOptions, Origin};
use tokio::time::timeout;

const AGENT: &str = "sonagi";

/// Cases 9 send up to 16 MiB in one message.
const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// A case that has not ended by then never will; the suite's slowest take a few seconds.
const CASE_LIMIT: Duration = Duration::from_secs(120);

enum Heard {
    Text(String),
    Binary(Vec<u8>),
}

fn main() -> ExitCode {
    let Some(server) = std::env::args().nth(1) else {
        eprintln!("usage: autobahn_client ws://HOST:PORT");
        return ExitCode::from(2);
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("autobahn_client: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(&server)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("autobahn_client: {}", failed.detail);
            ExitCode::FAILURE
        }
    }
}

async fn run(server: &str) -> Result<(), Failed> {
    let net = Net::real(NetOptions::default())?;
    let mut scratch = vec![0; SCRATCH];
    let mut count = 0;
    converse(&net, &format!("{server}/getCaseCount"), &mut scratch, |heard, _| {
        if let Heard::Text(text) = heard {
            count = text.parse().unwrap_or(0);
        }
    })
    .await?;
    for case in 1..=count {
        let url = format!("{server}/runCase?case={case}&agent={AGENT}");
        let echo = |heard: Heard, link: &mut WebsocketLink| match heard {
            Heard::Text(text) => link.send_text(&text),
            Heard::Binary(bytes) => link.send_binary(&bytes),
        };
        // How a case ends is for the server to judge; that it hangs is for us.
        if timeout(CASE_LIMIT, converse(&net, &url, &mut scratch, echo)).await.is_err() {
            eprintln!(
                "autobahn_client: case {case} of {count} did not end within {} s",
                CASE_LIMIT.as_secs()
            );
        }
    }
    converse(&net, &format!("{server}/updateReports?agent={AGENT}"), &mut scratch, |_, _| {}).await?;
    Ok(())
}

/// Connects, hands over every message until the connection ends, and lets each be answered.
async fn converse(
    net: &Net,
    url: &str,
    scratch: &mut [u8],
    mut answer: impl FnMut(Heard, &mut WebsocketLink),
) -> Result<Ended, Failed> {
    let (origin, path) = Origin::parse(url)?;
    let request = ConnectRequest {
        origin,
        path,
        headers: Vec::new(),
        subprotocols: Vec::new(),
        max_message: MAX_MESSAGE,
    };
    let mut link = WebsocketLink::connect(net, request).await?;
    let ended = poll_fn(|cx| {
        loop {
            let mut heard = Vec::new();
            let present = Present::new(&|| At(0));
            let mut env = Env { present: &present, scratch: &mut *scratch };
            let progress = link.poll_events(cx, &mut env, |event| match event {
                WebsocketEvent::Text(text) => heard.push(Heard::Text(text.to_owned())),
                WebsocketEvent::Binary(bytes) => heard.push(Heard::Binary(bytes.to_vec())),
                _ => {}
            });
            let nothing_to_answer = heard.is_empty();
            heard.into_iter().for_each(|one| answer(one, &mut link));
            if progress.is_ready() || nothing_to_answer {
                return progress;
            }
        }
    })
    .await;
    Ok(ended)
}
