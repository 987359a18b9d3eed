//! Arrows inside a crate: folders import each other in one direction, and few files lie in a circle.
//!
//! Imports are read from `use` declarations and from paths that begin with `crate`, `super` or `self`; what follows
//! `#[cfg(test)]` is left out, because a test may set up all of the crate. A path that begins with the name of an
//! imported module counts as the import that brought the name.

use std::collections::{BTreeMap, BTreeSet};

use crate::orders::ORDERS;
use crate::source::blanked;
use crate::tree;

/// How many files may import each other in a circle.
const CIRCLE: usize = 8;

/// A crate, and how many of its files lie in larger circles today: a ratchet. A number may shrink, never grow; a new
/// row needs a reviewer's yes.
const IN_LARGER_CIRCLES: &[(&str, usize)] = &[];

/// A module by its path in the crate; the crate's root has an empty one.
type Module = Vec<String>;

/// The modules of a crate, and those that each imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn folders_import_each_other_in_one_direction() {
    let files = tree::files_ending(&[".rs"]);
    let mut problems = Vec::new();
    for (folder, order) in ORDERS {
        let (krate, inside) = split(folder);
        problems.extend(against_order(folder, &inside, order, &imports_of(krate, &files)));
    }
    tree::none_of(problems);
}

#[test]
fn few_files_import_each_other_in_a_circle() {
    let files = tree::files_ending(&[".rs"]);
    let crates = crates_in(&files);
    let mut problems = Vec::new();
    for krate in &crates {
        let large = large_circles(&imports_of(krate, &files));
        let allowed = IN_LARGER_CIRCLES.iter().find(|(known, _)| known == krate).map(|(_, most)| *most);
        problems.extend(beyond(krate, &large, allowed));
    }
    let gone = IN_LARGER_CIRCLES.iter().filter(|(krate, _)| !crates.iter().any(|known| known == krate));
    problems
        .extend(gone.map(|(krate, _)| format!("{krate}: is gone; remove its row from IN_LARGER_CIRCLES")));
    tree::none_of(problems);
}

/// The `src` folders of all crates below `crates/`.
fn crates_in(files: &[tree::File]) -> BTreeSet<String> {
    let roots = files.iter().filter_map(|file| {
        let krate = file.path.strip_suffix("/lib.rs").or_else(|| file.path.strip_suffix("/main.rs"))?;
        (krate.starts_with("crates/") && krate.matches('/').count() == 2 && krate.ends_with("/src"))
            .then_some(krate)
    });
    roots.map(str::to_owned).collect()
}

/// The problems of a crate's large circles, in which this many files are allowed to be.
fn beyond(krate: &str, large: &[Vec<String>], allowed: Option<usize>) -> Vec<String> {
    let count: usize = large.iter().map(Vec::len).sum();
    match allowed {
        Some(_) if count == 0 => {
            vec![format!("{krate}: has no large circle any more; remove its row from IN_LARGER_CIRCLES")]
        }
        Some(most) if count > most => {
            vec![format!("{krate}: {count} files are in circles of more than {CIRCLE}, {most} were")]
        }
        Some(_) => Vec::new(),
        None => {
            let told = |circle: &Vec<String>| {
                format!("{krate}: {} files in a circle, {CIRCLE} may be: {}", circle.len(), circle.join(", "))
            };
            large.iter().map(told).collect()
        }
    }
}

/// A crate's `src`, and the module path of a folder in it.
fn split(folder: &str) -> (&str, Module) {
    match folder.split_once("/src/") {
        Some((krate, inside)) => {
            (&folder[..krate.len() + "/src".len()], inside.split('/').map(str::to_owned).collect())
        }
        None => (folder, Module::new()),
    }
}

