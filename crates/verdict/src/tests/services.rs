//! Rules over what the target depends on: pools, PostgreSQL, Redis, nginx, and its runtime.

use super::build::Made;
use crate::{Confidence, Diagnosis, Finding};

/// Latency that rose in second 8, of a target and a machine that have time left.
fn slow() -> Made {
    Made::of(24)
        .latency(from_8(20.0, 600.0))
        .gauge("host.cores", |_| 2.0)
        .gauge("host.cpu", |_| 0.3)
        .gauge("target.processes", |_| 1.0)
        .gauge("target.cpu.main_thread", |_| 0.15)
}

/// The same, on a machine whose cores are all busy from second 8 on.
fn busy() -> Made {
    Made::of(24)
        .latency(from_8(20.0, 600.0))
        .gauge("host.cores", |_| 2.0)
        .gauge("host.cpu", from_8(0.3, 0.98))
        .gauge("target.cpu.main_thread", |_| 0.15)
}

/// At one level before second 8, and at another from then on.
fn from_8(before: f64, after: f64) -> impl Fn(u32) -> f64 {
    move |second| if second < 8 { before } else { after }
}

/// A database that has nothing to do beside what is added.
fn database(made: Made) -> Made {
    made.gauge("postgres.connections", |_| 10.0)
        .gauge("postgres.connections.limit", |_| 97.0)
        .gauge("postgres.idle_in_transaction", |_| 0.0)
}

fn pool(made: Made, active: f64, max: f64, waiting: f64) -> Made {
    made.tagged_gauge("pool.active", &[("pool", "main")], from_8(1.0, active))
        .tagged_gauge("pool.max", &[("pool", "main")], move |_| max)
        .tagged_gauge("pool.waiting", &[("pool", "main")], from_8(0.0, waiting))
}

/// The finding of a rule.
#[track_caller]
fn finding<'d>(of: &'d Diagnosis, id: &str) -> &'d Finding {
    of.findings.iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("{:?}", of.findings))
}

fn evidence(of: &Finding) -> String {
    of.evidence.iter().map(|evidence| format!("{}: {}\n", evidence.series, evidence.text)).collect()
}

#[test]
fn a_full_pool_with_callers_that_wait_is_too_small() {
    let found = pool(slow(), 2.0, 2.0, 82.0).diagnosis();
    assert_eq!(found.findings[0].id, "pool_small");
    let full = finding(&found, "pool_small");
    assert_eq!((full.confidence, full.onset_s), (Confidence::Likely, 8));
    assert!(full.title.starts_with("A pool of 2 connections is too small"), "{}", full.title);
    let told = evidence(full);
    assert!(told.contains("82 callers waited on average, 82 at most, from 8 s on"), "{told}");
    assert!(full.remedies.iter().any(|remedy| remedy.text.starts_with("raise it from 2 to 4 ")), "{full:?}");
    // Some wait for a moment at the start of a pool that is not full.
    assert_eq!(pool(slow(), 2.0, 50.0, 3.0).cause(), Some("dependency"));
    assert_eq!(pool(slow(), 10.0, 10.0, 0.0).cause(), Some("dependency"));
}

#[test]
fn a_full_pool_before_a_busy_database_is_no_first_cause() {
    let made = pool(database(busy()), 10.0, 10.0, 40.0)
        .gauge("postgres.active", from_8(1.0, 10.0))
        .gauge("postgres.time", from_8(0.2, 9.5))
        .gauge("postgres.time.top", |_| 0.9);
    let found = made.diagnosis();
    assert_eq!(found.findings[0].id, "slow_query", "{:?}", found.findings);
    assert_eq!(finding(&found, "pool_small").confidence, Confidence::Possible);
}

#[test]
fn sessions_that_stay_at_one_number_are_a_pool_although_nobody_says_so() {
    let flat = |second: u32| if second < 8 { 0.0 } else { 2.0 };
    let found = database(slow()).gauge("postgres.active", flat).diagnosis();
    assert_eq!(found.findings[0].id, "pool_small", "{:?}", found.findings);
    // At their most for five seconds of eight.
    let grown = |second: u32| {
        if second < 8 {
            0.0
        } else if second % 8 < 5 {
            6.0
        } else {
            1.0
        }
    };
    assert_eq!(database(slow()).gauge("postgres.active", grown).cause(), Some("dependency"));
    // The load may be more than the pool from its first second on: then its sessions are known by the transactions
    // they end.
    let always = || database(slow()).gauge("postgres.active", |_| 2.0);
    assert_eq!(always().count("postgres.commits", |_| 40.0).cause(), Some("pool_small"));
    assert_eq!(always().count("postgres.commits", |_| 0.5).cause(), Some("dependency"));
    // One that was there before, and has nothing to do with the load.
    assert_eq!(database(slow()).gauge("postgres.active", |_| 1.0).cause(), Some("dependency"));
}

