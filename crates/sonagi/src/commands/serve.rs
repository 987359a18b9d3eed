//! `sonagi serve`: the reference chat service on its own, with faults on request.

use crate::error::Error;
use crate::exit::Exit;
use crate::launch::LISTENING;
use crate::nginx::{self, Instances};
use crate::terminal::Terminal;
use crate::{limits, signals, values};
use clap::error::ContextKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_artillery::RefusedArgument;
use sonagi_chat::{
    Account, BusAddress, Config, Faults, PostgresLocation, Rate, Service, StoreLocation, TlsFiles,
};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

pub(super) const NAME: &str = "serve";

/// The hint for starting a service without accounts: a 401 would be the first sign of it otherwise.
const NO_ACCOUNTS: &str = "no accounts: every login is answered 401\n\
     hint: create some with --seed-users N, or one with --account EMAIL:PASSWORD";

/// The options of a service with `users` seeded accounts, written to `credentials`.
pub(super) fn seeded(users: u32, credentials: &Path) -> Vec<String> {
    vec![format!("--seed-users={users}"), format!("--credentials={}", credentials.display())]
}

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Run the reference chat service: logins, rooms, history, location groups over six transports")
        .long_about(
            "Run the reference chat service: accounts, friends, rooms and messages over HTTP, WebSocket, Socket.IO and \
             STOMP (with or without SockJS), and location groups also over event streams, polling and long polling \
             (docs/service.md). Once it is ready, it prints `listening on http://HOST:PORT` (https with --tls) as its \
             first line. The first Ctrl-C or SIGTERM drains it, the second stops it at once.",
        )
        .args(proxy_flags())
        .args(store_flags())
        .arg(
            flag("seed-users", "N", "Create user1@example.test … userN@example.test, password `password`")
                .default_value("0")
                .value_parser(value_parser!(u32).range(0..=1_000_000)),
        )
        .arg(
            flag("account", "EMAIL:PASSWORD", "Also create this account, a friend of the last seeded ones; repeatable")
                .action(ArgAction::Append)
                .value_parser(account),
        )
        .arg(
            flag("credentials", "FILE", "Write the users' emails and passwords to this file (.csv or .json)")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            flag("fault", "SPEC", "Misbehave on purpose, e.g. \
                                   drop=3%,duplicate=1%,delay=50ms@5%,reorder=1%,leak=0.1%,seed=7")
                .value_parser(|text: &str| text.parse::<Faults>().map_err(|error| error.to_string())),
        )
        .arg(
            flag("origin", "ORIGIN", "Accept only browsers with exactly this origin; repeatable")
                .action(ArgAction::Append),
        )
        .arg(
            flag("workers", "N", "Threads; default: one per core")
                .value_parser(value_parser!(u16).range(1..=1024)),
        )
        .args(limit_flags())
        .arg(limit("recovery", "Keep a lost Socket.IO session recoverable for this long; default: not at all"))
        .arg(time("grace", "Drain for this long before stopping").default_value("2s"))
        .arg(
            Arg::new("null")
                .long("null")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["fault", "store", "bus", "protocol-suite", "recovery"])
                .help("Act as a target for measuring load generators: minimal answers, nothing stored \
                       (docs/service.md)"),
        )
        .arg(
            Arg::new("protocol-suite")
                .long("protocol-suite")
                .action(ArgAction::SetTrue)
                .help("Add the endpoints and events that the published Engine.IO and Socket.IO test suites expect"),
        )
        .arg(
            Arg::new("stop-on-eof")
                .long("stop-on-eof")
                .action(ArgAction::SetTrue)
                .help("Drain and stop when standard input ends, so that a child process never outlives its parent"),
        )
}