/// The modules below `folder` that import what is not below them in its order.
fn against_order(folder: &str, inside: &[String], order: &[&str], imports: &Imports) -> Vec<String> {
    let entry = |module: &Module| module.strip_prefix(inside).and_then(|rest| rest.first()).cloned();
    let place = |entry: &str| order.iter().position(|name| *name == entry);
    let mut problems = BTreeSet::new();
    for (module, imported) in imports {
        let Some(own) = entry(module) else { continue };
        let Some(height) = place(&own) else {
            problems.insert(format!("{folder}/{own}: is not in the order of its folder; hint: see ORDERS"));
            continue;
        };
        for target in imported.iter().filter(|target| target.starts_with(inside)) {
            let name = module.join("::");
            match entry(target) {
                None => {
                    problems
                        .insert(format!("{folder}: {name} imports the file that holds the folder together"));
                }
                Some(theirs) if theirs != own && place(&theirs).is_none_or(|theirs| theirs > height) => {
                    let target = target.join("::");
                    problems
                        .insert(format!("{folder}: {name} imports {target}, and {theirs} is above {own}"));
                }
                Some(_) => {}
            }
        }
    }
    problems.into_iter().collect()
}

/// The circles that have more files than may be, with the names of their modules.
fn large_circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (module, reached_from(module, imports))).collect();
    let circles: BTreeSet<Vec<&Module>> = imports
        .keys()
        .map(|module| {
            reached[module].iter().filter(|other| reached[*other].contains(module)).copied().collect()
        })
        .collect();
    let large = circles.into_iter().filter(|circle| circle.len() > CIRCLE);
    large.map(|circle| circle.iter().map(|module| module.join("::")).collect()).collect()
}

/// The modules that are reached by one import or more.
fn reached_from<'a>(module: &Module, imports: &'a Imports) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Module> = imports[module].iter().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(&imports[module]);
        }
    }
    reached
}

/// The imports of a crate's modules, those that exist for tests only left out.
fn imports_of(krate: &str, files: &[tree::File]) -> Imports {
    let below = files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(krate)?.strip_prefix('/')?;
        Some((module_of(path), without_tests(&blanked(&file.text))))
    });
    let mut sources: BTreeMap<Module, String> = below.collect();
    assert!(sources.contains_key(&Module::new()), "{krate} has no root: the walk did not see it");
    let tests: BTreeSet<Module> =
        sources.keys().filter(|module| is_test(module, files, krate)).cloned().collect();
    sources.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    let known: BTreeSet<Module> = sources.keys().cloned().collect();
    sources.iter().map(|(module, source)| (module.clone(), imports_in(source, module, &known))).collect()
}

/// `a/b.rs` and `a/b/mod.rs` are both `a::b`; `lib.rs`, and `main.rs` of a crate without one, is the root.
fn module_of(path: &str) -> Module {
    let mut parts: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = |last: &str| matches!(last, "lib" | "main");
    if parts.last().is_some_and(|last| last == "mod" || (parts.len() == 1 && is_root(last))) {
        parts.pop();
    }
    parts
}

/// Whether the module's parent declares it behind `#[cfg(test)]`.
fn is_test(module: &Module, files: &[tree::File], krate: &str) -> bool {
    let Some((name, parent)) = module.split_last() else { return false };
    let parent = files.iter().find(|file| {
        let path = file.path.strip_prefix(krate).and_then(|path| path.strip_prefix('/'));
        path.is_some_and(|path| module_of(path) == parent)
    });
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    parent.is_some_and(|parent| {
        let text = words(&blanked(&parent.text)).replace("pub(crate) mod", "mod");
        text.contains(&format!("#[cfg(test)] mod {name};"))
    })
}

/// Blanked text without the items behind `#[cfg(test)]`.
fn without_tests(source: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let (mut kept, mut rest) = (String::new(), source);
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        let mut depth = 0;
        let end = rest.char_indices().find(|(_, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(c, ';' | '}')
        });
        rest = end.map_or("", |(at, _)| &rest[at + 1..]);
    }
    kept + rest
}