/// Others may take all cores: sessions that wait for a disk or a sleep do not miss them.
#[test]
fn sessions_that_wait_are_not_short_of_a_core() {
    let waiting = |count: f64| {
        database(busy())
            .gauge("postgres.active", from_8(0.5, 2.0))
            .tagged_gauge("postgres.waiting", &[("type", "Timeout")], from_8(0.0, count))
            .gauge("postgres.time", from_8(0.5, 2.0))
            .gauge("postgres.time.top", |_| 1.0)
    };
    assert_eq!(waiting(2.0).cause(), Some("pool_small"));
    assert_eq!(waiting(0.0).cause(), Some("slow_query"));
}

#[test]
fn a_healthy_statement_that_is_the_only_one_is_not_accused_before_the_pool() {
    let made = pool(database(slow()), 2.0, 2.0, 30.0)
        .gauge("postgres.active", from_8(0.5, 2.0))
        .gauge("postgres.time", from_8(0.5, 2.0))
        .gauge("postgres.time.top", |_| 1.0);
    let found = made.diagnosis();
    assert_eq!(found.findings[0].id, "pool_small", "{:?}", found.findings);
    assert_eq!(finding(&found, "slow_query").confidence, Confidence::Possible);
}

#[test]
fn far_more_sessions_than_cores_are_a_pool_too_large() {
    let crowd =
        |made: Made| database(made).gauge("postgres.active", from_8(2.0, 60.0)).gauge("target.cpu", |_| 0.3);
    let found = crowd(busy()).diagnosis();
    assert_eq!(found.findings[0].id, "pool_large", "{:?}", found.findings);
    assert!(found.findings[0].remedies.iter().any(|remedy| remedy.text.contains("to 5 connections")));
    // As many that wait for locks do not compete.
    let blocked = crowd(busy()).gauge("postgres.blocked", from_8(0.0, 58.0)).diagnosis();
    assert_eq!(blocked.findings[0].id, "db_locks", "{:?}", blocked.findings);
    assert!(!blocked.findings.iter().any(|finding| finding.id == "pool_large"));
    // As many on a machine with time left.
    assert!(!crowd(slow()).diagnosis().findings.iter().any(|finding| finding.id == "pool_large"));
}

#[test]
fn locks_are_told_with_both_statements() {
    let note = "3 sessions wait for locks: `UPDATE a` has been waiting for 2.1 s for a session that is idle in \
                transaction and last ran `UPDATE b`";
    let made = database(slow())
        .gauge("postgres.active", from_8(1.0, 4.0))
        .gauge("postgres.blocked", from_8(0.0, 3.0))
        .happened(10, "it stopped answering: nothing listens there")
        .happened(11, note);
    let found = made.diagnosis();
    assert_eq!(found.findings[0].id, "db_locks", "{:?}", found.findings);
    let locks = &found.findings[0];
    assert_eq!((locks.confidence, locks.onset_s), (Confidence::Certain, 8));
    assert!(evidence(locks).contains(&format!("{note} (at 11 s)")), "{}", evidence(locks));
    // One that waits now and then is how locks work.
    let one = database(slow())
        .gauge("postgres.active", |_| 1.0)
        .gauge("postgres.blocked", |second| f64::from(second % 2));
    assert_eq!(one.cause(), Some("dependency"));
}

#[test]
fn a_service_is_slow_while_idle_only_if_half_of_its_threads_time_is_left() {
    let of = |main: f64| {
        let made = Made::of(24).latency(from_8(20.0, 600.0)).gauge("host.cores", |_| 2.0);
        made.gauge("host.cpu", |_| 0.4).gauge("target.cpu.main_thread", move |_| main).cause()
    };
    assert_eq!((of(0.4), of(0.6)), (Some("dependency"), None));
}

