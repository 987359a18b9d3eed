//! Rules over the target's processes, cgroup, sockets and machine. Levels are those measured on real stacks with the
//! bottleneck planted.

use super::build::Made;
use crate::diagnosis::Confidence;

/// Latency that rose in second 8, on a machine of two cores that has time left.
fn slow() -> Made {
    Made::of(24)
        .latency(|second| if second < 8 { 20.0 } else { 600.0 })
        .gauge("host.cores", |_| 2.0)
        .gauge("target.processes", |_| 1.0)
}

/// Idle before second 8, then at a level.
fn from_8(idle: f64, full: f64) -> impl Fn(u32) -> f64 {
    move |second| if second < 8 { idle } else { full }
}

fn idle(made: Made) -> Made {
    made.gauge("host.cpu", |_| 0.3)
        .gauge("target.cpu", |_| 0.2)
        .gauge("target.cpu.main_thread", |_| 0.15)
        .gauge("target.cpu.other_threads", |_| 0.05)
}

/// One way, whatever says them: `crates/measure/src/figures.rs`.
#[test]
fn figures_have_thousands_separated_and_bytes_their_house_units() {
    let full = idle(slow())
        .gauge("target.open_files", |_| 12_000.0)
        .gauge("target.open_files.limit", |_| 12_000.0)
        .gauge("target.send_queue", from_8(0.0, 48e6))
        .gauge("target.connections", |_| 1_200.0)
        .gauge("target.memory", |_| 2_147e6)
        .diagnosis();
    let said: Vec<&str> = full.findings.iter().map(|finding| finding.title.as_str()).collect();
    assert_eq!(said[0], "The target may open 12,000 files and connections, and had them open.");
    assert_eq!(full.findings[0].evidence[0].text, "12,000 of 12,000 open, full from 0 s on");
    let consumer = full.findings.iter().find(|finding| finding.id == "slow_consumer").unwrap();
    assert_eq!(consumer.evidence[0].text, "48.0 MB waited for 1,200 connections, from 8 s on");
    let memory = full.ruled_out.iter().find(|rule| rule.id == "memory").unwrap();
    assert_eq!(memory.why, "nothing was killed or swapped; the target used 2.15 GB at most");
}

#[test]
fn a_quota_is_named_although_everything_looks_idle() {
    let made = idle(slow()).gauge("target.quota", |_| 0.3);
    assert_eq!(made.gauge("target.throttled", from_8(0.05, 0.96)).cause(), Some("cpu_quota"));
    let roomy = idle(slow()).gauge("target.quota", |_| 1.5).gauge("target.throttled", |_| 0.02);
    assert_eq!(roomy.cause(), Some("dependency"));
}

#[test]
fn a_full_first_thread_is_an_event_loop() {
    let made = slow()
        .gauge("target.cpu.main_thread", from_8(0.08, 0.99))
        .gauge("target.cpu.other_threads", |_| 0.03)
        .gauge("target.cpu", from_8(0.1, 1.02))
        .gauge("host.cpu", from_8(0.2, 0.65));
    assert_eq!(made.cause(), Some("event_loop"));
}

#[test]
fn full_worker_threads_are_told_from_the_first() {
    let made = slow()
        .gauge("target.cpu.main_thread", |_| 0.06)
        .gauge("target.cpu.other_threads", from_8(0.5, 1.72))
        .gauge("target.cpu", from_8(0.6, 1.78))
        .gauge("host.cpu", from_8(0.4, 0.95));
    assert_eq!(made.cause(), Some("worker_threads"));
}

/// Threads of a JVM do all of its work: that they are busy beside an idle first thread says nothing.
#[test]
fn threads_beside_a_first_one_that_does_nothing_are_no_workers() {
    let full = |main: f64, others: f64| {
        slow()
            .gauge("target.cpu.main_thread", move |_| main)
            .gauge("target.cpu.other_threads", from_8(0.5, others))
            .gauge("target.cpu", from_8(0.5, others))
            .gauge("host.cpu", from_8(0.4, 0.95))
    };
    assert_eq!(full(0.0, 1.72).cause(), Some("cpu"));
    // What is left of a machine that is full may be less.
    assert_eq!(full(0.06, 1.2).cause(), Some("worker_threads"));
}

