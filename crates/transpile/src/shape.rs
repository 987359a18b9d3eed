//! The imports and exports of a JavaScript text, and its free names, by place.

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, CallExpression, Declaration, ExportDefaultDeclarationKind, ExportSpecifier, Expression,
    ImportDeclaration, ImportDeclarationSpecifier, Program, StringLiteral, WithClause,
};
use oxc_parser::Parser;
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::node::NodeId;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// All of it.
#[derive(Default)]
pub(crate) struct Shape {
    /// Imports and exports, in order.
    pub(crate) statements: Vec<Statement>,
    /// The byte before which nothing may be put: behind a hashbang and directives.
    pub(crate) start: usize,
    pub(crate) free: Free,
    /// `require("…")` and `import("…")`.
    pub(crate) calls: Vec<Call>,
    /// Every `import.meta`.
    pub(crate) metas: Vec<Range<usize>>,
    /// Whether it awaits at its top level.
    pub(crate) awaits: bool,
    /// Whether it declares the names of CommonJS at its top: `const require = createRequire(…)`.
    pub(crate) declares_common: bool,
    /// Whether it has regular expressions among its literals.
    pub(crate) has_regexps: bool,
    /// Where each imported name is used.
    pub(crate) uses: HashMap<String, Vec<Use>>,
}

/// Names that Node gives a CommonJS module.
const COMMON: [&str; 5] = ["require", "module", "exports", "__dirname", "__filename"];

/// Names that the text uses and nowhere declares.
#[derive(Default)]
pub(crate) struct Free {
    pub(crate) require: bool,
    pub(crate) module: bool,
    pub(crate) exports: bool,
    pub(crate) dirname: bool,
    pub(crate) filename: bool,
    /// The object that the transform leaves its own functions to.
    pub(crate) helpers: bool,
}

impl Free {
    pub(crate) fn any_of_common(&self) -> bool {
        self.require || self.module || self.exports || self.dirname || self.filename
    }

    /// Whether the text may export as CommonJS does.
    pub(crate) fn gives_exports(&self) -> bool {
        self.module || self.exports
    }
}

/// An import or export.
pub(crate) enum Statement {
    /// `import … from "…"`; no names for the bare `import "…"`.
    Import { range: Range<usize>, source: Source, names: Vec<Imported> },
    /// `export { imported as exported } from "…"`.
    From { range: Range<usize>, source: Source, names: Vec<(String, String)> },
    /// `export * from "…"`, `export * as name from "…"`.
    All { range: Range<usize>, source: Source, name: Option<String> },
    /// `export { local as exported }`.
    Names { range: Range<usize>, names: Vec<(String, String)> },
    /// `export const a`, `export function a`, `export class a`: what is declared, and where the word `export` is.
    Declared { word: Range<usize>, names: Vec<String> },
    /// `export default`: the words, and the name of a function or class declared there.
    Default { words: Range<usize>, name: Option<String> },
}

/// The module that a statement imports from.
pub(crate) struct Source {
    pub(crate) specifier: String,
    /// Whether it is JSON, by its name or its attribute.
    pub(crate) json: bool,
}

/// The part of a module that an import binds to a local name.
pub(crate) struct Imported {
    /// None is the module as a whole.
    pub(crate) name: Option<String>,
    pub(crate) local: String,
}

/// `require("…")` or `import("…")`.
pub(crate) struct Call {
    pub(crate) range: Range<usize>,
    pub(crate) specifier: String,
    pub(crate) is_require: bool,
    /// Whether it stands in a `try`: the author is prepared for it to fail.
    pub(crate) guarded: bool,
}

/// A place where an imported name is used.
pub(crate) struct Use {
    pub(crate) range: Range<usize>,
    pub(crate) how: How,
}

/// The surroundings of the use of a name, as far as another expression in its place must know them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Plain,
    /// `{ name }`
    Shorthand,
    /// `name()`
    Called,
    /// `export { name }`
    Exported,
}