#[test]
fn a_statement_that_ever_more_sessions_run_is_slow() {
    let made = |top: f64| {
        database(slow())
            .gauge("postgres.active", |second| if second < 8 { 0.5 } else { f64::from(second) })
            .gauge("postgres.time", |second| if second < 8 { 0.5 } else { f64::from(second) })
            .gauge("postgres.time.top", move |_| top)
            .happened(12, "one statement takes 90 % of its time: `SELECT a`")
    };
    let found = made(0.9).diagnosis();
    assert_eq!((found.findings[0].id, found.findings[0].confidence), ("slow_query", Confidence::Likely));
    assert!(evidence(&found.findings[0]).contains("`SELECT a`"), "{:?}", found.findings[0]);
    assert!(!made(0.3).diagnosis().findings.iter().any(|finding| finding.id == "slow_query"));
}

#[test]
fn connections_of_the_database_are_a_limit_when_they_are_nearly_used() {
    let made = |used: f64| {
        slow().gauge("postgres.connections", move |_| used).gauge("postgres.connections.limit", |_| 97.0)
    };
    assert_eq!(made(96.0).cause(), Some("db_connections"));
    let some = made(80.0).diagnosis();
    assert_eq!(finding(&some, "db_connections").confidence, Confidence::Possible);
    assert_eq!(made(70.0).cause(), Some("dependency"));
    // The probe's own connection is not among those used, and nobody else can have it.
    let few = slow().gauge("postgres.connections", |_| 6.0).gauge("postgres.connections.limit", |_| 7.0);
    assert_eq!(finding(&few.diagnosis(), "db_connections").confidence, Confidence::Likely);
    let refused = slow().count("postgres.refused", |second| f64::from(u8::from(second == 9))).diagnosis();
    assert_eq!(refused.findings[0].id, "db_connections");
    assert_eq!((refused.findings[0].confidence, refused.findings[0].onset_s), (Confidence::Certain, 9));
}

#[test]
fn redis_is_named_when_its_thread_is_full_or_it_refuses() {
    let made = |cpu: f64| slow().gauge("redis.cpu", from_8(0.1, cpu)).gauge("redis.clients", |_| 5.0);
    let full = made(0.97).happened(9, "`KEYS sess:*` took 152 ms").diagnosis();
    assert_eq!(full.findings[0].id, "redis");
    assert!(evidence(&full.findings[0]).contains("`KEYS sess:*` took 152 ms"));
    assert_eq!(made(0.5).cause(), Some("dependency"));
    let refused = made(0.5).count("redis.rejected", from_8(0.0, 2.0)).diagnosis();
    assert_eq!((refused.findings[0].id, refused.findings[0].confidence), ("redis", Confidence::Certain));
    let evicted = made(0.5).count("redis.evicted", from_8(0.0, 2.0)).diagnosis();
    assert_eq!(finding(&evicted, "redis").confidence, Confidence::Possible);
}

#[test]
fn connections_that_nginx_drops_are_its_limit() {
    let made = |dropped: f64, lines: f64| {
        slow()
            .gauge("nginx.connections", |_| 32.0)
            .count("nginx.dropped", from_8(0.0, dropped))
            .count("nginx.log.worker_connections", from_8(0.0, lines))
    };
    assert_eq!(made(2.0, 0.0).cause(), Some("nginx_connections"));
    let said =
        made(0.0, 1.0).happened(9, "its error log says: 32 worker_connections are not enough").diagnosis();
    assert_eq!(said.findings[0].id, "nginx_connections");
    assert!(evidence(&said.findings[0]).contains("32 worker_connections are not enough"));
    assert_eq!(made(0.0, 0.0).cause(), Some("dependency"));
    // A limit set on purpose, that answers 503.
    assert_eq!(made(0.0, 0.0).count("nginx.log.limited", from_8(0.0, 9.0)).cause(), Some("rate_limit"));
}

#[test]
fn garbage_collection_is_named_when_it_takes_much_of_the_time() {
    assert_eq!(slow().gauge("runtime.gc", from_8(0.01, 0.35)).cause(), Some("garbage"));
    assert_eq!(slow().gauge("runtime.gc", from_8(0.01, 0.05)).cause(), Some("dependency"));
}

