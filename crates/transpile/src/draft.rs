//! A source made plain JavaScript: types gone, TypeScript's and JSX's own constructs written out; imports still as they
//! were.

use crate::link::ImportFault;
use crate::place::{fault, place};
use crate::shape::{self, Shape};
use crate::{Fault, Format, Import, Module, Places, Plain, link, package};
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression, ImportDeclarationSpecifier, Program, StringLiteral};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::Parser;
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_transformer::{HelperLoaderMode, JsxRuntime, TransformOptions, Transformer};
use std::path::Path;

/// The oldest Node we run processors in; newer syntax is written out for it.
const TARGET: &str = "node18";

/// A module between its source and its code.
pub(crate) struct Draft {
    /// JavaScript.
    pub(crate) text: String,
    /// The comment that ends the code, where the text's lines are not the source's.
    map: String,
    /// The same for who asks here.
    pub(crate) places: Places,
    pub(crate) shape: Shape,
    /// The names of the source, without imports of types.
    named: Vec<Named>,
    pub(crate) typescript: bool,
}

/// A module the source names, or a name it takes from there, and at which byte.
struct Named {
    specifier: String,
    name: Option<String>,
    offset: usize,
}

/// A source that is wrong.
pub(crate) struct Broken {
    pub(crate) faults: Vec<Fault>,
    /// Its imports, as far as they could be understood: there may be more wrong there.
    pub(crate) named: Vec<String>,
}

/// Parses and transforms.
pub(crate) fn draft(path: &Path, source: &str) -> Result<Draft, Broken> {
    let [first, second] = source_types(extension(path));
    // The faults of a script are those of the module it was likely meant to be.
    attempt(path, source, first).or_else(|broken| attempt(path, source, second).map_err(|_| broken))
}

pub(crate) fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Whether Node's own rules for CommonJS defaults hold in this file, as in bundlers: it is a module by its name or by
/// its package, not only by its syntax.
pub(crate) fn has_node_rules(path: &Path) -> bool {
    match extension(path) {
        "mts" | "mjs" => true,
        "cts" | "cjs" => false,
        _ => package::is_module(path),
    }
}

/// The types a text may have, most likely first: a module, else a sloppy script with `return` at its top.
fn source_types(extension: &str) -> [SourceType; 2] {
    match extension {
        "ts" | "mts" | "cts" => [SourceType::ts(), SourceType::ts().with_commonjs(true)],
        "tsx" => [SourceType::tsx(), SourceType::tsx().with_commonjs(true)],
        "jsx" => [SourceType::jsx(), SourceType::jsx().with_commonjs(true)],
        _ => [SourceType::mjs(), SourceType::cjs()],
    }
}

fn attempt(path: &Path, source: &str, kind: SourceType) -> Result<Draft, Broken> {
    let arena = Allocator::default();
    let parsed = Parser::new(&arena, source, kind).parse();
    let requested = parsed.module_record.requested_modules;
    let values = requested.iter().filter(|(_, places)| places.iter().any(|place| !place.is_type));
    let broken =
        |faults| Broken { faults, named: values.clone().map(|(name, _)| name.to_string()).collect() };
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return Err(broken(faults(source, parsed.diagnostics)));
    }
    let mut program = parsed.program;
    let built = SemanticBuilder::new_compiler().with_build_nodes(true).build(&program);
    if built.diagnostics.has_errors() {
        return Err(broken(faults(source, built.diagnostics)));
    }
    let named = named(&built.semantic);
    let as_it_stands = kind.is_javascript() && !kind.is_jsx();
    let (text, map, places) = if as_it_stands {
        (source.to_owned(), String::new(), Places::default())
    } else {
        transform(&arena, path, source, &mut program).map_err(&broken)?;
        print(path, &program)
    };
    let kind = if kind.is_commonjs() { SourceType::cjs() } else { SourceType::mjs() };
    let shape = shape::read(&text, kind).map_err(|what| broken(vec![fault(source, 0, what)]))?;
    Ok(Draft { text, map, places, shape, named, typescript: kind_is_typescript(path) })
}

fn kind_is_typescript(path: &Path) -> bool {
    matches!(extension(path), "ts" | "tsx" | "mts" | "cts")
}

fn transform<'a>(
    arena: &'a Allocator,
    path: &Path,
    source: &str,
    program: &mut Program<'a>,
) -> Result<(), Vec<Fault>> {
    let scoping =
        SemanticBuilder::new_compiler().with_enum_eval(true).with_excess_capacity(2.0).build(program);
    let mut options = TransformOptions::from_target(TARGET).expect("a target that oxc knows");
    options.helper_loader.mode = HelperLoaderMode::External;
    options.decorator.legacy = true;
    options.jsx.runtime = JsxRuntime::Classic;
    let done =
        Transformer::new(arena, path, &options).build_with_scoping(scoping.semantic.into_scoping(), program);
    if done.diagnostics.has_errors() { Err(faults(source, done.diagnostics)) } else { Ok(()) }
}

/// The text, ending in a newline, its source map as a comment, and its places. The source itself is left out of the
/// map: it is on disk.
fn print(path: &Path, program: &Program<'_>) -> (String, String, Places) {
    let options = CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(program);
    let Some(mut map) = printed.map else { return (printed.code, String::new(), Places::default()) };
    map.set_source_contents(vec![None]);
    let places = map.get_tokens().map(|token| {
        ((token.get_dst_line(), token.get_dst_col()), (token.get_src_line(), token.get_src_col()))
    });
    let places = Places::new(places.collect());
    (printed.code, format!("//# sourceMappingURL={}\n", map.to_data_url()), places)
}