/// Where all is kept, and who else has it.
fn store_flags() -> [Arg; 4] {
    [
        // Judged by `store`, as the last by `bus`: what the parser says of a value holds its password.
        flag(
            "store",
            "memory|FILE|postgres://…",
            "Store users and messages in memory, in an SQLite file, or in a PostgreSQL database that services may \
             share",
        )
        .default_value("memory"),
        flag("pool", "N", "Limit on connections to the PostgreSQL store; default: 10")
            .value_parser(value_parser!(u16).range(1..)),
        limit("pool-timeout", "Longest wait for one of them; then the answer is 503. Default: 5s"),
        flag(
            "bus",
            "redis://…",
            "Share rooms over this Redis with the other instances of the same PostgreSQL store",
        ),
    ]
}

/// The arguments that the command would refuse when it starts, each with its index.
pub(super) fn refused(arguments: &[String]) -> Vec<RefusedArgument> {
    let parse = |given: &[String]| define().no_binary_name(true).try_get_matches_from(given).err();
    let refused = |argument, error: &clap::Error| {
        let why = why(error);
        match why.split_once("\nhint: ") {
            Some((why, hint)) => {
                RefusedArgument { argument, why: why.to_owned(), hint: Some(hint.to_owned()) }
            }
            None => RefusedArgument { argument, why, hint: None },
        }
    };
    let alone: Vec<_> = (0..arguments.len())
        .filter_map(|at| parse(&arguments[at..=at]).map(|error| refused(at, &error)))
        .collect();
    if !alone.is_empty() {
        return alone;
    }
    // Each is valid by itself: two of them are not, together.
    let Some(error) = parse(arguments) else { return refused_store(arguments) };
    let named = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let flag = named.split(' ').next();
    let at = arguments.iter().position(|argument| argument.split('=').next() == flag);
    vec![refused(at.unwrap_or_default(), &error)]
}

/// The argument about the store that the command would refuse when it starts.
fn refused_store(arguments: &[String]) -> Vec<RefusedArgument> {
    let Ok(matches) = define().no_binary_name(true).try_get_matches_from(arguments) else {
        return Vec::new();
    };
    let Err(StoreProblem { flag, why }) = store(&matches) else { return Vec::new() };
    let named = format!("--{flag}");
    let at = arguments.iter().position(|argument| argument.split('=').next() == Some(named.as_str()));
    let (why, hint) = match why.split_once("\nhint: ") {
        Some((why, hint)) => (why.to_owned(), Some(hint.to_owned())),
        None => (why, None),
    };
    vec![RefusedArgument { argument: at.unwrap_or_default(), why, hint }]
}

/// Clap's objection to an argument, without the argument's name.
fn why(error: &clap::Error) -> String {
    if let Some(cause) = std::error::Error::source(error) {
        return cause.to_string();
    }
    match error.get(ContextKind::PriorArg) {
        Some(other) => format!("it cannot stand beside `{other}`"),
        None => error.kind().to_string(),
    }
}

/// Where it listens, and what a proxy in front of it needs.
fn proxy_flags() -> [Arg; 5] {
    [
        flag("listen", "ADDRESS", "Address to listen on; port 0 picks a free one")
            .default_value("127.0.0.1:8080")
            .value_parser(value_parser!(SocketAddr)),
        flag(
            "tls",
            "CERT.pem,KEY.pem",
            "Speak TLS with this certificate and key; both are read again on SIGHUP and when they change",
        )
        .value_parser(tls_files),
        flag(
            "instance",
            "N",
            "Number of this instance behind a proxy: Engine.IO session ids begin with `N.`",
        )
        .value_parser(value_parser!(u16).range(1..=999)),
        Arg::new("print-nginx").long("print-nginx").action(ArgAction::SetTrue).help(
            "Print an nginx configuration for instances of this service, and exit; nginx listens at --listen",
        ),
        flag(
            "instances",
            "N|ADDRESS,…",
            "Instances behind that nginx: so many at the ports after --listen's, or these addresses",
        )
        .default_value("3")
        .value_parser(Instances::parse)
        .requires("print-nginx"),
    ]
}

