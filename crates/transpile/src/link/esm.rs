//! ECMAScript modules: they stay such.

use super::{Around, Dynamic, ImportFault, Target, clause_name, quoted, renamed, rules, runtime};
use crate::draft::Draft;
use crate::edit::Edits;
use crate::shape::{Imported, Source, Statement};
use std::collections::HashSet;
use std::fmt::Write;

/// The lines put in front, as they grow.
#[derive(Default)]
struct Front {
    pick: bool,
    default: bool,
    wide: bool,
    require: bool,
    /// Declarations of what is looked up, in order.
    found: String,
    /// How many modules have been named.
    modules: usize,
}

impl Front {
    /// A name for a module imported whole.
    fn name(&mut self) -> String {
        self.modules += 1;
        format!("__sonagi_{}", self.modules)
    }

    /// Declares `local` as the name `name` (None: all) of the module `whole`, which came from `source`.
    fn find(&mut self, local: &str, name: Option<&str>, whole: &str, source: &Source, is_json: bool) {
        let value = match (name, is_json) {
            (None, true) => format!("{{ ...{whole}, default: {whole} }}"),
            (Some("default"), true) => whole.to_owned(),
            (Some(name), true) => format!("{whole}[{}]", quoted(name)),
            (None, false) => {
                self.wide = true;
                format!("__sonagi_wide({whole})")
            }
            (Some("default"), false) => {
                self.default = true;
                format!("__sonagi_default({whole}, {})", quoted(&source.specifier))
            }
            (Some(name), false) => {
                self.pick = true;
                format!("__sonagi_pick({whole}, {})", quoted(name))
            }
        };
        let _ = write!(self.found, "const {local} = {value}; ");
    }

    /// The statement that brings `source` under the name `whole`, here or, for JSON, in front.
    fn bring(&mut self, source: &Source, target: &Target, whole: &str) -> String {
        if let Target::Json(path) = target {
            self.require = true;
            let _ = write!(self.found, "const {whole} = __sonagi_require({}); ", quoted(path));
            return String::new();
        }
        format!("import * as {whole} from {};", quoted(&source.specifier))
    }
}

