//! The PostgreSQL probe against a real server.

use crate::service::{Service, folder, free_port, program, unprivileged};
use crate::support::Watching;
use sonagi_watch::probes::probe;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The password of all roles. It may be seen nowhere.
const PASSWORD: &str = "planted-1";
const PLACES: [&str; 4] = [
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/18/bin",
];

/// A server with a role `watcher` of `pg_monitor`, a role `stranger` without, and a table.
struct Postgres {
    service: Service,
}

impl Postgres {
    fn start(settings: &[&str]) -> Postgres {
        let folder = folder();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let password = path("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let initdb = program("initdb", &PLACES).display().to_string();
        let made =
            [&initdb, "-D", &path("db"), "-U", "postgres", "-A", "scram-sha-256", "--no-sync", "-E", "UTF8"];
        let mut made: Vec<String> = made.iter().map(|word| (*word).to_owned()).collect();
        made.push(format!("--pwfile={password}"));
        let output = unprivileged(&made, folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let port = free_port();
        let postgres = program("postgres", &PLACES).display().to_string();
        let mut command = vec![postgres, "-D".to_owned(), path("db"), "-p".to_owned(), port.to_string()];
        let own = [format!("unix_socket_directories={}", folder.path().display())];
        let fixed = ["listen_addresses=127.0.0.1", "fsync=off"].map(str::to_owned);
        for setting in own.into_iter().chain(fixed).chain(settings.iter().map(|it| (*it).to_owned())) {
            command.extend(["-c".to_owned(), setting]);
        }
        let postgres = Postgres { service: Service::start(folder, port, command) };
        postgres.run(&format!(
            "CREATE ROLE watcher LOGIN PASSWORD '{PASSWORD}'; GRANT pg_monitor TO watcher; \
             CREATE ROLE stranger LOGIN PASSWORD '{PASSWORD}'; \
             CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')"
        ));
        postgres
    }

    fn address(&self, user: &str, password: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", self.service.port)
    }

    fn watched(&self, user: &str) -> Watching {
        Watching::start(probe(&self.address(user, PASSWORD)).unwrap())
    }

    fn psql(&self) -> Command {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &self.address("postgres", PASSWORD)]);
        psql.current_dir(Path::new("/")).stdout(Stdio::null());
        psql
    }

