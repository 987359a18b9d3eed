//! Pages of metrics, as a service would serve them.

use crate::support::Watching;
use sonagi_watch::probes::probe;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// A server of one page, which wants a password if it is told one.
pub(crate) struct Server {
    pub(crate) port: u16,
    page: Arc<Mutex<Page>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Page {
    text: String,
    authorization: Option<String>,
    served: u64,
    is_over: bool,
}

impl Server {
    pub(crate) fn start(text: &str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let page = Arc::new(Mutex::new(Page { text: text.to_owned(), ..Page::default() }));
        let served = Arc::clone(&page);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.lock().unwrap().is_over {
                    break;
                }
                // A client that goes away early is its own business.
                let _ = stream.and_then(|stream| answer(stream, &served));
            }
        });
        Server { port, page, thread: Some(thread) }
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap()
    }

    pub(crate) fn put(&self, text: &str) {
        self.page().text = text.to_owned();
    }

    pub(crate) fn served(&self) -> u64 {
        self.page().served
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.page.lock().unwrap().is_over = true;
        // Wakes it up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn answer(mut stream: TcpStream, page: &Mutex<Page>) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let mut page = page.lock().unwrap();
    let wanted = page.authorization.as_ref().map(|value| format!("authorization: {value}"));
    let is_welcome = wanted.is_none_or(|wanted| head.iter().any(|line| line.eq_ignore_ascii_case(&wanted)));
    let (status, text) = if is_welcome { ("200 OK", page.text.as_str()) } else { ("401 Unauthorized", "") };
    let length = text.len();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}")?;
    page.served += 1;
    Ok(())
}

