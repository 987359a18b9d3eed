//! This machine.

use super::slices::Slices;
use super::{Machine, Socket, Sockets, Units, sock_diag};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Bytes that most files of /proc do not have.
const MOST: usize = 8 << 10;

/// This machine's own files, read in [slices](Slices).
#[derive(Clone, Copy, Debug, Default)]
pub struct Local {
    slices: Slices,
}

impl Machine for Local {
    fn look(&mut self) -> io::Result<()> {
        self.slices.begin();
        Ok(())
    }

    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.head(path, usize::MAX)
    }

    fn head(&mut self, path: &str, bytes: usize) -> io::Result<Vec<u8>> {
        self.slices.pause_if_over();
        // Files of /proc say that they are empty: most are read at once if there is room for them.
        let mut head = Vec::with_capacity(bytes.min(MOST));
        fs::File::open(path)?.take(bytes as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    fn count(&mut self, path: &str) -> io::Result<u64> {
        self.slices.pause_if_over();
        // From Linux 6.2 on the size of /proc/PID/fd is how many there are: listing ten thousand takes milliseconds.
        match fs::metadata(path)?.len() {
            0 => Ok(fs::read_dir(path)?.count() as u64),
            size => Ok(size),
        }
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<String>> {
        self.slices.pause_if_over();
        let names = fs::read_dir(path)?.filter_map(Result::ok);
        Ok(names.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
        self.slices.pause_if_over();
        let targets = fs::read_dir(path)?.filter_map(Result::ok).map(|entry| fs::read_link(entry.path()));
        for target in targets.filter_map(Result::ok) {
            self.slices.pause_if_over();
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
        (theirs? == network("/proc/self")?).then(|| sock_diag::sockets(asked, &mut self.slices, tell))
    }

    fn units(&self) -> Units {
        Units {
            ticks: rustix::param::clock_ticks_per_second(),
            page: rustix::param::page_size() as u64,
            is_little_endian: cfg!(target_endian = "little"),
        }
    }
}