/// Limits of the service with flags of their own; the others are in docs/service.md.
fn limit_flags() -> [Arg; 13] {
    let count = |name, value, help| flag(name, value, help).value_parser(value_parser!(u32).range(1..));
    [
        count("connections", "N", "Limit on open connections"),
        count(
            "queue-bytes",
            "BYTES",
            "Limit on bytes queued for one connection; beyond it, the connection is closed \
                                       with 4008",
        ),
        count("max-payload", "BYTES", "Limit on the size of a WebSocket message or polling body"),
        count("groups-per-address", "N", "Limit on location groups created by one address; default: 10000"),
        count(
            "login-rate",
            "N",
            "Limit on logins per second of one account, with bursts of four times as many; \
                                  default: 5",
        ),
        flag("password-cost", "KIB", "Memory for hashing the password of a new account; default: 4096")
            .value_parser(value_parser!(u32).range(8..=1_048_576)),
        limit("ping-interval", "Interval between pings of a connection"),
        limit("ping-timeout", "Time limit for the answer to a ping"),
        limit("connect-timeout", "Time limit for a new connection to join or CONNECT"),
        limit("long-hold", "Longest wait of a long poll for a message"),
        Arg::new("long-expiry-503")
            .long("long-expiry-503")
            .action(ArgAction::SetTrue)
            .help("Answer a long poll that expired without a message with 503 instead of 204"),
        limit("sse-lifetime", "End an event stream after this time; default: never"),
        time(
            "gather",
            "Longest delay of a message to share a write with the next ones; 0s sends each at once",
        ),
    ]
}

