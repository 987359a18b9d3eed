//! The file that a relative specifier means: as written, with an extension, as a folder's index; and `./a.js` written
//! for `a.ts`.
//!
//! Bare specifiers (`axios`, `node:fs`, `#internal`) are Node's to find, from the file that names them. Paths come out
//! canonical, as Node has them, so that a module reached through a link is the same module.

use std::fs;
use std::path::{Path, PathBuf};

/// In the order they are tried; TypeScript first, for beside it may lie what another tool once made of it.
const EXTENSIONS: &[&str] = &["tsx", "ts", "jsx", "js", "mts", "mjs", "cts", "cjs", "json", "node"];

/// The extensions that a specifier's extension may stand for when there is no such file.
const WRITTEN_FOR: &[(&str, &[&str])] =
    &[("js", &["ts", "tsx"]), ("jsx", &["tsx"]), ("mjs", &["mts"]), ("cjs", &["cts"])];

/// Whether the specifier is a path: the rest is Node's.
pub(crate) fn is_path(specifier: &str) -> bool {
    specifier == "."
        || specifier == ".."
        || specifier.starts_with("./")
        || specifier.starts_with("../")
        || specifier.starts_with('/')
}

/// The file that `specifier`, a path, means in the file `from`.
pub(crate) fn find(from: &Path, specifier: &str) -> Option<PathBuf> {
    let wanted = from.parent()?.join(specifier);
    let is_folder = specifier.ends_with('/') || is_dots(specifier);
    let found = if is_folder { None } else { file(&wanted) };
    fs::canonicalize(found.or_else(|| folder(&wanted))?).ok()
}

fn is_dots(specifier: &str) -> bool {
    matches!(specifier.rsplit('/').next(), Some("." | ".."))
}

fn file(wanted: &Path) -> Option<PathBuf> {
    if wanted.is_file() {
        return Some(wanted.to_owned());
    }
    let written = wanted.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let meant =
        WRITTEN_FOR.iter().filter(|(extension, _)| *extension == written).flat_map(|(_, meant)| *meant);
    let meant = meant.map(|extension| wanted.with_extension(extension));
    meant.chain(EXTENSIONS.iter().map(|extension| with_suffix(wanted, extension))).find(|path| path.is_file())
}

fn folder(wanted: &Path) -> Option<PathBuf> {
    if !wanted.is_dir() {
        return None;
    }
    let main = crate::package::read(wanted).and_then(|package| package.main);
    let main = main.map(|main| wanted.join(main));
    let main = main.and_then(|main| file(&main).or_else(|| file(&main.join("index"))));
    main.or_else(|| file(&wanted.join("index")))
}

fn with_suffix(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// Whether Node itself gets to `target` from this `import`: it takes paths as they are written.
pub(crate) fn node_imports(from: &Path, specifier: &str, target: &Path) -> bool {
    let wanted = from.parent().map(|folder| folder.join(specifier));
    wanted
        .is_some_and(|wanted| wanted.is_file() && fs::canonicalize(wanted).is_ok_and(|found| found == target))
}

/// Whether Node itself gets to `target` from this `require`: it tries its own extensions, then a folder's index.
pub(crate) fn node_requires(from: &Path, specifier: &str, target: &Path) -> bool {
    let Some(wanted) = from.parent().map(|folder| folder.join(specifier)) else { return false };
    let tried = ["js", "json", "node"].map(|extension| with_suffix(&wanted, extension));
    match std::iter::once(wanted).chain(tried).find(|path| path.is_file()) {
        Some(found) => fs::canonicalize(found).is_ok_and(|found| found == target),
        None => matches!(crate::draft::extension(target), "js" | "json" | "node"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name.ends_with("package.json") { r#"{"main": "lib/start"}"# } else { "" })
                .unwrap();
        }
        folder
    }

    #[test]
    fn a_path_means_the_file_as_written_then_with_an_extension_then_a_folders_index() {
        let folder = tree(&[
            "a.ts",
            "b.js",
            "b.ts",
            "c/index.ts",
            "d.ts",
            "d/index.ts",
            "e.mts",
            "f.cts",
            "g.json",
            "h.page.ts",
            "packed/package.json",
            "packed/lib/start.ts",
            "index.ts",
            "sub/x.ts",
            "i.tsx",
        ]);
        let root = fs::canonicalize(folder.path()).unwrap();
        for (from, specifier, means) in [
            ("a.ts", "./a", Some("a.ts")),
            ("a.ts", "./a.ts", Some("a.ts")),
            ("a.ts", "./a.js", Some("a.ts")),
            ("a.ts", "./b.js", Some("b.js")),
            ("a.ts", "./b", Some("b.ts")),
            ("a.ts", "./c", Some("c/index.ts")),
            ("a.ts", "./d", Some("d.ts")),
            ("a.ts", "./d/", Some("d/index.ts")),
            ("a.ts", "./e.mjs", Some("e.mts")),
            ("a.ts", "./e", Some("e.mts")),
            ("a.ts", "./f.cjs", Some("f.cts")),
            ("a.ts", "./g", Some("g.json")),
            ("a.ts", "./h.page", Some("h.page.ts")),
            ("a.ts", "./i.jsx", Some("i.tsx")),
            ("a.ts", "./packed", Some("packed/lib/start.ts")),
            ("a.ts", ".", Some("index.ts")),
            ("sub/x.ts", "..", Some("index.ts")),
            ("sub/x.ts", "../a", Some("a.ts")),
            ("a.ts", "./none", None),
            ("a.ts", "./sub", None),
        ] {
            let found = find(&root.join(from), specifier);
            assert_eq!(found, means.map(|means| root.join(means)), "{specifier} in {from}");
        }
    }

    #[test]
    fn only_paths_are_ours_to_find() {
        for path in ["./a", "../a", ".", "..", "/a"] {
            assert!(is_path(path), "{path}");
        }
        for bare in ["axios", "@scope/name", "node:fs", "#internal", ".hidden", "file:///a.js"] {
            assert!(!is_path(bare), "{bare}");
        }
    }
}
