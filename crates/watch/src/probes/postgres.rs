//! PostgreSQL: what its sessions do and wait for, who blocks whom, and which statement takes its time.
//!
//! One round trip a second over one connection, without TLS, as role of `pg_monitor` or with less to see. All is read
//! from the statistics views of its documentation's chapter "Monitoring Database Activity"; from version 9.6 on they
//! have what is needed. The probe's own session counts nowhere.

use super::postgres_statements::Statements;
use super::reach::Reach;
use super::sql;
use crate::probe::{Probe, Readings, Unread};
use sonagi_measure::At;
use std::collections::HashSet;
use std::error::Error as _;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};

/// The name of our session, by which it is known and not counted.
const NAME: &str = "sonagi";
/// A round trip that takes longer has failed.
const TIMEOUT: Duration = Duration::from_millis(1_500);
/// The first version that says who waits for whom.
const OLDEST: u32 = 90_600;
/// More sessions than this wait for locks for this long (ns): that is told.
const BLOCKED: (f64, i64) = (1.0, 2_000_000_000);
/// Pairs of statements of which one waits for the other, that are told at most.
const TOLD_MAX: usize = 20;

/// A probe of the database at this address.
pub(super) fn of(address: &str) -> Result<Box<dyn Probe>, String> {
    let told = super::without_password(address);
    let wants_tls = ["require", "verify-ca", "verify-full"]
        .iter()
        .any(|mode| address.contains(&format!("sslmode={mode}")));
    let config: Result<Config, _> = address.parse();
    if wants_tls || config.as_ref().is_ok_and(|config| config.get_ssl_mode() == SslMode::Require) {
        return Err(format!(
            "PostgreSQL is watched without TLS; got sslmode=require for `{told}`\nhint: connect from where TLS is not \
             asked for: its own machine, a private network, or `ssh -L 5433:localhost:5432 HOST`"
        ));
    }
    let mut config = config.map_err(|error| {
        // Its cause names the option, not its value.
        let why = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        format!("an address is postgres://USER:PASSWORD@HOST:PORT/DATABASE{why}; got `{told}`")
    })?;
    if config.get_hosts().is_empty() {
        config.host("localhost");
    }
    config.application_name(NAME).ssl_mode(SslMode::Disable).connect_timeout(TIMEOUT);
    Ok(Box::new(Postgres {
        told,
        at: host(&config),
        config,
        runtime: None,
        session: None,
        reach: Reach::default(),
        blocked_since: None,
        blocks_told: HashSet::new(),
        statements: Statements::default(),
    }))
}

fn host(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    format!("{host}:{}", config.get_ports().first().copied().unwrap_or(5432))
}

struct Postgres {
    /// The address without user and password.
    told: String,
    at: String,
    config: Config,
    /// On the probe's own thread.
    runtime: Option<Runtime>,
    session: Option<Session>,
    reach: Reach,
    /// Since when sessions have been waiting for locks.
    blocked_since: Option<At>,
    blocks_told: HashSet<(String, String)>,
    statements: Statements,
}

/// A connection that is open.
struct Session {
    client: Client,
    /// `server_version_num`.
    version: u32,
    /// Connections that are allowed.
    limit: f64,
}

impl Probe for Postgres {
    fn subject(&self) -> String {
        self.told.clone()
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        vec![("at", self.at.clone())]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let asked = self.ask(readings);
        if asked.is_err() {
            self.session = None;
        }
        let asked = self.reach.took(asked, readings)?;
        databases(&asked, readings);
        if self.may_look(&asked, readings) {
            sessions(&asked, readings);
            self.blocks(&asked, readings);
            self.statements.observe(&asked.running, readings);
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.session = None;
        // The goodbye is said by the connection's task.
        if let Some(runtime) = &self.runtime {
            runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
        }
    }
}

/// The rows of a round trip.
#[derive(Debug, Default)]
pub(super) struct Asked {
    limit: f64,
    sessions: Vec<SimpleQueryRow>,
    blocks: Vec<SimpleQueryRow>,
    databases: Vec<SimpleQueryRow>,
    /// Statements that run now, and in how many sessions.
    running: Vec<SimpleQueryRow>,
}

impl Postgres {
    /// One round trip; at first, and when the connection is lost, those of a new connection before it.
    fn ask(&mut self, readings: &mut Readings<'_>) -> Result<Asked, Unread> {
        let Postgres { runtime, session, config, statements, .. } = self;
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => {
                let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.insert(made.map_err(Unread::because)?)
            }
        };
        runtime.block_on(async {
            if session.is_none() {
                let opened = tokio::time::timeout(TIMEOUT, connect(config)).await.map_err(late)?;
                let opened = opened.inspect_err(|failure| {
                    if failure.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) {
                        readings.increase("postgres.refused", &[], 1.0);
                    }
                });
                let opened = opened.map_err(|error| unread(&error, config))?;
                if opened.version < OLDEST {
                    // 90500 is 9.5: none that is older than the oldest has a number of one part.
                    let (major, minor) = (opened.version / 10_000, opened.version / 100 % 100);
                    let why =
                        format!("it is of version {major}.{minor}, and says what is needed from 9.6 on");
                    return Err(Unread::because(why).hint("update PostgreSQL"));
                }
                statements.begin(&opened.client, opened.version).await;
                *session = Some(opened);
            }
            let Some(Session { client, version, limit }) = session else { return Ok(Asked::default()) };
            let text = queries(*version);
            let answered = tokio::time::timeout(TIMEOUT, client.simple_query(&text)).await.map_err(late)?;
            let mut asked = asked(answered.map_err(|error| unread(&error, config))?);
            asked.limit = *limit;
            statements.read(client, readings).await;
            Ok(asked)
        })
    }
}