const NODE: &str = "\
# TYPE nodejs_eventloop_lag_p99_seconds gauge
nodejs_eventloop_lag_p99_seconds 0.160
nodejs_eventloop_lag_max_seconds 0.310
# TYPE nodejs_gc_duration_seconds histogram
nodejs_gc_duration_seconds_bucket{le=\"+Inf\",kind=\"minor\"} 4
nodejs_gc_duration_seconds_sum{kind=\"minor\"} 1
nodejs_gc_duration_seconds_count{kind=\"minor\"} 4
# TYPE http_requests_total counter
http_requests_total{path=\"/users/{id}\",token=\"planted\"} 10
";

#[test]
fn counters_of_a_page_are_increases_and_gauges_are_levels() {
    let server = Server::start(NODE);
    let mut watching = Watching::start(probe(&format!("http://127.0.0.1:{}/metrics", server.port)).unwrap());
    watching.until("a level", |seen| seen.one("nodejs_eventloop_lag_p99_seconds") == Some(0.16));
    assert_eq!(watching.seen.one("runtime.loop_lag"), Some(150.0));
    assert_eq!(watching.seen.one("runtime.loop_lag.max"), Some(300.0));
    assert_eq!(
        watching.seen.one("http_requests_total"),
        None,
        "what was counted before is nobody's increase"
    );
    server.put(&NODE.replace("} 10\n", "} 17\nhttp_requests_total{path=\"/new\"} 2\n"));
    watching
        .until("an increase", |seen| seen.by("http_requests_total", "path").get("/users/{id}") == Some(&7.0));
    assert_eq!(watching.seen.by("http_requests_total", "path").get("/new"), Some(&2.0));
    // The process began anew.
    server.put(&NODE.replace("} 10\n", "} 3\n"));
    watching.until("an increase after its start", |seen| {
        seen.by("http_requests_total", "path").get("/users/{id}") == Some(&10.0)
    });
    assert_eq!(watching.seen.by("http_requests_total", "token").keys().collect::<Vec<_>>(), ["***"]);
    assert!(watching.seen.one("nodejs_gc_duration_seconds_bucket").is_none());
    assert_eq!(watching.seen.told(), "");
}

#[test]
fn known_names_are_pools_and_garbage_collection() {
    let page = |gc: f64| {
        format!(
            "hikaricp_connections_active{{pool=\"main\"}} 10.0\nhikaricp_connections_max{{pool=\"main\"}} 10.0\n\
             hikaricp_connections_pending{{pool=\"main\"}} 4.0\n# TYPE jvm_gc_pause_seconds summary\n\
             jvm_gc_pause_seconds_count{{action=\"minor\"}} 1\njvm_gc_pause_seconds_sum{{action=\"minor\"}} {gc}\n"
        )
    };
    let server = Server::start(&page(1.0));
    let mut watching = Watching::start(probe(&format!("http://127.0.0.1:{}/actuator", server.port)).unwrap());
    watching.until("a pool", |seen| seen.by("pool.waiting", "pool").get("main") == Some(&4.0));
    assert_eq!(watching.seen.by("pool.active", "pool").get("main"), Some(&10.0));
    assert_eq!(watching.seen.by("pool.max", "pool").get("main"), Some(&10.0));
    watching.until("no garbage", |seen| seen.one("runtime.gc") == Some(0.0));
    server.put(&page(1.5));
    // Half a second, in a second or a little more.
    watching.until("garbage", |seen| seen.one("runtime.gc").is_some_and(|share| share > 0.1 && share < 0.6));
}

#[test]
fn a_page_that_wants_a_password_gets_it_and_nobody_else_does() {
    let server = Server::start("up 1\n");
    // user:plan@ted
    server.page().authorization = Some("Basic dXNlcjpwbGFuQHRlZA==".to_owned());
    let address = format!("http://user:plan%40ted@127.0.0.1:{}/metrics?key=planted", server.port);
    let mut watching = Watching::start(probe(&address).unwrap());
    watching.until("a level", |seen| seen.one("up") == Some(1.0));
    server.page().authorization = Some("Basic another".to_owned());
    watching.until("a refusal", |seen| seen.told().contains("it answers 401"));
    watching.until("it is lost", |seen| seen.told().contains("it stopped answering: it answers 401"));
    let all = format!("{:?}", watching.seen);
    assert!(!all.contains("plan"), "{all}");
    assert_eq!(watching.seen.notes[0].subject, format!("http://127.0.0.1:{}/metrics", server.port));
}

#[test]
fn a_page_that_is_none_or_too_long_or_gone_is_told_once() {
    let server = Server::start("<!doctype html><title>Hello</title>");
    let mut watching = Watching::start(probe(&format!("http://127.0.0.1:{}", server.port)).unwrap());
    watching.until("no page", |seen| seen.told().contains("it begins with `<!doctype html>"));
    let before = server.served();
    watching.until("more looks", |_| server.served() > before + 1);
    assert_eq!(watching.seen.notes.len(), 1);
    let lines: String = (0..2_000).map(|number| format!("s{{n=\"{number}\"}} {number}\n")).collect();
    server.put(&lines);
    watching.until("its beginning", |seen| seen.by("s", "n").len() == 950);
    watching.until("a note", |seen| seen.told().contains("some of its series are not measured"));
    server.put(&"#".repeat((8 << 20) + 1));
    watching.until("too long", |seen| seen.told().contains("it is larger than 8 MiB"));
    server.put("up 1\n");
    watching.until("again", |seen| seen.one("up") == Some(1.0));
    drop(server);
    watching.until("gone", |seen| seen.told().contains("nothing listens there"));
}

#[test]
fn an_encrypted_page_is_read_if_its_certificate_is_trusted_alone() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certified.cert.der().clone()], key.into()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(config).unwrap();
        // The handshake fails, for the client says who it does not trust.
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
    });
    let mut watching = Watching::start(probe(&address).unwrap());
    watching.until("a refusal", |seen| seen.told().contains("invalid peer certificate: UnknownIssuer"));
    assert!(watching.seen.notes[0].hint.as_ref().unwrap().contains("must be trusted by this machine"));
    server.join().unwrap();
    assert!(watching.seen.values.keys().all(|(metric, _)| metric.starts_with("watch.")));
}

#[test]
fn an_address_of_a_page_is_refused_with_the_rule() {
    let why = |text: &str| probe(text).err().unwrap();
    assert_eq!(why("http://u:planted@"), "an address has a scheme and a host: empty host; got `http://`");
}
