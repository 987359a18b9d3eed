//! What a shell is asked, and what its answer says: `grep` for whole files, each line after the name of its file; `ls`
//! for folders, each after a line of its own name; `head` for the first bytes of a file.

use crate::machine::{Units, Wanted};
use std::collections::HashMap;
use std::io::ErrorKind;

/// Asks for [`Units`].
pub(super) const UNITS: &str = "getconf CLK_TCK 2>/dev/null || echo 100; getconf PAGESIZE 2>/dev/null || echo 4096; \
                                printf '\\001\\000' | od -An -t u2 2>/dev/null || echo 1\n";

/// What became of something wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Bytes(Vec<u8>),
    Names(Vec<String>),
    Error(ErrorKind),
}

/// All that was found, by what was wanted.
#[derive(Debug)]
pub(super) struct Answers(pub(super) HashMap<Wanted, Found>);

/// Things to ask for at once.
#[derive(Debug, Default)]
pub(super) struct Question {
    read: Vec<String>,
    list: Vec<String>,
    links: Vec<String>,
    heads: Vec<(String, usize)>,
    bytes: usize,
}

pub(super) fn units(said: &[u8]) -> Units {
    let said = String::from_utf8_lossy(said);
    let mut numbers = said.split_whitespace().map(|word| word.parse().ok().filter(|number| *number > 0));
    let mut next = |usual| numbers.next().flatten().unwrap_or(usual);
    Units { ticks: next(100), page: next(4096), is_little_endian: next(1) == 1 }
}

impl Question {
    pub(super) fn of(wanted: Wanted) -> Question {
        let mut question = Question::default();
        question.add(wanted);
        question
    }

    pub(super) fn add(&mut self, wanted: Wanted) {
        let path = match wanted {
            Wanted::Read(path) => pushed(&mut self.read, path),
            Wanted::List(path) => pushed(&mut self.list, path),
            Wanted::Links(path) => pushed(&mut self.links, path),
            Wanted::Head(path, bytes) => {
                let length = path.len();
                self.heads.push((path, bytes));
                length + 100
            }
        };
        self.bytes += path + 16;
    }

    /// Bytes of its text, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The commands. The answer to each ends with the mark on a line of its own.
    pub(super) fn text(&self, mark: &str) -> String {
        let all = |paths: &[String]| paths.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(" ");
        let end = format!("2>&1; printf '\\n%s\\n' {mark}");
        // With one argument more than asked for, names are always told: of files by grep, of folders by ls.
        let mut text = format!("LC_ALL=C grep -a '' /dev/null {} {end}\n", all(&self.read));
        text.push_str(&format!("LC_ALL=C ls -1A / {} {end}\n", all(&self.list)));
        text.push_str(&format!("LC_ALL=C ls -lA /dev/null / {} {end}\n", all(&self.links)));
        for (path, bytes) in &self.heads {
            text.push_str(&format!("LC_ALL=C head -c {bytes} {} {end}\n", quoted(path)));
        }
        text
    }

    /// What the answer says; `said` has the parts of the answer in the order of the commands.
    pub(super) fn answers(self, said: &[Vec<u8>]) -> Answers {
        let part = |at: usize| said.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut found = HashMap::new();
        files(self.read, part(0), &mut found);
        folders(self.list, part(1), |line| Some(line.to_owned()), Wanted::List, &mut found);
        let target = |line: &str| line.split_once(" -> ").map(|(_, target)| target.to_owned());
        folders(self.links, part(2), target, Wanted::Links, &mut found);
        for (at, (path, bytes)) in self.heads.into_iter().enumerate() {
            let said = part(3 + at);
            let is_error = said.starts_with(b"head: ") && contains(said, path.as_bytes());
            let head = if is_error { Found::Error(kind(said)) } else { Found::Bytes(said.to_vec()) };
            found.insert(Wanted::Head(path, bytes), head);
        }
        Answers(found)
    }
}