pub(super) fn link(
    draft: &Draft,
    around: &dyn Around,
    missing: &HashSet<String>,
) -> Result<String, Vec<ImportFault>> {
    let (mut edits, mut front, mut faults) = (Edits::default(), Front::default(), Vec::new());
    for statement in &draft.shape.statements {
        match statement {
            Statement::Import { range, source, names } => {
                if let Some(with) = import(&mut front, around, missing, source, names) {
                    edits.replace(range.clone(), with);
                }
            }
            Statement::From { range, source, names } => {
                if let Some(with) = export_from(&mut front, around, source, names) {
                    edits.replace(range.clone(), with);
                }
            }
            Statement::All { range, source, name } => {
                match (around.target(&source.specifier, source.json), name) {
                    (Target::Native, _) | (Target::Lenient, None) => {}
                    (Target::Json(_), None) => {
                        let what = "JSON's names cannot all be exported; import it".to_owned();
                        faults.push(ImportFault { specifier: source.specifier.clone(), name: None, what });
                    }
                    (target, Some(name)) => {
                        let (whole, local) = (front.name(), front.name());
                        let brought = front.bring(source, &target, &whole);
                        front.find(&local, None, &whole, source, matches!(target, Target::Json(_)));
                        edits.replace(
                            range.clone(),
                            format!("{brought} export {{ {} }};", renamed(&local, name)),
                        );
                    }
                }
            }
            Statement::Names { range, names } if names.iter().any(|(local, _)| missing.contains(local)) => {
                let kept = names.iter().filter(|(local, _)| !missing.contains(local));
                let kept: Vec<_> = kept.map(|(local, exported)| renamed(local, exported)).collect();
                edits.replace(range.clone(), format!("export {{ {} }};", kept.join(", ")));
            }
            Statement::Names { .. } | Statement::Declared { .. } | Statement::Default { .. } => {}
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let calls = Dynamic::rewrite(draft, around, &mut edits, "__sonagi_require");
    front.require |= calls.require;
    front.wide |= calls.wide;
    let start = draft.shape.start;
    edits.replace(start..start, front.text(draft, around));
    let mut code = edits.apply(&draft.text);
    if gives_module_exports(draft) {
        code.push_str("\nexport default module.exports;\n");
    }
    Ok(code)
}

/// The replacement of an import; None when it stays.
fn import(
    front: &mut Front,
    around: &dyn Around,
    missing: &HashSet<String>,
    source: &Source,
    names: &[Imported],
) -> Option<String> {
    let target = around.target(&source.specifier, source.json);
    match target {
        Target::Native if !names.iter().any(|one| missing.contains(&one.local)) => None,
        Target::Native => {
            let kept = names.iter().filter(|one| !missing.contains(&one.local));
            Some(clause(&kept.collect::<Vec<_>>(), &source.specifier))
        }
        Target::Lenient if names.is_empty() => None,
        Target::Lenient | Target::Json(_) => {
            let whole = front.name();
            let brought = front.bring(source, &target, &whole);
            for Imported { name, local } in names {
                front.find(local, name.as_deref(), &whole, source, matches!(target, Target::Json(_)));
            }
            Some(brought)
        }
    }
}

/// The replacement of `export { … } from "…"`; None when it stays.
fn export_from(
    front: &mut Front,
    around: &dyn Around,
    source: &Source,
    names: &[(String, String)],
) -> Option<String> {
    let target = around.target(&source.specifier, source.json);
    if let Target::Native = target {
        let kept: Vec<_> = names.iter().filter(|(name, _)| around.gives(&source.specifier, name)).collect();
        let clauses: Vec<_> = kept.iter().map(|(name, exported)| renamed(name, exported)).collect();
        let changed = format!("export {{ {} }} from {};", clauses.join(", "), quoted(&source.specifier));
        return (kept.len() < names.len()).then_some(changed);
    }
    let whole = front.name();
    let mut with = front.bring(source, &target, &whole);
    for (name, exported) in names {
        let local = front.name();
        front.find(&local, Some(name), &whole, source, matches!(target, Target::Json(_)));
        let _ = write!(with, " export {{ {local} as {} }};", clause_name(exported));
    }
    Some(with)
}

/// An import declaration of these names.
fn clause(names: &[&Imported], specifier: &str) -> String {
    let mut parts = Vec::new();
    let mut named = Vec::new();
    for Imported { name, local } in names {
        match name.as_deref() {
            None => parts.push(format!("* as {local}")),
            Some(name) => named.push(renamed(name, local)),
        }
    }
    if !named.is_empty() {
        parts.push(format!("{{ {} }}", named.join(", ")));
    }
    let from = if parts.is_empty() { "" } else { " from" };
    format!("import {}{from} {};", parts.join(", "), quoted(specifier))
}

/// Whether what the file puts on `module.exports` must be handed on as its default.
fn gives_module_exports(draft: &Draft) -> bool {
    let is_default = |(_, exported): &(String, String)| exported == "default";
    let has_default = draft.shape.statements.iter().any(|statement| match statement {
        Statement::Default { .. } => true,
        Statement::From { names, .. } | Statement::Names { names, .. } => names.iter().any(is_default),
        Statement::All { name, .. } => name.as_deref() == Some("default"),
        Statement::Import { .. } | Statement::Declared { .. } => false,
    });
    draft.shape.free.gives_exports() && !has_default
}

impl Front {
    fn text(&self, draft: &Draft, around: &dyn Around) -> String {
        let free = &draft.shape.free;
        let mut text = String::new();
        let mut say = |needed: bool, what: &str| {
            if needed {
                text.push_str(what);
                text.push(' ');
            }
        };
        let require = self.require || free.require;
        let filename = free.filename || free.dirname || free.gives_exports();
        say(require, "import { createRequire as __sonagi_create } from \"node:module\";");
        say(filename, "import { fileURLToPath as __sonagi_path } from \"node:url\";");
        say(free.dirname, "import { dirname as __sonagi_folder } from \"node:path\";");
        say(require, "const __sonagi_require = __sonagi_create(import.meta.url);");
        say(free.require, "const require = __sonagi_require;");
        say(filename, "const __sonagi_file = __sonagi_path(import.meta.url);");
        say(free.filename, "const __filename = __sonagi_file;");
        say(free.dirname, "const __dirname = __sonagi_folder(__sonagi_file);");
        say(
            free.gives_exports(),
            "const module = { exports: {}, id: __sonagi_file, filename: __sonagi_file, loaded: false };",
        );
        say(free.exports, "let exports = module.exports;");
        say(self.default || self.wide, &rules(around));
        for (needed, function) in [
            (free.helpers, runtime::HELPERS),
            (self.pick, runtime::PICK),
            (self.default, runtime::DEFAULT),
            (self.wide, runtime::WIDE),
        ] {
            say(needed, &runtime::one_line(function));
        }
        text.push_str(&self.found);
        text
    }
}