#[test]
fn a_machine_full_of_the_target_is_cpu_and_of_others_a_neighbour() {
    let full = |target: f64| {
        slow()
            .gauge("host.cpu", from_8(0.3, 0.98))
            .gauge("target.cpu", from_8(0.3, target))
            .gauge("target.cpu.main_thread", from_8(0.1, 0.6))
            .gauge("target.cpu.other_threads", from_8(0.1, (target - 0.6_f64).max(0.0)))
    };
    assert_eq!(full(1.7).cause(), Some("cpu"));
    assert_eq!(full(0.7).cause(), Some("neighbour"));
}

/// Of two cores that ten want, a fifth of one is a share; a target that uses a fiftieth waits for something else.
#[test]
fn a_full_machine_is_no_cause_for_a_target_that_hardly_wants_a_core() {
    let wants = |target: f64| {
        slow()
            .gauge("host.cpu", |_| 0.99)
            .gauge("host.runnable", |_| 10.0)
            .gauge("target.cpu", move |_| target)
            .gauge("target.cpu.main_thread", move |_| target)
    };
    assert_eq!(wants(0.2).cause(), Some("neighbour"));
    assert_eq!(wants(0.02).cause(), Some("dependency"));
    let told = wants(0.02).diagnosis().findings.remove(0).evidence;
    let busy = "its machine was 99 % busy, but the target was not short of cores";
    assert!(told.iter().any(|evidence| evidence.text == busy), "{told:?}");
    // Where the kernel says how long its threads wait for a core, that decides.
    assert_eq!(wants(0.2).gauge("target.cpu.waiting", |_| 0.05).cause(), Some("dependency"));
    assert_eq!(wants(0.02).gauge("target.cpu.waiting", |_| 0.5).cause(), Some("neighbour"));
}

#[test]
fn a_kill_for_lack_of_memory_comes_before_the_death_it_caused() {
    let made = slow()
        .gauge("target.memory", |_| 1.3e8)
        .count("target.oom_kills", |second| f64::from(u8::from(second == 8)))
        .count("target.ended", |second| f64::from(u8::from(second == 8)))
        .happened(8, "process 7 (node) ended");
    assert_eq!(made.cause(), Some("memory"));
    let made = slow()
        .gauge("target.memory", |_| 1e8)
        .count("target.ended", |second| f64::from(u8::from(second == 8)));
    assert_eq!(made.cause(), Some("death"));
}

#[test]
fn a_cache_that_fills_its_limit_is_no_trouble() {
    let made = idle(slow())
        .gauge("target.memory", |_| 1e8)
        .gauge("target.cgroup.memory", |_| 0.99e9)
        .gauge("target.cgroup.memory.limit", |_| 1e9);
    assert_eq!(made.cause(), Some("dependency"));
}

#[test]
fn files_at_their_limit_are_named_with_the_limit() {
    let made =
        slow().gauge("target.open_files", from_8(20.0, 60.0)).gauge("target.open_files.limit", |_| 60.0);
    let found = made.diagnosis();
    assert_eq!(found.findings[0].id, "descriptors");
    assert!(
        found.findings[0].remedies[0].text.contains("LimitNOFILE=65536"),
        "{:?}",
        found.findings[0].remedies
    );
}