fn flag(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn time(name: &'static str, help: &'static str) -> Arg {
    flag(name, "TIME", help).value_parser(values::duration)
}

fn account(text: &str) -> Result<Account, String> {
    match text.split_once(':') {
        Some((email, password)) if email.contains('@') && !password.is_empty() => {
            Ok(Account { email: email.to_owned(), password: password.to_owned() })
        }
        _ => Err("an account is an email address and a password, as in ann@example.test:secret".to_owned()),
    }
}

fn tls_files(text: &str) -> Result<TlsFiles, String> {
    match text.split(',').collect::<Vec<_>>()[..] {
        [certificate, key] if !certificate.is_empty() && !key.is_empty() => {
            Ok(TlsFiles { certificate: certificate.into(), key: key.into() })
        }
        _ => Err(
            "TLS takes two files of PEM, the certificate's and its key's, with a comma between them, as in \
             fullchain.pem,privkey.pem"
                .to_owned(),
        ),
    }
}

/// A flag for a limit that must not be zero.
fn limit(name: &'static str, help: &'static str) -> Arg {
    flag(name, "TIME", help).value_parser(values::positive_duration)
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let config = Config { bus: bus(matches)?, ..config(matches)? };
    if matches.get_flag("print-nginx") {
        return print_nginx(&config, matches, terminal);
    }
    let (is_null, is_child, is_secure) = (config.null, matches.get_flag("stop-on-eof"), config.tls.is_some());
    let credentials = credentials(matches, config.seed_users + config.accounts.len())?;
    let grace = *matches.get_one::<Duration>("grace").expect("it has a default");
    limits::raise_open_files();
    let runtime = runtime(config.workers)
        .map_err(|error| Error::could_not(format_args!("cannot start threads: {error}")))?;
    // Signals are listened for before anything can be connected to: a reader of the first line may send one.
    let (stop, stop_at_once) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (first, second, says) = (stop.clone(), stop_at_once.clone(), *terminal);
    let draining = move || {
        says.say(&format!("draining for {} s; Ctrl-C again stops at once", grace.as_secs_f64()));
        first.notify_one();
    };
    signals::listen(*terminal, draining, move || second.notify_one())?;
    if matches.get_flag("stop-on-eof") {
        stop_on_eof(stop.clone());
    }
    runtime.block_on(async {
        // Before anybody can know where it listens; without TLS the signal ends it, as it ends any program.
        let hangups = is_secure.then(|| signal(SignalKind::hangup())).transpose();
        let hangups =
            hangups.map_err(|error| Error::could_not(format_args!("cannot listen for SIGHUP: {error}")))?;
        let service = sonagi_chat::start(config).await.map_err(Error::could_not)?;
        if let Some(path) = credentials {
            sonagi_chat::write_credentials(path, service.credentials()).map_err(Error::could_not)?;
        }
        let says = *terminal;
        service.on_failure(move |trouble| says.say(&format!("error: {trouble}")));
        let listening = if is_secure { LISTENING.replace("http:", "https:") } else { LISTENING.to_owned() };
        terminal.print(&format!("{listening}{}\n", service.address()))?;
        if service.accounts() == 0 && !is_null && !is_child {
            terminal.say(NO_ACCOUNTS);
        }
        tokio::select! {
            () = stop.notified() => {}
            () = reload(&service, hangups, terminal) => {}
        }
        tokio::select! {
            () = service.drain(grace) => Ok(Exit::Pass),
            () = stop_at_once.notified() => Ok(Exit::Interrupted),
        }
    })
}

fn print_nginx(config: &Config, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let instances = matches.get_one::<Instances>("instances").expect("it has a default");
    let text = nginx::configuration(config, instances).map_err(|why| {
        Error::flag(
            "--instances",
            format_args!("{why}\nhint: --listen is where nginx will listen, as in 0.0.0.0:8080"),
        )
    })?;
    terminal.print(&text)?;
    Ok(Exit::Pass)
}

/// Reads the certificate again at every SIGHUP, and says what came of it; never ends.
async fn reload(service: &Service, hangups: Option<Signal>, terminal: &Terminal) {
    let Some(mut hangups) = hangups else { return std::future::pending().await };
    while hangups.recv().await.is_some() {
        match service.reload_certificate().await {
            Ok(()) => terminal.say("read the certificate again: new connections get it"),
            Err(error) => terminal.say(&format!("error: the certificate in use stays: {error}")),
        }
    }
    std::future::pending::<()>().await;
}

/// The bus; read here because the argument parser would show a wrong address with its password.
fn bus(matches: &ArgMatches) -> Result<Option<BusAddress>, Error> {
    let address = matches.get_one::<String>("bus").map(|text| text.parse::<BusAddress>());
    address.transpose().map_err(|why| Error::flag("--bus", why))
}

/// A single-threaded runtime for one worker, else one with that many.
fn runtime(workers: usize) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match workers {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(workers).enable_all().build()
}

/// The path for the users' passwords, checked: a format we write, and users to write down.
fn credentials(matches: &ArgMatches, users: usize) -> Result<Option<&PathBuf>, Error> {
    let Some(path) = matches.get_one::<PathBuf>("credentials") else { return Ok(None) };
    let problem = |what: &dyn std::fmt::Display| Err(Error::flag("--credentials", what));
    let written = |extension: &std::ffi::OsStr| {
        extension.eq_ignore_ascii_case("csv") || extension.eq_ignore_ascii_case("json")
    };
    if !path.extension().is_some_and(written) {
        return problem(&format_args!("the file ends in .csv or .json; got `{}`", path.display()));
    }
    if users == 0 {
        return problem(
            &"there are no users to write down\nhint: create some with --seed-users N, or one with --account \
              EMAIL:PASSWORD",
        );
    }
    Ok(Some(path))
}

fn stop_on_eof(stop: Arc<Notify>) {
    std::thread::spawn(move || {
        let mut ignored = [0; 256];
        let mut input = std::io::stdin().lock();
        while matches!(input.read(&mut ignored), Ok(n) if n > 0) {}
        stop.notify_one();
    });
}

/// Why the store cannot be used as its flags say.
struct StoreProblem {
    flag: &'static str,
    why: String,
}

fn store(matches: &ArgMatches) -> Result<StoreLocation, StoreProblem> {
    let text = matches.get_one::<String>("store").map_or("memory", String::as_str);
    if !PostgresLocation::is_meant(text) {
        if let Some(flag) = ["pool", "pool-timeout"].into_iter().find(|flag| matches.contains_id(flag)) {
            let why = "only a PostgreSQL store has a pool of connections\nhint: add --store postgres://…";
            return Err(StoreProblem { flag, why: why.to_owned() });
        }
        return Ok(match text {
            "memory" => StoreLocation::Memory,
            file => StoreLocation::File(PathBuf::from(file)),
        });
    }
    let location = PostgresLocation::new(text);
    let mut location =
        location.map_err(|problem| StoreProblem { flag: "store", why: problem.to_string() })?;
    if let Some(pool) = matches.get_one::<u16>("pool") {
        location.pool = usize::from(*pool);
    }
    if let Some(timeout) = matches.get_one::<Duration>("pool-timeout") {
        location.pool_timeout = *timeout;
    }
    Ok(StoreLocation::Postgres(Box::new(location)))
}

fn config(matches: &ArgMatches) -> Result<Config, Error> {
    let store =
        store(matches).map_err(|StoreProblem { flag, why }| Error::flag(&format!("--{flag}"), why))?;
    let mut config = Config {
        listen: *matches.get_one("listen").expect("it has a default"),
        instance: matches.get_one::<u16>("instance").copied(),
        tls: matches.get_one::<TlsFiles>("tls").cloned(),
        store,
        seed_users: *matches.get_one::<u32>("seed-users").expect("it has a default") as usize,
        accounts: matches.get_many::<Account>("account").into_iter().flatten().cloned().collect(),
        faults: matches.get_one::<Faults>("fault").cloned().unwrap_or_default(),
        origins: matches.get_many::<String>("origin").into_iter().flatten().cloned().collect(),
        protocol_suite: matches.get_flag("protocol-suite"),
        long_expiry_503: matches.get_flag("long-expiry-503"),
        recovery: matches.get_one::<Duration>("recovery").copied(),
        null: matches.get_flag("null"),
        ..Config::default()
    };
    if let Some(workers) = matches.get_one::<u16>("workers") {
        config.workers = usize::from(*workers);
    }
    let limits = &mut config.limits;
    let count = |name: &str, limit: &mut usize| {
        if let Some(n) = matches.get_one::<u32>(name) {
            *limit = *n as usize;
        }
    };
    count("connections", &mut limits.connections);
    count("queue-bytes", &mut limits.queue_bytes);
    count("max-payload", &mut limits.max_payload);
    count("groups-per-address", &mut limits.groups_per_address);
    if let Some(rate) = matches.get_one::<u32>("login-rate") {
        limits.login_per_email = Rate::of_logins(*rate);
    }
    if let Some(kib) = matches.get_one::<u32>("password-cost") {
        limits.password_cost.memory_kib = *kib;
    }
    let time = |name: &str, limit: &mut Duration| {
        if let Some(time) = matches.get_one::<Duration>(name) {
            *limit = *time;
        }
    };
    time("ping-interval", &mut limits.ping_interval);
    time("ping-timeout", &mut limits.ping_timeout);
    time("connect-timeout", &mut limits.connect_timeout);
    time("gather", &mut limits.gather_most);
    time("long-hold", &mut limits.long_hold);
    limits.sse_lifetime = matches.get_one::<Duration>("sse-lifetime").copied();
    Ok(config)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_option_a_script_can_set_is_a_flag_of_the_command() {
        let command = super::define();
        let flags: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let options = sonagi_artillery::serve_options();
        let unknown: Vec<_> = options.iter().filter(|option| !flags.contains(&option.as_str())).collect();
        assert!(options.len() > 10 && unknown.is_empty(), "{unknown:?} of {options:?}");
    }
}