/// The other modules that this text imports.
fn imports_in(source: &str, module: &Module, known: &BTreeSet<Module>) -> BTreeSet<Module> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut found = BTreeSet::new();
    // Modules inside of this file that the text is in, each with how deep in braces it begins.
    let (mut depth, mut inside): (usize, Vec<(String, usize)>) = (0, Vec::new());
    let mut rest = source;
    while let Some(start) = rest.find(is_word) {
        for c in rest[..start].chars() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        inside.retain(|(_, begins)| *begins <= depth);
        let tail = &rest[start..];
        let length = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
        let (word, after) = tail.split_at(length);
        rest = after;
        if word == "use" {
            let (tree, behind) = after.split_once(';').unwrap_or((after, ""));
            unfold(Vec::new(), tree, &mut paths);
            rest = behind;
        } else if matches!(word, "crate" | "super" | "self") && after.starts_with("::") {
            let end = tail.find(|c| !is_word(c) && c != ':').unwrap_or(tail.len());
            unfold(Vec::new(), &tail[..end], &mut paths);
            rest = &tail[end..];
        } else if word == "mod" {
            let (name, behind) =
                after.trim_start().split_at(after.trim_start().find(|c| !is_word(c)).unwrap_or_default());
            if let Some(body) = behind.trim_start().strip_prefix('{') {
                depth += 1;
                inside.push((name.to_owned(), depth));
                rest = body;
            }
        }
        if !paths.is_empty() {
            let here: Module = module.iter().chain(inside.iter().map(|(name, _)| name)).cloned().collect();
            found.extend(paths.drain(..).filter_map(|path| resolved(&path, &here, known)));
        }
    }
    found.remove(module);
    found
}

/// The paths of a tree of imports, braces taken apart.
fn unfold(prefix: Vec<String>, tree: &str, paths: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut branches = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                branches.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    branches.push(&tree[start..]);
    for branch in branches.into_iter().filter(|branch| !branch.trim().is_empty()) {
        let (path, inner) = branch.split_once('{').unwrap_or((branch, ""));
        let path = path.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let whole: Vec<String> = prefix.iter().cloned().chain(names).collect();
        match inner.rsplit_once('}') {
            Some((inner, _)) => unfold(whole, inner, paths),
            None => paths.push(whole),
        }
    }
}