async fn connect(config: &Config) -> Result<Session, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    let version = number(&client, "SELECT current_setting('server_version_num')").await? as u32;
    if version < OLDEST {
        return Ok(Session { client, version, limit: 0.0 });
    }
    let limit = "SELECT current_setting('max_connections')::int \
                 - current_setting('superuser_reserved_connections')::int \
                 - coalesce(current_setting('reserved_connections', true)::int, 0)";
    let limit = number(&client, limit).await?;
    Ok(Session { client, version, limit })
}

async fn number(client: &Client, query: &str) -> Result<f64, tokio_postgres::Error> {
    let answered = client.simple_query(query).await?;
    let row = answered.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    Ok(row.map_or(0.0, |row| figure(row, 0)))
}

/// Four queries in one message, in a transaction of their own: a setting outside of it would stay with the session, and
/// a pooler may give that to the service next. Sessions of background workers and poolers' consoles have no database.
fn queries(version: u32) -> String {
    let others = match version {
        100_000.. => "coalesce(backend_type, 'client backend') = 'client backend'",
        _ => "query NOT LIKE 'autovacuum:%'",
    };
    let clients = format!(
        "datid IS NOT NULL AND pid <> pg_backend_pid() AND application_name <> '{NAME}' AND {others}"
    );
    format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = '1s'; \
         SELECT coalesce(state, ''), coalesce(wait_event_type, ''), count(*), \
         coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0), \
         count(*) FILTER (WHERE query = '<insufficient privilege>') \
         FROM pg_stat_activity WHERE {clients} GROUP BY 1, 2; \
         WITH s AS (SELECT pid, state, query, query_start, wait_event_type FROM pg_stat_activity), \
         w AS (SELECT * FROM s WHERE wait_event_type = 'Lock' ORDER BY query_start LIMIT 5) \
         SELECT left(w.query, 2000), left(b.query, 2000), coalesce(b.state, ''), \
         coalesce(extract(epoch FROM clock_timestamp() - w.query_start), 0) \
         FROM w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS holder(pid) JOIN s AS b ON b.pid = holder.pid \
         ORDER BY (b.wait_event_type IS NOT DISTINCT FROM 'Lock'), 4 DESC LIMIT 1; \
         SELECT sum(xact_commit), sum(xact_rollback), sum(deadlocks), sum(temp_bytes), sum(blks_read), sum(blks_hit) \
         FROM pg_stat_database; \
         SELECT left(query, 2000), count(*) FROM pg_stat_activity WHERE {clients} AND state = 'active' \
         AND wait_event_type IS DISTINCT FROM 'Lock' GROUP BY 1 ORDER BY 2 DESC LIMIT 50; COMMIT"
    )
}

fn asked(answered: Vec<SimpleQueryMessage>) -> Asked {
    let mut asked = Asked::default();
    let mut statement = 0;
    for message in answered {
        match message {
            SimpleQueryMessage::Row(row) => match statement {
                // BEGIN and SET have none.
                2 => asked.sessions.push(row),
                3 => asked.blocks.push(row),
                4 => asked.databases.push(row),
                _ => asked.running.push(row),
            },
            SimpleQueryMessage::CommandComplete(_) => statement += 1,
            _ => {}
        }
    }
    asked
}

pub(super) fn word(row: &SimpleQueryRow, at: usize) -> &str {
    row.try_get(at).ok().flatten().unwrap_or_default()
}

pub(super) fn figure(row: &SimpleQueryRow, at: usize) -> f64 {
    word(row, at).parse().unwrap_or(0.0)
}