/// Reads a text that was just printed, or a source that parsed before: it is the caller's fault if it does not parse.
pub(crate) fn read(text: &str, kind: SourceType) -> Result<Shape, String> {
    let arena = Allocator::default();
    let parsed = Parser::new(&arena, text, kind).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(format!("the JavaScript made of it does not parse: {error}"));
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let mut shape = Shape {
        start: start(&parsed.program),
        free: free(&semantic),
        metas: parsed.module_record.import_metas.iter().copied().map(range).collect(),
        ..Shape::default()
    };
    for statement in &parsed.program.body {
        shape.statements.extend(read_statement(text, statement));
    }
    let root = semantic.scoping().get_bindings(semantic.scoping().root_scope_id());
    shape.declares_common = root.keys().any(|name| COMMON.contains(&name.as_str()));
    let locals: HashSet<&str> = shape.locals().collect();
    shape.uses = uses(&semantic, &locals);
    for node in semantic.nodes().iter() {
        match node.kind() {
            AstKind::CallExpression(call) => shape.calls.extend(require(&semantic, node.id(), call)),
            AstKind::ImportExpression(import) => {
                if let Expression::StringLiteral(literal) = &import.source {
                    shape.calls.push(call(&semantic, node.id(), import.span, literal, false));
                }
            }
            AstKind::RegExpLiteral(_) => shape.has_regexps = true,
            AstKind::AwaitExpression(_) => shape.awaits |= is_at_top(&semantic, node.id()),
            AstKind::ForOfStatement(each) if each.r#await => shape.awaits |= is_at_top(&semantic, node.id()),
            AstKind::VariableDeclaration(variables) if variables.kind.is_await() => {
                shape.awaits |= is_at_top(&semantic, node.id());
            }
            _ => {}
        }
    }
    Ok(shape)
}

impl Shape {
    /// Whether only a module can have this syntax; a lone `export {}` is what is left of a file of types.
    pub(crate) fn needs_module(&self) -> bool {
        let says_something =
            |statement: &Statement| !matches!(statement, Statement::Names { names, .. } if names.is_empty());
        self.awaits || !self.metas.is_empty() || self.statements.iter().any(says_something)
    }

    /// Names that imports bind.
    fn locals(&self) -> impl Iterator<Item = &str> {
        let names = self.statements.iter().filter_map(|statement| match statement {
            Statement::Import { names, .. } => Some(names),
            _ => None,
        });
        names.flatten().map(|imported| imported.local.as_str())
    }

    /// The modules named, each once, in order: statements, then calls.
    pub(crate) fn specifiers(&self) -> Vec<&str> {
        let statements = self.statements.iter().filter_map(|statement| statement.source());
        let mut seen = HashSet::new();
        let all = statements
            .map(|source| source.specifier.as_str())
            .chain(self.calls.iter().map(|call| call.specifier.as_str()));
        all.filter(|specifier| seen.insert(*specifier)).collect()
    }
}

impl Statement {
    /// The module it imports from, if it does.
    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            Self::Import { source, .. } | Self::From { source, .. } | Self::All { source, .. } => {
                Some(source)
            }
            Self::Names { .. } | Self::Declared { .. } | Self::Default { .. } => None,
        }
    }
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn start(program: &Program<'_>) -> usize {
    let hashbang = program.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end as usize);
    let directive = program.directives.last().map_or(0, |directive| directive.span.end as usize);
    let end = hashbang.max(directive);
    // A hashbang is a comment to the end of its line.
    let is_line = hashbang == end && end > 0;
    if is_line { (end + 1).min(program.source_text.len()) } else { end }
}

fn free(semantic: &Semantic<'_>) -> Free {
    let unresolved = semantic.scoping().root_unresolved_references();
    let has = |name: &str| unresolved.keys().any(|key| key.as_str() == name);
    Free {
        require: has("require"),
        module: has("module"),
        exports: has("exports"),
        dirname: has("__dirname"),
        filename: has("__filename"),
        helpers: has("babelHelpers"),
    }
}

fn read_statement(text: &str, statement: &oxc_ast::ast::Statement<'_>) -> Option<Statement> {
    use oxc_ast::ast::Statement as Node;
    let whole = range(statement.span());
    Some(match statement {
        Node::ImportDeclaration(import) => Statement::Import {
            range: whole,
            source: source(&import.source, import.with_clause.as_deref()),
            names: imported(import),
        },
        Node::ExportFromDeclaration(export) => Statement::From {
            range: whole,
            source: source(&export.source, export.with_clause.as_deref()),
            names: exported(&export.specifiers),
        },
        Node::ExportAllDeclaration(export) => Statement::All {
            range: whole,
            source: source(&export.source, export.with_clause.as_deref()),
            name: export.exported.as_ref().map(|name| name.name().to_string()),
        },
        Node::ExportNamedDeclaration(export) => {
            Statement::Names { range: whole, names: exported(&export.specifiers) }
        }
        Node::ExportDeclaration(export) => Statement::Declared {
            word: whole.start..whole.start + "export".len(),
            names: declared(&export.declaration),
        },
        Node::ExportDefaultDeclaration(export) => {
            let words = text[whole.clone()].find("default").map_or(0, |at| at + "default".len());
            let name = match &export.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
                ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
                _ => None,
            };
            Statement::Default {
                words: whole.start..whole.start + words,
                name: name.map(|name| name.name.to_string()),
            }
        }
        _ => return None,
    })
}

