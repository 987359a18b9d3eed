//! The server's life: its address, its thread, and a graceful end.

use super::access::Access;
use super::feed::{Feed, yield_to_load};
use super::flags::Listen;
use super::library::Library;
use super::routes::{self, Shared};
use crate::error::Error;
use crate::signals::StopRequests;
use crate::terminal::Terminal;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Ports tried after one that is taken.
const NEXT_PORTS: u16 = 20;
/// How long pages are waited for at the end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether the last lines are there, or a signal has come.
const LOOKED_EVERY: Duration = Duration::from_millis(20);
/// How long a browser may take to send a request's head.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// What the address itself shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The table of all runs in the library.
    Library,
    /// One run of it, by its id; the others are not shown.
    Run(String),
    /// The runs of this process, the one under way at the address itself; and whether their folders go with it.
    Own { is_temporary: bool },
}

/// A server of pages.
pub(crate) struct Server {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the runs in `library`. A port that is taken makes way for the next free one. `flag` chooses the address.
    pub(crate) fn start(
        wanted: &Listen,
        flag: &str,
        library: &Path,
        subject: Subject,
    ) -> Result<Server, Error> {
        let cannot = |error: io::Error| {
            Error::could_not(format_args!(
                "cannot serve the page on {}: {error}\nhint: choose another address with {flag}",
                wanted.address,
            ))
        };
        let listener = bind(wanted.address).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let access = Access::new(address, wanted.name.clone(), token().map_err(cannot)?);
        let shared = Arc::new(Shared::new(access, Library::new(library.to_owned()), subject.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("page".to_owned()).spawn(move || {
            yield_to_load();
            runtime.block_on(serve(listener, served));
            runtime.shutdown_background();
        });
        Ok(Server { shared, thread: Some(thread.map_err(cannot)?) })
    }

    /// The address to open: of the page alone.
    pub(crate) fn url(&self) -> String {
        self.shared.access().url()
    }

    /// The address whose page may stop runs of this process.
    pub(crate) fn url_with_token(&self) -> String {
        self.shared.access().url_with_token()
    }

    /// A run of this process begins in this folder: it is shown from now on, and `stop` ends it gracefully, once.
    pub(crate) fn show(&self, folder: &Path, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let library = self.shared.library();
        let below = folder.strip_prefix(library).map_or_else(|_| super::id(folder).into(), Path::to_owned);
        let id = below.to_string_lossy().into_owned();
        let feed = Feed::start(folder, &id, self.shared.expected(true))?;
        self.shared.begin(id, feed, Box::new(stop));
        Ok(())
    }

    /// The run of this process is over: its page cannot stop it any more.
    pub(crate) fn end_own(&self) {
        self.shared.end_own();
    }

    /// Waits until the page of this process's run has its last line; the run's folder is written.
    pub(crate) fn settle(&self) {
        let Some(feed) = self.shared.own_feed() else { return };
        feed.expect_no_run();
        let until = Instant::now() + PATIENCE;
        while !feed.is_done() && Instant::now() < until {
            std::thread::sleep(LOOKED_EVERY);
        }
    }

    /// No other run of this process will come.
    pub(crate) fn end_runs(&self) {
        self.shared.end_runs();
    }

    /// Serves until the next signal, which no run hears any more.
    pub(crate) fn keep(&self, stop_requests: &StopRequests, terminal: &Terminal) {
        stop_requests.begin_serving();
        terminal.say(&format!("page        {} until Ctrl-C", self.url()));
        while !stop_requests.to_end_serving() {
            std::thread::sleep(LOOKED_EVERY);
        }
    }
}

/// Pages get their last lines first.
impl Drop for Server {
    fn drop(&mut self) {
        self.shared.close();
        if let Some(thread) = self.thread.take() {
            // It panics only with us.
            let _ = thread.join();
        }
    }
}

fn bind(wanted: SocketAddr) -> io::Result<TcpListener> {
    let last = wanted.port().saturating_add(NEXT_PORTS);
    let mut taken = None;
    for port in wanted.port()..=last {
        match TcpListener::bind(SocketAddr::new(wanted.ip(), port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => taken = Some(error),
            bound => return bound,
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

/// Nobody can guess it in the time that a run takes.
fn token() -> io::Result<String> {
    Ok(format!("{:016x}", getrandom::u64().map_err(io::Error::other)?))
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut closing = shared.closing();
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.changed() => break,
            Some(_) = connections.join_next() => continue,
        };
        let Ok((socket, _)) = accepted else {
            // Out of files, say: the load has them.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if connections.len() >= routes::CONNECTIONS_MAX {
            continue;
        }
        let (shared, mut closing) = (Arc::clone(&shared), shared.closing());
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, std::convert::Infallible>(routes::answer(request, &shared).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            let mut connection = pin!(http.serve_connection(TokioIo::new(socket), service));
            tokio::select! {
                _ = connection.as_mut() => {}
                _ = closing.changed() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        });
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(PATIENCE, all).await;
}