impl Postgres {
    /// Counts the connections, which everybody may; whether the role may look at what they do.
    fn may_look(&self, asked: &Asked, readings: &mut Readings<'_>) -> bool {
        readings.level("postgres.connections", &[], count(asked, |_, _| true));
        readings.level("postgres.connections.limit", &[], asked.limit);
        let hidden = asked.sessions.iter().any(|row| figure(row, 4) > 0.0);
        let is_off = asked.sessions.iter().any(|row| word(row, 0) == "disabled");
        let user = self.config.get_user().unwrap_or("the role");
        let unread = match (hidden, is_off) {
            (false, false) => return true,
            (_, true) => Unread::because("track_activities is off").hint("set track_activities = on"),
            _ => Unread::because(format_args!("`{user}` may not look at those of other roles"))
                .hint(format_args!("GRANT pg_monitor TO {user}; before PostgreSQL 10, a superuser may")),
        };
        readings.not_measured("what its sessions do is", &unread);
        false
    }

    /// Tells who waits for whom, when several sessions have been waiting for a while.
    fn blocks(&mut self, asked: &Asked, readings: &mut Readings<'_>) {
        let waiting = count(asked, |_, wait| wait == "Lock");
        if waiting <= BLOCKED.0 {
            self.blocked_since = None;
            return;
        }
        let since = *self.blocked_since.get_or_insert(readings.at());
        let Some(row) = asked.blocks.first().filter(|_| readings.at().since(since) >= BLOCKED.1) else {
            return;
        };
        let pair = (sql::shown(word(row, 0)), sql::shown(word(row, 1)));
        if self.blocks_told.len() >= TOLD_MAX || !self.blocks_told.insert(pair.clone()) {
            return;
        }
        let (waits, holds) = pair;
        readings.happened(format_args!(
            "{waiting:.0} sessions wait for locks: `{waits}` has been waiting for {:.1} s for a session that is {} and \
             last ran `{holds}`",
            figure(row, 3),
            word(row, 2)
        ));
    }
}

/// Sessions whose state and wait are wanted.
fn count(asked: &Asked, wanted: impl Fn(&str, &str) -> bool) -> f64 {
    let rows = asked.sessions.iter().filter(|row| wanted(word(row, 0), word(row, 1)));
    rows.map(|row| figure(row, 2)).fold(0.0, |sum, more| sum + more)
}

fn sessions(asked: &Asked, readings: &mut Readings<'_>) {
    const ACTIVE: [&str; 2] = ["active", "fastpath function call"];
    readings.level("postgres.active", &[], count(asked, |state, _| ACTIVE.contains(&state)));
    readings.level("postgres.idle", &[], count(asked, |state, _| state == "idle"));
    let open = count(asked, |state, _| state.starts_with("idle in transaction"));
    readings.level("postgres.idle_in_transaction", &[], open);
    let mut kinds = vec!["IO", "IPC", "LWLock", "Lock"];
    kinds.extend(asked.sessions.iter().map(|row| word(row, 1)).filter(|kind| !kind.is_empty()));
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let waiting = count(asked, |state, wait| wait == kind && state == "active");
        readings.level("postgres.waiting", &[("type", kind)], waiting);
    }
    readings.level("postgres.blocked", &[], count(asked, |_, wait| wait == "Lock"));
    let longest = asked.sessions.iter().map(|row| figure(row, 3)).fold(0.0, f64::max);
    readings.level("postgres.transaction.longest", &[], longest * 1e3);
}

fn databases(asked: &Asked, readings: &mut Readings<'_>) {
    const TOTALS: [&str; 6] = [
        "postgres.commits",
        "postgres.rollbacks",
        "postgres.deadlocks",
        "postgres.temp",
        "postgres.blocks.read",
        "postgres.blocks.hit",
    ];
    let Some(row) = asked.databases.first() else { return };
    for (at, metric) in TOTALS.into_iter().enumerate() {
        readings.total(metric, &[], figure(row, at));
    }
}

fn late(_: tokio::time::error::Elapsed) -> Unread {
    Unread::because(format_args!("it does not answer within {:.1} s", TIMEOUT.as_secs_f64()))
}

/// The reason in words that hold no password.
fn unread(error: &tokio_postgres::Error, config: &Config) -> Unread {
    let Some(answer) = error.as_db_error() else {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        return Unread::because(cause);
    };
    let unread = Unread::because(answer.message());
    let user = config.get_user().unwrap_or("the role");
    match answer.code() {
        code if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
            .contains(code) =>
        {
            unread.hint(format_args!("check the password of `{user}` in the address, and pg_hba.conf"))
        }
        code if *code == SqlState::TOO_MANY_CONNECTIONS => {
            unread.hint("give the probe a superuser, for whom superuser_reserved_connections are kept free")
        }
        _ => unread,
    }
}