fn source(literal: &StringLiteral<'_>, attributes: Option<&WithClause<'_>>) -> Source {
    let specifier = literal.value.to_string();
    let mut entries = attributes.iter().flat_map(|clause| clause.with_entries.iter());
    let json = specifier.ends_with(".json") || entries.any(|entry| entry.value.value == "json");
    Source { specifier, json }
}

fn imported(import: &ImportDeclaration<'_>) -> Vec<Imported> {
    let specifiers = import.specifiers.iter().flatten().map(|specifier| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(one) => {
            Imported { name: Some(one.imported.name().to_string()), local: one.local.name.to_string() }
        }
        ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
            Imported { name: Some("default".into()), local: one.local.name.to_string() }
        }
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
            Imported { name: None, local: one.local.name.to_string() }
        }
    });
    specifiers.collect()
}

fn exported(specifiers: &[ExportSpecifier<'_>]) -> Vec<(String, String)> {
    specifiers.iter().map(|one| (one.local.name().to_string(), one.exported.name().to_string())).collect()
}

fn declared(declaration: &Declaration<'_>) -> Vec<String> {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            let patterns = variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers());
            patterns.map(|name| name.name.to_string()).collect()
        }
        Declaration::FunctionDeclaration(function) => {
            function.id.iter().map(|id| id.name.to_string()).collect()
        }
        Declaration::ClassDeclaration(class) => class.id.iter().map(|id| id.name.to_string()).collect(),
        _ => Vec::new(),
    }
}

fn uses(semantic: &Semantic<'_>, locals: &HashSet<&str>) -> HashMap<String, Vec<Use>> {
    let scoping = semantic.scoping();
    let mut uses = HashMap::new();
    for symbol in scoping.symbol_ids() {
        let name = scoping.symbol_name(symbol);
        if scoping.symbol_scope_id(symbol) != scoping.root_scope_id() || !locals.contains(name) {
            continue;
        }
        let references = semantic.symbol_references(symbol).map(|reference| {
            let span = semantic.reference_span(reference);
            Use { range: range(span), how: how(semantic, reference.node_id(), span) }
        });
        uses.insert(name.to_owned(), references.collect());
    }
    uses
}

fn how(semantic: &Semantic<'_>, node: NodeId, span: Span) -> How {
    match semantic.nodes().parent_kind(node) {
        AstKind::ExportSpecifier(_) => How::Exported,
        AstKind::ObjectProperty(property) if property.shorthand => How::Shorthand,
        AstKind::CallExpression(call) if call.callee.span() == span => How::Called,
        AstKind::TaggedTemplateExpression(tagged) if tagged.tag.span() == span => How::Called,
        _ => How::Plain,
    }
}

fn require(semantic: &Semantic<'_>, node: NodeId, expression: &CallExpression<'_>) -> Option<Call> {
    let Expression::Identifier(callee) = &expression.callee else { return None };
    let Some(Argument::StringLiteral(literal)) = expression.arguments.first() else { return None };
    let is_nodes = callee.name == "require" && semantic.is_reference_to_global_variable(callee);
    is_nodes.then(|| call(semantic, node, expression.span, literal, true))
}

fn call(
    semantic: &Semantic<'_>,
    node: NodeId,
    span: Span,
    literal: &StringLiteral<'_>,
    is_require: bool,
) -> Call {
    let guarded = semantic.nodes().ancestor_kinds(node).any(|kind| matches!(kind, AstKind::TryStatement(_)));
    Call { range: range(span), specifier: literal.value.to_string(), is_require, guarded }
}

fn is_at_top(semantic: &Semantic<'_>, node: NodeId) -> bool {
    let mut around = semantic.nodes().ancestor_kinds(node);
    !around.any(|kind| matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)))
}
