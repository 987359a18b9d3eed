//! A folder of files, and Node.

use sonagi_transpile::{File, FileFault, Format, graph};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that goes when the test ends.
pub(crate) struct Folder {
    held: tempfile::TempDir,
}

/// Writes files, each a path and a text.
pub(crate) fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder { held: tempfile::tempdir().unwrap() };
    for (name, text) in files {
        folder.write(name, text.as_bytes());
    }
    folder
}

impl Folder {
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.held.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The path by which Node knows it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.held.path()).unwrap().join(name)
    }

    /// The names of the files that are made ready for `entry`, CommonJS ones marked so.
    pub(crate) fn made(&self, entry: &str) -> Vec<String> {
        let files = graph(&self.path(entry)).unwrap();
        let name = |file: &File| {
            let name = file.path.strip_prefix(self.path("")).unwrap().to_str().unwrap().to_owned();
            if file.module.format == Format::CommonJs { format!("{name} (common)") } else { name }
        };
        files.iter().map(name).collect()
    }

    /// The code made of one file.
    pub(crate) fn code(&self, entry: &str, name: &str) -> String {
        let files = graph(&self.path(entry)).unwrap();
        files.into_iter().find(|file| file.path == self.path(name)).unwrap().module.code
    }

    /// Each fault as `file:line:column what`.
    pub(crate) fn faults(&self, entry: &str) -> Vec<String> {
        let faults = graph(&self.path(entry)).unwrap_err();
        let one = |FileFault { path, fault }: &FileFault| {
            let name = path.strip_prefix(self.path("")).unwrap_or(path).display();
            format!("{name}:{}:{} {}", fault.line, fault.column, fault.what)
        };
        faults.iter().map(one).collect()
    }

    /// The output of the entry when Node runs it.
    pub(crate) fn run(&self, entry: &str) -> String {
        let (out, error) = self.try_run(entry);
        assert!(error.is_empty(), "{error}");
        out
    }

    /// Its output, and its complaints.
    pub(crate) fn try_run(&self, entry: &str) -> (String, String) {
        let made = graph(&self.path(entry)).unwrap();
        let made: Vec<_> = made.iter().map(as_json).collect();
        self.write("graph.json", serde_json::to_string(&made).unwrap().as_bytes());
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/node/run.mjs");
        let output = Command::new("node")
            .args(["--enable-source-maps", "--no-warnings"])
            .args([here, self.path("graph.json"), self.path(entry)])
            .current_dir(self.held.path())
            .output()
            .expect("node on PATH");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().trim_end().to_owned();
        (text(output.stdout), text(output.stderr))
    }
}

fn as_json(file: &File) -> serde_json::Value {
    let links: serde_json::Map<_, _> =
        file.links.iter().map(|(specifier, path)| (specifier.clone(), path.to_str().into())).collect();
    serde_json::json!({
        "path": file.path,
        "code": file.module.code,
        "esm": file.module.format == Format::Esm,
        "links": links,
    })
}
