//! CommonJS: kept where it is such, and what an ECMAScript module becomes when someone `require`s it.
//!
//! Imports become `require`s at the top, in their order; each use of an imported name becomes a look into the module it
//! came from, so that bindings stay live and cycles work as far as they did.

use super::{Around, Dynamic, ImportFault, Target, is_plain, quoted, rules, runtime};
use crate::draft::Draft;
use crate::edit::Edits;
use crate::resolve;
use crate::shape::{How, Imported, Source, Statement};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// CommonJS as it was written; what may be left of an `export {}` goes.
pub(super) fn keep(draft: &Draft, around: &dyn Around) -> String {
    let mut edits = Edits::default();
    for statement in &draft.shape.statements {
        if let Statement::Names { range, .. } = statement {
            edits.replace(range.clone(), "");
        }
    }
    let calls = Dynamic::rewrite(draft, around, &mut edits, "require");
    edits.replace(draft.shape.start..draft.shape.start, called(draft, around, &calls));
    edits.apply(&draft.text)
}

/// The functions that the text calls now, apart from those of a module made CommonJS.
fn called(draft: &Draft, around: &dyn Around, calls: &Dynamic) -> String {
    let mut text = String::new();
    if draft.shape.free.helpers {
        text.push_str(&super::helpers());
        text.push(' ');
    }
    if calls.wide {
        text.push_str(&rules(around));
        text.push_str(&runtime::one_line(runtime::WIDE));
        text.push(' ');
    }
    text
}

/// A module on its way to CommonJS.
struct Lowered<'a> {
    around: &'a dyn Around,
    edits: Edits,
    /// `require`s and what follows from them, in order.
    required: String,
    modules: usize,
    /// The expression for each imported name.
    values: HashMap<String, String>,
    /// Exported names and what stands for them.
    exports: Vec<(String, String)>,
}

pub(super) fn lower(
    draft: &Draft,
    around: &dyn Around,
    missing: &HashSet<String>,
) -> Result<String, Vec<ImportFault>> {
    let mut lowered = Lowered {
        around,
        edits: Edits::default(),
        required: String::new(),
        modules: 0,
        values: HashMap::new(),
        exports: Vec::new(),
    };
    for statement in &draft.shape.statements {
        lowered.import(statement);
    }
    for statement in &draft.shape.statements {
        lowered.export(statement, missing);
    }
    lowered.uses(draft);
    for meta in &draft.shape.metas {
        lowered.edits.replace(meta.clone(), "__sonagi_meta");
    }
    let calls = Dynamic::rewrite(draft, around, &mut lowered.edits, "__sonagi_require");
    let front = lowered.front(draft, &calls);
    let start = draft.shape.start;
    lowered.edits.replace(start..start, front);
    let mut code = lowered.edits.apply(&draft.text);
    if draft.shape.declares_common {
        code.push_str("\n}\n");
    }
    code.push_str(&for_nodes_lexer(&lowered.exports));
    Ok(code)
}

