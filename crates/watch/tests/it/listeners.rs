//! Who the target's processes are, on a machine whose kernel tells no sockets: by its files.

use crate::fixture::Files;
use crate::support::Watching;
use sonagi_watch::probes::{Target, on_machine};

/// A row of the table of sockets: its inode, its end, the other one and its state.
fn row((inode, local, remote, state): (u32, &str, &str, &str)) -> String {
    let queues = "00000000:00000000 00:00000000 00000000     0        0";
    format!("   0: {local} {remote} {state} {queues} {inode} 1 0 20 4 0 10 -1\n")
}

/// A socket that listens at port 8080.
fn listens(inode: u32) -> (u32, &'static str, &'static str, &'static str) {
    (inode, "0100007F:1F90", "00000000:0000", "0A")
}

fn put(files: &Files, rows: &[(u32, &str, &str, &str)]) {
    let header =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    let rows: String = rows.iter().copied().map(row).collect();
    files.put("/proc/net/tcp", &format!("{header}{rows}"));
}

/// Numbers that no process of this machine has.
const FIRST: i32 = 4_200_001;
const OTHER: i32 = 4_200_002;
const NEXT: i32 = 4_200_003;

/// A process that holds a socket, from its first moment.
fn holder(files: &Files, pid: i32, inode: u32) {
    files.put(&format!("/proc/{pid}/fd/3"), &format!("socket:[{inode}]"));
    files.process(pid, 1, "service");
}

#[test]
fn our_connections_say_who_the_target_is() {
    let files = Files::default();
    let connection = (77, "0100007F:C350", "0100007F:1F90", "01");
    // Somebody else's: 66 is no socket of ours.
    let others = [(44, "0100007F:1F91", "00000000:0000", "0A"), (66, "0100007F:C351", "0100007F:1F91", "01")];
    put(&files, &[listens(55), connection, others[0], others[1]]);
    files.put("/proc/self/fd/5", "socket:[77]");
    holder(&files, FIRST, 55);
    holder(&files, OTHER, 44);
    // Only the target has a child.
    files.process(NEXT, FIRST, "worker");
    let mut watching = Watching::start(on_machine(files, Target::Peer));
    watching.until("its processes", |seen| seen.get("target.processes").is_some());
    assert_eq!(watching.seen.get("target.processes"), Some(2.0));
}

#[test]
fn a_process_that_comes_to_listen_later_is_found_and_so_is_one_that_has_long_been_there() {
    let files = Files::default();
    put(&files, &[listens(55)]);
    holder(&files, FIRST, 55);
    files.process(OTHER, 1, "another");
    let mut watching = Watching::start(on_machine(files.clone(), Target::Port(8080)));
    watching.until("one", |seen| seen.get("target.processes") == Some(1.0));
    holder(&files, NEXT, 55);
    watching.until("a new one", |seen| seen.get("target.processes") == Some(2.0));
    files.put(&format!("/proc/{OTHER}/fd/3"), "socket:[56]");
    put(&files, &[listens(55), listens(56)]);
    watching.until("one that was there", |seen| seen.get("target.processes") == Some(3.0));
}