fn pushed(paths: &mut Vec<String>, path: String) -> usize {
    let length = path.len();
    paths.push(path);
    length
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Lines of grep: `PATH:LINE`, in the order of the paths, and `grep: PATH: REASON`.
fn files(paths: Vec<String>, said: &[u8], found: &mut HashMap<Wanted, Found>) {
    let mut contents: Vec<Found> = vec![Found::Bytes(Vec::new()); paths.len()];
    let mut at = 0;
    for line in said.split(|byte| *byte == b'\n') {
        let of = |path: &String| line.strip_prefix(path.as_bytes()).and_then(|rest| rest.strip_prefix(b":"));
        let Some(next) = (at..paths.len()).find(|next| of(&paths[*next]).is_some()) else {
            if let Some(error) = line.strip_prefix(b"grep: ") {
                let failed = paths.iter().position(|path| error.starts_with(format!("{path}: ").as_bytes()));
                if let Some(failed) = failed {
                    contents[failed] = Found::Error(kind(error));
                }
            }
            continue;
        };
        at = next;
        if let (Some(rest), Found::Bytes(bytes)) = (of(&paths[at]), &mut contents[at]) {
            bytes.extend_from_slice(rest);
            bytes.push(b'\n');
        }
    }
    found.extend(paths.into_iter().map(Wanted::Read).zip(contents));
}

/// Lines of ls: `PATH:`, then what is in it; of a folder that cannot be read, a line of its error alone.
fn folders(
    paths: Vec<String>,
    said: &[u8],
    name: impl Fn(&str) -> Option<String>,
    wanted: fn(String) -> Wanted,
    found: &mut HashMap<Wanted, Found>,
) {
    let said = String::from_utf8_lossy(said);
    let mut within: HashMap<&str, Vec<String>> = HashMap::new();
    let mut errors = Vec::new();
    let mut at = None;
    for line in said.lines().filter(|line| !line.is_empty()) {
        // Names have no slash in them: a line that begins with one heads a folder.
        match line.strip_suffix(':').filter(|path| path.starts_with('/')) {
            Some(path) => {
                within.entry(path).or_default();
                at = Some(path);
            }
            None if line.starts_with("ls: ") => errors.push(line),
            None => {
                if let Some(names) = at.and_then(|at| within.get_mut(at)) {
                    names.extend(name(line));
                }
            }
        }
    }
    for path in paths {
        let error = errors.iter().find(|line| line.contains(path.as_str()) && !line.contains(" -> "));
        let names = within.remove(path.as_str());
        let result = match (names, error) {
            (Some(names), Some(error)) if names.is_empty() => Found::Error(kind(error.as_bytes())),
            (Some(names), _) => Found::Names(names),
            (None, Some(error)) => Found::Error(kind(error.as_bytes())),
            (None, None) => Found::Error(ErrorKind::NotFound),
        };
        found.insert(wanted(path), result);
    }
}

/// The kind of an error by what the system calls it in C's locale.
fn kind(said: &[u8]) -> ErrorKind {
    match () {
        () if contains(said, b"Permission denied") || contains(said, b"Operation not permitted") => {
            ErrorKind::PermissionDenied
        }
        () if contains(said, b"No such file or directory") || contains(said, b"No such process") => {
            ErrorKind::NotFound
        }
        () => ErrorKind::Other,
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_the_shell() {
        assert_eq!(quoted("/a b/'c'"), r"'/a b/'\''c'\'''");
    }

    #[test]
    fn units_are_those_it_says_or_the_usual_ones() {
        let of = |said: &[u8]| {
            let Units { ticks, page, is_little_endian } = units(said);
            (ticks, page, is_little_endian)
        };
        assert_eq!(of(b"250\n16384\n   256\n"), (250, 16384, false));
        assert_eq!(of(b"what?"), (100, 4096, true));
    }

    #[test]
    fn of_busybox_errors_are_understood_as_well() {
        let question = || {
            let mut question = Question::of(Wanted::List("/proc/1/fd".to_owned()));
            question.add(Wanted::List("/gone".to_owned()));
            question.add(Wanted::Read("/proc/1/io".to_owned()));
            question
        };
        let ls =
            "ls: can't open '/proc/1/fd': Permission denied\nls: /gone: No such file or directory\n/:\nbin\n";
        let said = [b"grep: /proc/1/io: Permission denied\n".to_vec(), ls.as_bytes().to_vec()];
        let Answers(found) = question().answers(&said);
        let error = |wanted: Wanted| found[&wanted].clone();
        assert_eq!(error(Wanted::List("/proc/1/fd".to_owned())), Found::Error(ErrorKind::PermissionDenied));
        assert_eq!(error(Wanted::List("/gone".to_owned())), Found::Error(ErrorKind::NotFound));
        assert_eq!(error(Wanted::Read("/proc/1/io".to_owned())), Found::Error(ErrorKind::PermissionDenied));
    }
}