impl Lowered<'_> {
    fn import(&mut self, statement: &Statement) {
        match statement {
            Statement::Import { range, source, names } => {
                self.edits.replace(range.clone(), "");
                let Some(whole) = self.require(source, names.is_empty()) else { return };
                for Imported { name, local } in names {
                    let value = self.value(&whole, name.as_deref(), source);
                    self.values.insert(local.clone(), value);
                }
            }
            Statement::From { range, source, names } => {
                self.edits.replace(range.clone(), "");
                let Some(whole) = self.require(source, names.is_empty()) else { return };
                for (name, exported) in
                    names.iter().filter(|(name, _)| self.around.gives(&source.specifier, name))
                {
                    let value = self.value(&whole, Some(name), source);
                    self.exports.push((exported.clone(), value));
                }
            }
            Statement::All { range, source, name } => {
                self.edits.replace(range.clone(), "");
                let Some(whole) = self.require(source, false) else { return };
                match name {
                    Some(name) => {
                        let value = self.value(&whole, None, source);
                        self.exports.push((name.clone(), value));
                    }
                    None => {
                        let _ = write!(self.required, "__sonagi_star(__sonagi_given.exports, {whole}); ");
                    }
                }
            }
            Statement::Names { .. } | Statement::Declared { .. } | Statement::Default { .. } => {}
        }
    }

    fn export(&mut self, statement: &Statement, missing: &HashSet<String>) {
        match statement {
            Statement::Names { range, names } => {
                self.edits.replace(range.clone(), "");
                for (local, exported) in names.iter().filter(|(local, _)| !missing.contains(local)) {
                    let value = self.values.get(local).unwrap_or(local).clone();
                    self.exports.push((exported.clone(), value));
                }
            }
            Statement::Declared { word, names } => {
                self.edits.replace(word.clone(), "");
                self.exports.extend(names.iter().map(|name| (name.clone(), name.clone())));
            }
            Statement::Default { words, name: Some(name) } => {
                self.edits.replace(words.clone(), "");
                self.exports.push(("default".into(), name.clone()));
            }
            Statement::Default { words, name: None } => {
                self.edits.replace(words.clone(), "const __sonagi_value =");
                self.exports.push(("default".into(), "__sonagi_value".into()));
            }
            Statement::Import { .. } | Statement::From { .. } | Statement::All { .. } => {}
        }
    }

    /// Requires a module, and gives the name it has then, unless it is only to run.
    fn require(&mut self, source: &Source, only_run: bool) -> Option<String> {
        let path = match self.around.target(&source.specifier, source.json) {
            Target::Json(path) => path,
            Target::Native | Target::Lenient => source.specifier.clone(),
        };
        if only_run {
            let _ = write!(self.required, "__sonagi_require({}); ", quoted(&path));
            return None;
        }
        self.modules += 1;
        let whole = format!("__sonagi_{}", self.modules);
        let _ = write!(self.required, "const {whole} = __sonagi_require({}); ", quoted(&path));
        Some(whole)
    }

    /// The expression for the name `name` (None: all) of a required module.
    fn value(&mut self, whole: &str, name: Option<&str>, source: &Source) -> String {
        match name {
            None => {
                let _ = write!(self.required, "const {whole}_whole = __sonagi_whole({whole}); ");
                format!("{whole}_whole")
            }
            Some("default") if self.around.node_rules() && !resolve::is_path(&source.specifier) => {
                format!("__sonagi_own_default_of({whole})")
            }
            Some("default") => format!("__sonagi_default_of({whole})"),
            Some(name) => format!("{whole}[{}]", quoted(name)),
        }
    }

    fn uses(&mut self, draft: &Draft) {
        for (local, uses) in &draft.shape.uses {
            let Some(value) = self.values.get(local) else { continue };
            for one in uses {
                let with = match one.how {
                    How::Exported => continue,
                    How::Plain => value.clone(),
                    How::Shorthand => format!("{local}: {value}"),
                    How::Called => format!("(0, {value})"),
                };
                self.edits.replace(one.range.clone(), with);
            }
        }
    }

    fn front(&self, draft: &Draft, calls: &Dynamic) -> String {
        let mut front = String::from(
            "\"use strict\"; const __sonagi_require = require; \
             const __sonagi_given = { exports, filename: __filename, dirname: __dirname }; ",
        );
        if draft.shape.declares_common {
            // In a block of its own, what the text declares so is not declared twice.
            front.push_str("{ ");
        }
        for function in [runtime::EXPORTS, runtime::REQUIRED] {
            front.push_str(&runtime::one_line(function));
            front.push(' ');
        }
        front.push_str(&called(draft, self.around, calls));
        if !draft.shape.metas.is_empty() {
            front.push_str(
                "const __sonagi_meta = { filename: __sonagi_given.filename, dirname: __sonagi_given.dirname, \
                 url: __sonagi_require(\"node:url\").pathToFileURL(__sonagi_given.filename).href }; ",
            );
        }
        let getters = self.exports.iter().map(|(name, value)| format!("{}: () => {value}", quoted(name)));
        let getters = getters.collect::<Vec<_>>().join(", ");
        let _ = write!(front, "__sonagi_exports(__sonagi_given.exports, {{ {getters} }}); ");
        front.push_str(&self.required);
        front
    }
}

/// A statement never run, from which Node's lexer learns the names that an `import` of this file may ask for.
fn for_nodes_lexer(exports: &[(String, String)]) -> String {
    let names =
        exports.iter().map(|(name, _)| name.as_str()).filter(|name| is_plain(name) && *name != "default");
    let names: Vec<_> = names.map(|name| format!("{name}: 0")).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("\n0 && (module.exports = {{ {} }});\n", names.join(", "))
    }
}