/// The module that a path written in `module` leads to or into; `None` for what is of another crate.
fn resolved(path: &[String], module: &Module, known: &BTreeSet<Module>) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let mut whole = match first.as_str() {
        "crate" => rest.to_vec(),
        "self" => [module.as_slice(), rest].concat(),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            [&module[..module.len().checked_sub(up)?], &path[up..]].concat()
        }
        _ => {
            let inside = [module.as_slice(), std::slice::from_ref(first)].concat();
            known.contains(&inside).then(|| [module.as_slice(), path].concat())?
        }
    };
    while !known.contains(&whole) {
        whole.pop()?;
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Imports {
        let file = |(path, text): &(&str, &str)| tree::File {
            path: format!("made/src/{path}"),
            text: (*text).to_owned(),
        };
        imports_of("made/src", &files.iter().map(file).collect::<Vec<_>>())
    }

    fn imported(imports: &Imports, module: &str) -> Vec<String> {
        let module: Module = module.split("::").map(str::to_owned).collect();
        imports[&module].iter().map(|module| module.join("::")).collect()
    }

    #[test]
    fn every_way_to_write_an_import_is_read_and_what_only_says_so_is_not() {
        let imports = crate_of(&[
            ("lib.rs", "mod a; mod b; pub use a::inner::Thing;"),
            (
                "a.rs",
                "pub mod inner; use inner::Thing as Other; use std::b; // crate::b\nconst S: &str = \"crate::b\";",
            ),
            ("a/inner.rs", "fn f() { super::super::b::g(); }\n#[cfg(test)]\nmod tests { use crate::c; }"),
            ("a/deep/mod.rs", "use super::{self, inner::{Thing, X}};\n#[cfg(test)] mod tests;"),
            ("a/deep/tests.rs", "use crate::c::d;"),
            ("b.rs", "use crate::{a::deep::Y,\n c::{d::E, *}}; impl From<crate::a::Z> for E {}"),
            ("c.rs", "use self::d::E; #[cfg(test)] fn only() { crate::a::f() } fn g() -> crate::Root {}"),
            (
                "e.rs",
                "mod inner { use super::super::b; fn f() { super::g() } } use super::c::d; #[cfg(test)] pub(crate) mod tests;",
            ),
            ("e/tests.rs", "use crate::a;"),
            ("c/d.rs", ""),
        ]);
        assert_eq!(imports[&Module::new()], BTreeSet::from([module_of("a/inner.rs")]));
        assert_eq!(imported(&imports, "a"), ["a::inner"]);
        assert_eq!(imported(&imports, "a::inner"), ["b"]);
        assert_eq!(imported(&imports, "a::deep"), ["a", "a::inner"]);
        assert_eq!(imported(&imports, "b"), ["a", "a::deep", "c", "c::d"]);
        assert_eq!(imported(&imports, "c"), ["", "c::d"]);
        assert_eq!(imported(&imports, "e"), ["b", "c::d"]);
        assert!(!imports.contains_key(&module_of("a/deep/tests.rs")));
        assert!(!imports.contains_key(&module_of("e/tests.rs")));
    }

    #[test]
    fn an_arrow_back_a_stranger_and_the_use_of_the_folder_s_own_file_are_found() {
        let check = |low: &str| {
            let imports = crate_of(&[
                ("lib.rs", "mod high; mod low; pub use high::H;"),
                ("high.rs", "use crate::low::part::P;"),
                ("low.rs", "mod part;"),
                ("low/part.rs", low),
            ]);
            against_order("made/src", &[], &["low", "high"], &imports)
        };
        assert_eq!(check("use super::L;"), [""; 0]);
        assert_eq!(check("use crate::high::H;"), ["made/src: low::part imports high, and high is above low"]);
        assert_eq!(check("fn f() { crate::high::g() }").len(), 1);
        assert_eq!(
            check("use crate::H;"),
            ["made/src: low::part imports the file that holds the folder together"]
        );
        let stranger = crate_of(&[("lib.rs", "mod odd;"), ("odd.rs", "")]);
        assert_eq!(
            against_order("made/src", &[], &["low"], &stranger),
            ["made/src/odd: is not in the order of its folder; hint: see ORDERS"]
        );
    }

    #[test]
    fn the_order_of_a_folder_inside_is_its_own() {
        let imports = crate_of(&[
            ("lib.rs", "mod top; mod out;"),
            ("top.rs", "mod a; mod b; use a::A; use b::B;"),
            ("top/a.rs", "use crate::out::O; use super::b::B;"),
            ("top/b.rs", "use super::a::A;"),
            ("out.rs", ""),
        ]);
        let (krate, inside) = split("made/src/top");
        assert_eq!((krate, inside.join("::").as_str()), ("made/src", "top"));
        let found = against_order("made/src/top", &inside, &["a", "b"], &imports);
        assert_eq!(found, ["made/src/top: top::a imports top::b, and b is above a"]);
    }

    #[test]
    fn a_circle_is_found_from_nine_files_on() {
        let ring = |count: usize| {
            let mut files = vec![("lib.rs".to_owned(), "mod m0;".to_owned())];
            files.extend(
                (0..count).map(|n| (format!("m{n}.rs"), format!("use crate::m{};", (n + 1) % count))),
            );
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            large_circles(&crate_of(&files))
        };
        assert_eq!(beyond("made/src", &ring(8), None), [""; 0]);
        assert_eq!(
            beyond("made/src", &ring(9), None),
            ["made/src: 9 files in a circle, 8 may be: m0, m1, m2, m3, m4, m5, m6, m7, m8"]
        );
        assert_eq!(beyond("made/src", &ring(9), Some(9)), [""; 0]);
        assert_eq!(
            beyond("made/src", &ring(10), Some(9)),
            ["made/src: 10 files are in circles of more than 8, 9 were"]
        );
        assert_eq!(beyond("made/src", &ring(8), Some(9)).len(), 1);
    }
}
