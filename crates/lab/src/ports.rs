//! Which process listens on a port of this machine.

use std::fs;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The process that listens on a port, as "process 12 (node)"; None: it cannot be seen.
pub(crate) fn listener(port: u16) -> Option<String> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .flat_map(|text| listening(&text, port))
        .collect();
    let ids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let name = entry.file_name().to_str()?.to_owned();
        name.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
    });
    ids.into_iter().find_map(|id| {
        let files = fs::read_dir(format!("/proc/{id}/fd")).ok()?;
        let holds = files.flatten().any(|file| {
            let link = fs::read_link(file.path()).unwrap_or_default();
            let link = link.to_string_lossy();
            inodes.iter().any(|inode| link == format!("socket:[{inode}]"))
        });
        let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        holds.then(|| format!("process {id} ({})", name.trim()))
    })
}

/// The inodes of the sockets that listen on a port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let port = format!("{port:04X}");
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else { return None };
        (*state == LISTEN && local.ends_with(&format!(":{port}"))).then(|| (*inode).to_owned())
    };
    table.lines().filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_listens_on_a_port_is_named() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let named = listener(taken.local_addr().unwrap().port()).unwrap();
        assert!(named.starts_with(&format!("process {} (", std::process::id())), "{named}");
        drop(taken);
        let table = "  0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1\n  \
                     1: 0100007F:0BB8 0100007F:1234 01 00000000:00000000 00:00000000 00000000     0        0 78 1\n";
        assert_eq!(listening(table, 3000), ["77"]);
        assert_eq!(listening(table, 3001), Vec::<String>::new());
    }
}
