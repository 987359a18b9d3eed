//! This machine.

use super::{Machine, Socket, Sockets, Units, sock_diag};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Most files of /proc are shorter than this (bytes).
const FIRST_READ: usize = 8 << 10;

/// This machine's own files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Machine for Local {
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.head(path, usize::MAX)
    }

    fn head(&mut self, path: &str, bytes: usize) -> io::Result<Vec<u8>> {
        // Files of /proc do not say how long they are: with room for them, most take one read, and one for the end.
        let mut head = Vec::with_capacity(bytes.min(FIRST_READ));
        fs::File::open(path)?.take(bytes as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    fn count(&mut self, path: &str) -> io::Result<u64> {
        // From Linux 6.2 on the size of /proc/PID/fd is how many there are: listing ten thousand takes milliseconds.
        match fs::metadata(path)?.len() {
            0 => Ok(fs::read_dir(path)?.count() as u64),
            size => Ok(size),
        }
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<String>> {
        let names = fs::read_dir(path)?.filter_map(Result::ok);
        Ok(names.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
        let targets = fs::read_dir(path)?.filter_map(Result::ok).map(|entry| fs::read_link(entry.path()));
        for target in targets.filter_map(Result::ok) {
            if target.to_str().is_some_and(|target| tell(target).is_break()) {
                break;
            }
        }
        Ok(())
    }

    fn sockets(&mut self, net: &str, asked: Sockets, tell: &mut dyn FnMut(Socket)) -> Option<io::Result<()>> {
        // The kernel tells whoever asks of his own network, and a target in a container has another.
        let network = |process: &str| fs::read_link(format!("{process}/ns/net")).ok();
        let theirs = match net.strip_suffix("/net")? {
            "/proc" => network("/proc/self"),
            process => network(process),
        };
        (theirs? == network("/proc/self")?).then(|| sock_diag::sockets(asked, tell))
    }

    fn units(&self) -> Units {
        Units {
            ticks: rustix::param::clock_ticks_per_second(),
            page: rustix::param::page_size() as u64,
            is_little_endian: cfg!(target_endian = "little"),
        }
    }
}