/// Of a target that nobody can look into, whose kernel drops what its queue has no room for.
#[test]
fn connects_that_take_whole_seconds_are_syns_that_were_dropped() {
    let connecting = |times: &[(f64, u64)]| Made::of(24).connects(times);
    let stepped = || connecting(&[(12.0, 18), (1_015.0, 2), (2_050.0, 1), (3_030.0, 1)]);
    let found = stepped().diagnosis();
    assert_eq!(found.findings[0].id, "syn_retries", "{:?}", found.findings);
    assert_eq!(found.findings[0].evidence[0].text, "96 of 528 connects took whole seconds: 1 s, 2 s, 3 s");
    assert_eq!(found.findings[0].evidence.len(), 1);
    let before = stepped().never("host.tcp.listen_overflows").diagnosis();
    let said = "no accept queue of the target's machine overflowed: what stands before it dropped them";
    assert_eq!(before.findings[0].evidence[1].text, said);
    let silent = |made: Made, why: &str| {
        let found = made.diagnosis();
        assert!(!found.story.is_calm());
        let ruled_out = found.ruled_out.iter().find(|rule| rule.id == "syn_retries");
        assert_eq!(ruled_out.map(|rule| rule.why.as_str()), Some(why), "{:?}", found.findings);
        found
    };
    let grown = stepped().count("host.tcp.listen_overflows", |_| 2.0).gauge("target.accept_queue", |_| 3.0);
    let found = silent(grown, "SYNs were dropped because an accept queue overflowed");
    let told = &found.findings[0].evidence.last().unwrap().text;
    assert_eq!((found.findings[0].id, told.starts_with("96 of 528 connects")), ("accept_queue", true));
    let lossy = stepped()
        .count("host.tcp.sent", |_| 1_000.0)
        .count("host.tcp.retransmitted", |_| 30.0)
        .count("host.softnet.dropped", |_| 0.0);
    let found = silent(lossy, "SYNs were lost as other segments were");
    assert_eq!(found.findings[0].id, "network");
    // A target that is merely slow takes any time, and one that always takes a second has its own reason.
    let spread =
        [(12.0, 12), (930.0, 1), (1_260.0, 1), (1_480.0, 1), (1_700.0, 1), (2_050.0, 1), (2_600.0, 1)];
    silent(connecting(&spread), "connects did not come in steps of whole seconds");
    silent(connecting(&[(1_015.0, 20)]), "connects did not come in steps of whole seconds");
    silent(
        Made::of(24).latency(from_8(20.0, 600.0)).connects(&[(12.0, 20)]),
        "connects did not come in steps of whole seconds",
    );
}

#[test]
fn an_accept_queue_that_overflowed_is_the_targets_only_if_its_own_was_seen_full() {
    let overflowed =
        || slow().count("host.tcp.listen_overflows", |second| if second > 8 { 6.0 } else { 0.0 });
    assert_eq!(
        idle(overflowed()).gauge("target.accept_queue", from_8(0.0, 3.0)).cause(),
        Some("accept_queue")
    );
    let other = overflowed()
        .gauge("target.cpu.main_thread", from_8(0.1, 0.99))
        .gauge("target.cpu", from_8(0.1, 0.99))
        .gauge("host.cpu", |_| 0.5);
    assert_eq!(other.cause(), Some("event_loop"));
}

#[test]
fn an_accept_queue_that_overflowed_behind_a_full_machine_is_no_cause() {
    let overflowed = |from: u32| {
        let refused = move |second| if second > from { 6.0 } else { 0.0 };
        let made = slow().count("host.tcp.listen_overflows", refused);
        let made = made.gauge("target.accept_queue", from_8(0.0, 3.0));
        made.gauge("host.cpu", from_8(0.4, 0.98)).gauge("target.cpu", from_8(0.6, 1.9)).diagnosis()
    };
    let findings = overflowed(11).findings;
    let told: Vec<_> = findings.iter().map(|finding| (finding.id, finding.confidence)).collect();
    assert_eq!(told, [("cpu", Confidence::Likely), ("accept_queue", Confidence::Possible)]);
    let told = findings[1].evidence.iter().find(|evidence| evidence.series == "host.cpu");
    assert_eq!(told.unwrap().text, "the machine was full before that, from 8 s on");
    // Full with the queue and not before it: it may have been filled by those who came again.
    assert_eq!(overflowed(7).findings[0].id, "accept_queue");
}

