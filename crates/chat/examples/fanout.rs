//! Measures the service alone: CPU per delivery in one room, and memory per idle connection.
//!
//! `cargo run --release -p sonagi-chat --example fanout -- room 500 10` lets 500 members of one room send once a second
//! for ten seconds, and a fourth argument names a database file to use instead of memory; `… -- idle 10000` opens idle
//! connections. The service runs in a child process with one worker thread, so its CPU and memory are its own; the
//! client only counts frames. `FANOUT_TARGET=127.0.0.1:8080 FANOUT_PID=…` measure a server that runs already and takes
//! the same frames without a token.

#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sonagi_chat::{Config, StoreLocation};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    match arguments.first().map(String::as_str) {
        Some("serve") => serve(number(1, 1), arguments.get(2)),
        Some("room") => on_one_thread(room(number(1, 500), number(2, 10), arguments.get(3))),
        Some("idle") => on_one_thread(idle(number(1, 10_000))),
        _ => eprintln!("room <members> <seconds> | idle <connections>"),
    }
}

fn on_one_thread(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}

/// The child: prints its address and a token a line, then serves until killed.
fn serve(users: usize, file: Option<&String>) {
    let store = file.map_or(StoreLocation::Memory, |path| StoreLocation::File(path.into()));
    let config = Config { seed_users: users, store, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = sonagi_chat::start(config).await.unwrap();
        println!("{}", service.address());
        for credential in service.credentials() {
            println!("{}", credential.token);
        }
        std::future::pending::<()>().await;
    });
}

struct Target {
    /// The service, unless it is somebody else's.
    child: Option<Child>,
    pid: u32,
    address: String,
    tokens: Vec<String>,
}

impl Target {
    fn start(users: usize, file: Option<&String>) -> Target {
        if let Ok(address) = std::env::var("FANOUT_TARGET") {
            let pid = std::env::var("FANOUT_PID").unwrap().parse().unwrap();
            // The output of our own `serve`: its address, then the tokens.
            let printed = std::env::var("FANOUT_TOKENS").map(|file| std::fs::read_to_string(file).unwrap());
            let lines = printed.unwrap_or_default();
            let mut tokens: Vec<String> = lines.lines().skip(1).map(str::to_owned).collect();
            tokens.resize(users, "any".to_owned());
            return Target { child: None, pid, address, tokens };
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["serve", &users.to_string()])
            .args(file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.next().unwrap();
        let tokens = lines.take(users).collect();
        Target { pid: child.id(), child: Some(child), address, tokens }
    }

    fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// User and system time, in hundredths of a second as the kernel counts them.
    fn cpu(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

async fn connect(target: &Target, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&target.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!(
        "GET /ws?room=lobby&token={token} HTTP/1.1\r\nHost: chat\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    stream
}

#[derive(Default)]
struct Tally {
    frames: AtomicU64,
    slowest_us: AtomicU64,
    latencies_us: Mutex<Vec<u64>>,
}

async fn count(mut stream: OwnedReadHalf, tally: Arc<Tally>, born: Instant) {
    let mut decoder = Decoder::new(Role::Client, 1 << 20);
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let fed = decoder.feed(&mut buffer[..read], |event| {
            let Event::Text(text) = event else { return };
            let Some(at) = text.find("@@") else { return };
            let n = tally.frames.fetch_add(1, Relaxed);
            // Every 64th copy is timed.
            if n.is_multiple_of(64) {
                let digits: String = text[at + 2..].chars().take_while(char::is_ascii_digit).collect();
                let us = (born.elapsed().as_micros() as u64).saturating_sub(digits.parse().unwrap());
                tally.slowest_us.fetch_max(us, Relaxed);
                tally.latencies_us.lock().unwrap().push(us);
            }
        });
        fed.unwrap();
    }
}

async fn room(members: usize, seconds: usize, file: Option<&String>) {
    let target = Target::start(members, file);
    let tally = Arc::new(Tally::default());
    let born = Instant::now();
    let mut senders = Vec::new();
    for token in &target.tokens {
        let (read, write) = connect(&target, token).await.into_split();
        tokio::spawn(count(read, tally.clone(), born));
        senders.push(write);
    }
    let cpu = target.cpu();
    let started = Instant::now();
    let gap = Duration::from_secs(1) / members as u32;
    for n in 0..members * seconds {
        tokio::time::sleep_until((started + gap * n as u32).into()).await;
        let text = format!(
            r#"{{"type":"send","content":"@@{} and some words to make it 86 long"}}"#,
            born.elapsed().as_micros()
        );
        let mut frame = Vec::new();
        websocket::encode(Opcode::Text, text.as_bytes(), Some([1, 2, 3, 4]), &mut frame);
        senders[n % members].write_all(&frame).await.unwrap();
    }
    let due = (members * members * seconds) as u64;
    let sending = started.elapsed();
    let mut waited = Duration::ZERO;
    while tally.frames.load(Relaxed) < due && waited < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        waited += Duration::from_millis(10);
    }
    let took = started.elapsed();
    let (frames, cpu) = (tally.frames.load(Relaxed), target.cpu() - cpu);
    let mut latencies = std::mem::take(&mut *tally.latencies_us.lock().unwrap());
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    println!(
        "{members} members: {frames} of {due} copies in {:.2} s (sent in {:.2} s), {:.0}/s, service CPU {:.2} s = \
         {:.2} µs a copy, p50 {:.2} ms p99 {:.2} ms max {:.2} ms, resident {} KiB",
        took.as_secs_f64(),
        sending.as_secs_f64(),
        frames as f64 / took.as_secs_f64(),
        cpu as f64 / 100.0,
        cpu as f64 * 10_000.0 / frames as f64,
        at(0.5),
        at(0.99),
        tally.slowest_us.load(Relaxed) as f64 / 1000.0,
        target.resident_kib()
    );
}

async fn idle(connections: usize) {
    let target = Target::start(1, None);
    let before = target.resident_kib();
    let mut open = Vec::with_capacity(connections);
    let started = Instant::now();
    for _ in 0..connections {
        open.push(connect(&target, &target.tokens[0]).await);
    }
    let took = started.elapsed();
    let after = target.resident_kib();
    println!(
        "{connections} idle connections in {:.2} s: resident {before} → {after} KiB = {:.2} KiB each",
        took.as_secs_f64(),
        (after - before) as f64 / connections as f64
    );
}