fn faults(source: &str, diagnostics: Diagnostics) -> Vec<Fault> {
    let mut faults: Vec<Fault> = diagnostics.errors().map(|error| one_fault(source, error)).collect();
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults.dedup();
    faults
}

fn one_fault(source: &str, error: &OxcDiagnostic) -> Fault {
    let offset = error.labels.first().map_or(0, |label| label.offset() as usize);
    let mut what = String::new();
    let mut letters = error.message.chars();
    if let Some(first) = letters.next() {
        let is_word = letters.clone().next().is_some_and(char::is_lowercase);
        what.extend(if is_word { first.to_lowercase().next() } else { Some(first) });
        what.extend(letters);
    }
    if let Some(help) = &error.help {
        what.push_str("; ");
        what.push_str(help);
    }
    fault(source, offset, what)
}

/// Every specifier the source names outside of types' imports, in its order, and the names it takes by them.
fn named(semantic: &Semantic<'_>) -> Vec<Named> {
    let mut named = Vec::new();
    let mut say = |literal: &StringLiteral<'_>, name: Option<String>, span: Span| {
        named.push(Named { specifier: literal.value.to_string(), name, offset: span.start as usize });
    };
    for node in semantic.nodes().iter() {
        let literal = match node.kind() {
            AstKind::ImportDeclaration(import) if import.import_kind.is_value() => {
                for specifier in import.specifiers.iter().flatten() {
                    let name = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(one) => one.imported.name().to_string(),
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => "default".to_owned(),
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => continue,
                    };
                    say(&import.source, Some(name), specifier.span());
                }
                &import.source
            }
            AstKind::ExportFromDeclaration(export) if export.export_kind.is_value() => {
                for one in &export.specifiers {
                    say(&export.source, Some(one.local.name().to_string()), one.span);
                }
                &export.source
            }
            AstKind::ExportAllDeclaration(export) if export.export_kind.is_value() => &export.source,
            AstKind::TSExternalModuleReference(reference) => &reference.expression,
            AstKind::ImportExpression(import) => match &import.source {
                Expression::StringLiteral(literal) => literal,
                _ => continue,
            },
            AstKind::CallExpression(call) => match (&call.callee, call.arguments.first()) {
                (Expression::Identifier(callee), Some(Argument::StringLiteral(literal)))
                    if callee.name == "require" =>
                {
                    literal
                }
                _ => continue,
            },
            _ => continue,
        };
        say(literal, None, literal.span);
    }
    named
}

impl Draft {
    /// The module's format by its name, else by its syntax, else by its package.
    pub(crate) fn format(&self, path: &Path) -> Format {
        let free = &self.shape.free;
        let is_module = match extension(path) {
            "mts" | "mjs" => true,
            "cts" | "cjs" => false,
            _ if self.shape.needs_module() => true,
            _ if free.any_of_common() => false,
            _ => !self.shape.statements.is_empty() || package::is_module(path),
        };
        if is_module { Format::Esm } else { Format::CommonJs }
    }

    /// Line and column where the source names `specifier` first; the top where it does not (a transform brought it).
    pub(crate) fn place(&self, source: &str, specifier: &str) -> (usize, usize) {
        self.place_of(source, specifier, None)
    }

    fn place_of(&self, source: &str, specifier: &str, name: Option<&str>) -> (usize, usize) {
        let found = self.named.iter().find(|one| one.specifier == specifier && one.name.as_deref() == name);
        place(source, found.map_or(0, |one| one.offset))
    }

    /// Faults of imports, at the places of the imports.
    pub(crate) fn at_imports(&self, source: &str, faults: Vec<ImportFault>) -> Vec<Fault> {
        let mut placed: Vec<Fault> = faults
            .into_iter()
            .map(|ImportFault { specifier, name, what }| {
                let (line, column) = self.place_of(source, &specifier, name.as_deref());
                Fault { line, column, what }
            })
            .collect();
        placed.sort_by_key(|fault| (fault.line, fault.column));
        placed
    }

    /// The text with the helpers it calls in front of it: no line moves.
    pub(crate) fn plain(self) -> Plain {
        let Draft { text, mut places, shape, named, .. } = self;
        let is_module = shape.awaits || !shape.statements.is_empty() || !shape.metas.is_empty();
        let helpers = if shape.free.helpers { link::helpers() } else { String::new() };
        places.push_right(helpers.len() as u32);
        let names = named.into_iter().filter_map(|one| Some((one.specifier, one.name?))).collect();
        let (awaits, has_regexps) = (shape.awaits, shape.has_regexps);
        Plain { is_module, awaits, has_regexps, names, code: helpers + &text, places }
    }

    /// The finished module.
    pub(crate) fn module(&self, source: &str, mut code: String, format: Format) -> Module {
        if !self.map.is_empty() {
            if !code.ends_with('\n') {
                code.push('\n');
            }
            code.push_str(&self.map);
        }
        let imports = self.shape.specifiers().into_iter().map(|specifier| {
            let (line, column) = self.place(source, specifier);
            Import { specifier: specifier.to_owned(), line, column }
        });
        Module { code, format, imports: imports.collect() }
    }
}