#[test]
fn handshakes_that_a_full_accept_queue_dropped_are_no_lost_packets() {
    let resent = |again: f64| {
        let refused = |count: f64| move |second| if second > 8 { count } else { 0.0 };
        let made = idle(slow())
            .count("host.tcp.listen_overflows", refused(60.0))
            .gauge("target.accept_queue", from_8(0.0, 3.0))
            .count("host.tcp.sent", |_| 200.0)
            .count("host.tcp.retransmitted", refused(again));
        made.diagnosis().findings.iter().any(|finding| finding.id == "network")
    };
    assert!(!resent(50.0));
    assert!(resent(90.0));
}

#[test]
fn a_kill_is_told_once_though_the_machine_counts_it_too() {
    let killed = |second| f64::from(u8::from(second == 8));
    let made = idle(slow())
        .gauge("target.memory", |_| 2e8)
        .count("target.oom_kills", killed)
        .count("host.oom_kills", killed);
    let found = made.diagnosis();
    assert_eq!(
        (found.findings[0].id, found.findings[0].evidence.len()),
        ("memory", 1),
        "{:?}",
        found.findings
    );
}

#[test]
fn refusals_by_429_are_a_limit() {
    let made = idle(slow()).tagged_count("http.codes", &[("code", "200")], |_| 12.0).tagged_count(
        "http.codes",
        &[("code", "429")],
        from_8(0.0, 8.0),
    );
    assert_eq!(made.cause(), Some("rate_limit"));
}

#[test]
fn stolen_time_and_lost_packets_are_named() {
    let stolen = slow().gauge("host.cpu.steal", from_8(0.0, 0.3)).gauge("host.cpu", |_| 0.6);
    assert_eq!(stolen.cause(), Some("steal"));
    let lossy = slow()
        .count("host.tcp.sent", |_| 1_000.0)
        .count("host.tcp.retransmitted", from_8(0.0, 40.0))
        .gauge("target.cpu.main_thread", |_| 0.1)
        .gauge("host.cpu", |_| 0.2);
    assert_eq!(lossy.cause(), Some("network"));
}

#[test]
fn a_little_stolen_time_does_not_hide_a_full_thread() {
    let full = |stolen| {
        slow().gauge("host.cpu.steal", from_8(0.0, stolen)).gauge("target.cpu.main_thread", from_8(0.2, 0.97))
    };
    assert_eq!(full(0.12).cause(), Some("event_loop"));
    assert_eq!(full(0.6).cause(), Some("steal"), "most of a core went elsewhere");
    assert_eq!(
        slow().gauge("host.cpu.steal", from_8(0.0, 0.12)).cause(),
        Some("steal"),
        "nothing else was noticed"
    );
}

#[test]
fn what_was_not_measured_is_neither_named_nor_ruled_out() {
    let found = Made::of(24).latency(from_8(20.0, 600.0)).diagnosis();
    assert!(found.findings.is_empty());
    let unmeasured: Vec<&str> =
        found.ruled_out.iter().filter(|rule| rule.is_unmeasured).map(|rule| rule.id).collect();
    for rule in ["memory", "descriptors", "cpu_quota", "event_loop", "cpu", "dependency"] {
        assert!(unmeasured.contains(&rule), "{rule} in {unmeasured:?}");
    }
}

#[test]
fn a_way_that_takes_as_long_as_the_answers_is_the_network() {
    let far = |ms| Made::of(20).latency(|_| 210.0).gauge("target.round_trip", move |_| ms);
    assert_eq!(far(180.0).cause(), Some("network"));
    assert_eq!(far(8.0).cause(), None);
    // Messages that nobody answers take no time: they say nothing of the way.
    let sent = |ms| Made::of(20).latency(|_| 0.1).delivered(400.0).gauge("target.round_trip", move |_| ms);
    assert_eq!(sent(6.0).cause(), None);
}