#[test]
fn a_loop_that_is_late_while_it_is_idle_is_blocked() {
    assert_eq!(slow().gauge("runtime.loop_lag", from_8(3.0, 203.0)).cause(), Some("loop_blocked"));
    assert_eq!(slow().gauge("runtime.loop_lag", from_8(3.0, 40.0)).cause(), Some("dependency"));
    // Once in each second: few of its turns are late, and nearly everybody is held up at times.
    let once = |every: u32| {
        slow().gauge("runtime.loop_lag", |_| 3.0).gauge("runtime.loop_lag.max", move |second| {
            if second >= 8 && second % every == 0 { 240.0 } else { 9.0 }
        })
    };
    assert_eq!(once(1).cause(), Some("loop_blocked"));
    assert_eq!(once(4).cause(), Some("dependency"));
    // The page that tells of it comes late itself, in the seconds in which it is asked for while the loop is blocked.
    let page = |took: f64| {
        slow()
            .tagged_gauge("runtime.loop_lag", &[("at", "127.0.0.1:9")], |_| 3.0)
            .tagged_gauge("runtime.loop_lag.max", &[("at", "127.0.0.1:9")], |second| {
                if second % 2 == 0 { 240.0 } else { 9.0 }
            })
            .tagged_gauge("watch.look", &[("at", "127.0.0.1:9"), ("probe", "its page")], move |second| {
                if second >= 8 && second % 2 == 1 { took } else { 4.0 }
            })
    };
    assert_eq!(page(201.0).cause(), Some("loop_blocked"));
    assert_eq!(page(12.0).cause(), Some("dependency"));
    // A loop that is full is late as well.
    let full = Made::of(24)
        .latency(from_8(20.0, 600.0))
        .gauge("target.cpu.main_thread", from_8(0.1, 0.99))
        .gauge("runtime.loop_lag", from_8(3.0, 203.0));
    let found = full.diagnosis();
    assert_eq!(found.findings[0].id, "event_loop", "{:?}", found.findings);
    assert_eq!(finding(&found, "loop_blocked").confidence, Confidence::Possible);
}

#[test]
fn a_loop_that_node_says_is_busy_is_full_and_its_holder_named() {
    let told = "the event loop is held by hashPassword (auth.js:41): 71 % of 2 s";
    let of = |metric: &str| slow().tagged_gauge(metric, &[("at", "pid 7")], from_8(0.2, 0.97));
    let found = of("runtime.loop_utilisation").happened(11, told).diagnosis();
    assert_eq!(found.findings[0].id, "event_loop");
    let title =
        "One thread of the target did all the work, and it was full, held by hashPassword (auth.js:41).";
    assert_eq!(found.findings[0].title, title);
    assert!(evidence(&found.findings[0]).contains("busy 97 % of the time (20 % before), from 8 s on"));
    // Two loops that are half busy are not one that is full.
    let half = of("runtime.loop").tagged_gauge("runtime.loop_utilisation", &[("at", "pid 7")], |_| 0.5);
    let half = half.tagged_gauge("runtime.loop_utilisation", &[("at", "pid 8")], |_| 0.5);
    assert_eq!(half.cause(), Some("dependency"));
    let blocked = slow().gauge("runtime.loop_lag", from_8(3.0, 203.0)).happened(11, told).diagnosis();
    let title =
        "The target's event loop was blocked: by hashPassword (auth.js:41), and everybody else waits.";
    assert_eq!(blocked.findings[0].title, title);
}

#[test]
fn workers_that_end_while_others_like_them_live_are_hardly_a_death() {
    let ended = |workers: u32| {
        slow()
            .gauge("target.processes", |_| 9.0)
            .count("target.ended", |second| f64::from(3 * u8::from(second == 9)))
            .count("target.started", |second| f64::from(u8::from(second == 9)))
            .count("target.ended.workers", move |second| f64::from(workers * u32::from(second == 9)))
            .diagnosis()
    };
    let death = |diagnosis: &Diagnosis| {
        let found = diagnosis.findings.iter().find(|finding| finding.id == "death").unwrap();
        (found.confidence, found.title.clone())
    };
    let possible = "Some of the target's workers ended, and others like them lived on.".to_owned();
    assert_eq!(death(&ended(3)), (Confidence::Possible, possible));
    let certain = "The target's process ended and was started again.".to_owned();
    assert_eq!(death(&ended(2)), (Confidence::Certain, certain));
}

#[test]
fn the_end_of_a_process_is_not_told_by_what_a_database_said() {
    let made = slow()
        .count("target.ended", |second| f64::from(u8::from(second == 9)))
        .happened(9, "process 7 (node) ended")
        .happened(9, "it stopped answering: nothing listens there");
    let found = made.diagnosis();
    assert_eq!(found.findings[0].id, "death");
    let told = evidence(&found.findings[0]);
    assert!(told.contains("process 7 (node) ended at 9 s") && !told.contains("answering"), "{told}");
}
