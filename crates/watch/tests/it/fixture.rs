//! A machine that is a table of files.

use sonagi_watch::machine::{Machine, Units};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The files of a machine, by path; folders are what stands before a slash. What is refused may not be read.
#[derive(Clone, Default)]
pub(crate) struct Files(Arc<Mutex<BTreeMap<String, String>>>, Arc<Mutex<BTreeSet<String>>>);

impl Files {
    /// Puts a file there, or another one in its place.
    pub(crate) fn put(&self, path: &str, text: &str) {
        self.0.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// Makes a file or folder one of another user.
    pub(crate) fn refuse(&self, path: &str) {
        self.1.lock().unwrap().insert(path.to_owned());
    }

    fn asked(&self, path: &str) -> io::Result<()> {
        let is_refused = self.1.lock().unwrap().contains(path);
        if is_refused { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }

    /// Takes away a file, or a folder with all that is in it.
    pub(crate) fn remove(&self, path: &str) {
        let folder = format!("{path}/");
        self.0.lock().unwrap().retain(|known, _| known != path && !known.starts_with(&folder));
    }

    /// A process with one thread, which listens at no port.
    pub(crate) fn process(&self, pid: i32, parent: i32, name: &str) {
        let stat = format!(
            "{pid} ({name}) S {parent} {pid} {pid} 0 -1 4194560 1 0 0 0 100 0 0 0 20 0 1 0 {pid} 1000000 500 \
             18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        );
        self.put(&format!("/proc/{pid}/stat"), &stat);
        self.put(&format!("/proc/{pid}/task/{pid}/stat"), &stat);
        self.put(&format!("/proc/{pid}/fd/0"), "");
        self.put(&format!("/proc/{pid}/cgroup"), "0::/\n");
    }
}

impl Machine for Files {
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.asked(path)?;
        let files = self.0.lock().unwrap();
        files.get(path).map(|text| text.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<String>> {
        self.asked(path)?;
        let (folder, files) = (format!("{path}/"), self.0.lock().unwrap());
        let within = files.keys().filter_map(|known| known.strip_prefix(&folder));
        let mut names: Vec<String> =
            within.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        if names.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(names) }
    }

    fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
        let names = self.list(path)?;
        let files = self.0.lock().unwrap();
        let mut targets = names.iter().filter_map(|name| files.get(&format!("{path}/{name}")));
        let _ = targets.try_for_each(|target| tell(target));
        Ok(())
    }

    fn units(&self) -> Units {
        Units { ticks: 100, page: 4_096, is_little_endian: true }
    }
}
