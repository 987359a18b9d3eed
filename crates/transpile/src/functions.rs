//! Where functions stand in a text, for an engine that keeps no text of them.

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{ClassElement, MethodDefinition, MethodDefinitionKind, PropertyKind};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::{SourceType, Span};
use std::collections::HashMap;
use std::ops::Range;

/// The text of each function and class of a JavaScript source, by the line and column where QuickJS has it begin, from
/// 1: a class at its constructor or, where it has none, at its end; its getters and setters at their names.
#[must_use]
pub fn functions(code: &str, is_module: bool) -> HashMap<(usize, usize), Range<usize>> {
    let arena = Allocator::default();
    let kind = if is_module { SourceType::mjs() } else { SourceType::cjs() };
    let program = Parser::new(&arena, code, kind).parse().program;
    let built = SemanticBuilder::new_compiler().with_build_nodes(true).build(&program);
    let mut begun = Vec::new();
    let mut add = |start: u32, text: Span| begun.push((start, text));
    for node in built.semantic.nodes().iter() {
        match node.kind() {
            AstKind::Function(function) => add(function.span.start, function.span),
            AstKind::ArrowFunctionExpression(arrow) => add(arrow.span.start, arrow.span),
            AstKind::ObjectProperty(property) if property.method || property.kind != PropertyKind::Init => {
                add(property.span.start, property.span);
            }
            AstKind::Class(class) => {
                add(class.span.end - 1, class.span);
                for element in &class.body.body {
                    let ClassElement::MethodDefinition(method) = element else { continue };
                    let start = behind_static(code, method);
                    let text = Span::new(start, method.span.end);
                    match method.kind {
                        MethodDefinitionKind::Constructor => add(start, class.span),
                        MethodDefinitionKind::Method => add(start, text),
                        MethodDefinitionKind::Get | MethodDefinitionKind::Set => {
                            let behind = &code[start as usize + "get".len()..text.end as usize];
                            add(text.end - behind.trim_start().len() as u32, text);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    by_place(code, begun)
}

/// Texts by the line and column of their byte offset, both from 1; if several are at one place, the first counts. One
/// pass over the code, because a bundle has tens of thousands of functions on one line.
fn by_place(code: &str, mut begun: Vec<(u32, Span)>) -> HashMap<(usize, usize), Range<usize>> {
    begun.sort_by_key(|(start, _)| *start);
    let mut found = HashMap::with_capacity(begun.len());
    let (mut at, mut line, mut column) = (0, 1, 1);
    for (start, text) in begun {
        for letter in code[at..start as usize].chars() {
            (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = start as usize;
        found.entry((line, column)).or_insert(text.start as usize..text.end as usize);
    }
    found
}

/// Where a method begins as a function: `static` is the class's word.
fn behind_static(code: &str, method: &MethodDefinition<'_>) -> u32 {
    let text = &code[method.span.start as usize..method.span.end as usize];
    let rest = if method.r#static { text.strip_prefix("static").map(str::trim_start) } else { None };
    method.span.start + rest.map_or(0, |rest| text.len() - rest.len()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_where_they_begin() {
        let code = "const f = async (x) => x ** 2;\nclass K { constructor() {}\n static m(a) { return a; } get g() { \
                    return 1; } }\nconst o = { m() { } };";
        let found = functions(code, true);
        let text = |line, column| found.get(&(line, column)).map(|range| &code[range.clone()]);
        assert_eq!(text(1, 11), Some("async (x) => x ** 2"));
        assert_eq!(text(2, 11), text(3, 50));
        assert!(text(2, 11).unwrap().starts_with("class K {"));
        assert_eq!(text(3, 9), Some("m(a) { return a; }"));
        assert_eq!(text(3, 32), Some("get g() { return 1; }"));
        assert_eq!(text(4, 13), Some("m() { }"));
    }

    #[test]
    fn a_bundle_on_one_line_is_read_in_one_pass() {
        let code: String = (0..30_000).map(|n| format!("function fünf{n}() {{ return {n}; }} ")).collect();
        let found = functions(&code, false);
        assert_eq!(found.len(), 30_000);
        let at = code.find("function fünf29999").map(|at| code[..at].chars().count() + 1).unwrap();
        assert_eq!(&code[found[&(1, at)].clone()], "function fünf29999() { return 29999; }");
    }
}