    fn run(&self, sql: &str) {
        // A server that listens may still be starting up.
        for attempt in 0..50 {
            let output = self.psql().args(["-c", sql]).stderr(Stdio::piped()).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                return;
            }
            assert!(error.contains("starting up") && attempt < 49, "{sql}: {error}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    /// Waits until so many sessions run this; at most ten seconds.
    fn wait_for(&self, sessions: u32, sql: &str) {
        self.run(&format!(
            "DO $do$ BEGIN FOR turn IN 1..500 LOOP EXIT WHEN (SELECT count(*) FROM pg_stat_activity WHERE query = \
             '{sql}') = {sessions}; PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $do$"
        ));
    }

    fn session(&self, sql: &str) -> Session {
        let mut child = self.psql().stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{sql}").unwrap();
        Session { child }
    }
}

/// A client that runs what it is told and stays connected.
struct Session {
    child: Child,
}

impl Session {
    fn say(&mut self, sql: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{sql}").unwrap();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended with its server.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

#[test]
fn sessions_are_seen_with_what_they_wait_for_and_who_holds_it() {
    let postgres = Postgres::start(&["max_connections=20"]);
    let mut watching = postgres.watched("watcher");
    watching.until("nobody", |seen| seen.one("postgres.connections") == Some(0.0));
    assert_eq!(watching.seen.one("postgres.connections.limit"), Some(17.0));
    let mut holder = postgres.session("BEGIN; UPDATE t SET v = 'planted-2' WHERE id = 1;");
    watching.until("a transaction", |seen| seen.one("postgres.idle_in_transaction") == Some(1.0));
    let blocked = "UPDATE t SET v = 'planted-3' || $$planted-4$$ WHERE id = 1;";
    let _blocked = [postgres.session(blocked), postgres.session(blocked)];
    watching.until("locks", |seen| seen.one("postgres.blocked") == Some(2.0));
    assert_eq!(watching.seen.by("postgres.waiting", "type").get("Lock"), Some(&2.0));
    assert_eq!(watching.seen.one("postgres.active"), Some(2.0));
    assert_eq!(watching.seen.one("postgres.connections"), Some(3.0));
    watching.until("both statements", |seen| seen.told().contains("2 sessions wait for locks"));
    let told = watching.seen.told();
    assert!(told.contains("`UPDATE t SET v = ? || ? WHERE id = ?;` has been waiting for "), "{told}");
    let holds = "for a session that is idle in transaction and last ran `UPDATE t SET v = ? WHERE id = ?;`";
    assert!(told.contains(holds), "{told}");
    assert!(watching.seen.one("postgres.transaction.longest").unwrap() > 2_000.0);
    let before = watching.seen.one("postgres.commits");
    holder.say("COMMIT;");
    watching.until("no locks", |seen| seen.one("postgres.blocked") == Some(0.0));
    watching.until("commits", |seen| seen.one("postgres.commits") >= before.map(|count| count + 3.0));
    let all = format!("{:?}", watching.seen);
    assert!(!all.contains("planted"), "{all}");
}

#[test]
fn a_role_that_may_not_look_is_told_once_and_counts_what_it_may() {
    let postgres = Postgres::start(&[]);
    let _other = postgres.session("SELECT pg_sleep(60);");
    postgres.wait_for(1, "SELECT pg_sleep(60);");
    let mut watching = postgres.watched("stranger");
    watching.until("a connection", |seen| seen.one("postgres.connections") == Some(1.0));
    watching.until("more looks", |seen| seen.one("postgres.commits").is_some_and(|count| count > 2.0));
    assert_eq!(watching.seen.one("postgres.active"), None);
    assert_eq!(watching.seen.one("postgres.blocked"), None);
    let notes = &watching.seen.notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(
        notes[0].text,
        "what its sessions do is not measured: `stranger` may not look at those of other roles"
    );
    assert!(notes[0].hint.as_ref().unwrap().starts_with("GRANT pg_monitor TO stranger"));
}

#[test]
fn a_wrong_password_is_told_without_it_and_tried_again() {
    let postgres = Postgres::start(&[]);
    let mut watching = Watching::start(probe(&postgres.address("watcher", "planted-wrong")).unwrap());
    watching.until("a refusal", |seen| seen.told().contains("it is not measured: "));
    let note = watching.seen.notes[0].clone();
    assert_eq!(note.text, "it is not measured: password authentication failed for user \"watcher\"");
    assert_eq!(note.subject, format!("postgres://127.0.0.1:{}/postgres", postgres.service.port));
    postgres.run("ALTER ROLE watcher PASSWORD 'planted-wrong'");
    watching.until("sessions", |seen| seen.one("postgres.active").is_some());
    assert_eq!(watching.seen.notes.len(), 1);
    let all = format!("{:?}", watching.seen);
    assert!(!all.contains("planted"), "{all}");
}

#[test]
fn a_server_that_dies_and_comes_back_is_told_and_watched_again() {
    let mut postgres = Postgres::start(&[]);
    let mut watching = postgres.watched("watcher");
    watching.until("sessions", |seen| seen.one("postgres.active") == Some(0.0));
    postgres.service.kill();
    watching.until("its end", |seen| seen.told().contains("it stopped answering: "));
    assert!(watching.seen.told().contains("Connection refused"), "{}", watching.seen.told());
    watching.seen.values.clear();
    postgres.service.again();
    watching.until("its return", |seen| seen.told().contains("it answers again"));
    watching.until("sessions again", |seen| seen.one("postgres.active") == Some(0.0));
}

#[test]
fn the_statement_that_takes_the_time_is_told_by_what_is_seen_to_run() {
    let postgres = Postgres::start(&[]);
    let mut watching = postgres.watched("watcher");
    // One statement, whatever its values.
    let _busy = ["5", "7"].map(|n| postgres.session(&format!("SELECT pg_sleep(60), 'planted-{n}' AS x;")));
    watching.until("the statement", |seen| seen.told().contains("one statement takes 100 % of its time"));
    assert!(watching.seen.told().contains("`SELECT pg_sleep(?), ? AS x;`"), "{}", watching.seen.told());
    assert_eq!(watching.seen.one("postgres.time.top"), Some(1.0));
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn the_statement_that_takes_the_time_is_told_by_pg_stat_statements() {
    let postgres = Postgres::start(&["shared_preload_libraries=pg_stat_statements"]);
    postgres.run(
        "CREATE SCHEMA \"Odd one\"; CREATE EXTENSION pg_stat_statements SCHEMA \"Odd one\"; \
         GRANT USAGE ON SCHEMA \"Odd one\" TO watcher",
    );
    let mut watching = postgres.watched("watcher");
    watching.until("sessions", |seen| seen.one("postgres.active").is_some());
    // No statement lasts until it is looked at, but there are many.
    let mut busy = postgres.session("");
    for _ in 0..400 {
        busy.say("SELECT pg_sleep(0.05), 'planted-6' AS x;");
    }
    watching
        .until("the statement", |seen| seen.told().contains("% of its time: `SELECT pg_sleep($1), $2 AS x`"));
    assert!(watching.seen.one("postgres.time.top").unwrap() > 0.5);
    assert!(!format!("{:?}", watching.seen).contains("planted"));
}

#[test]
fn a_server_without_a_connection_left_is_told_and_counted() {
    let postgres = Postgres::start(&["max_connections=5", "superuser_reserved_connections=2"]);
    let _all: Vec<Session> = (0..3).map(|_| postgres.session("SELECT pg_sleep(60);")).collect();
    postgres.wait_for(3, "SELECT pg_sleep(60);");
    let mut watching = postgres.watched("watcher");
    watching.until("a refusal", |seen| seen.one("postgres.refused").is_some_and(|count| count >= 1.0));
    assert!(watching.seen.told().contains("it is not measured: "), "{}", watching.seen.told());
    postgres
        .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60);'");
    watching.until("a place", |seen| seen.one("postgres.connections").is_some());
}

#[test]
fn an_address_of_postgresql_is_refused_with_the_rule() {
    let why = |text: &str| probe(text).err().unwrap();
    let tls = why("postgres://u:planted@db/app?sslmode=verify-full");
    assert!(tls.starts_with(
        "PostgreSQL is watched without TLS; got sslmode=require for `postgres://db/app`\nhint: "
    ));
    let port = why("postgres://u:planted@db:x/app");
    assert_eq!(
        port,
        "an address is postgres://USER:PASSWORD@HOST:PORT/DATABASE: invalid value for option `port`; got \
         `postgres://db:x/app`"
    );
}
