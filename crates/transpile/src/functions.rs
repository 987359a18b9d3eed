//! Where functions stand in a text, for an engine that keeps no text of them.

use crate::place::place;
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{ClassElement, MethodDefinition, MethodDefinitionKind, PropertyKind};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::{SourceType, Span};
use std::collections::HashMap;
use std::ops::Range;

/// The text of each function and class of a JavaScript source, by the line and column where QuickJS has it begin, from 1: a
/// class at its constructor or, where it has none, at its end; its getters and setters at their names.
#[must_use]
pub fn functions(code: &str, is_module: bool) -> HashMap<(usize, usize), Range<usize>> {
    let arena = Allocator::default();
    let kind = if is_module { SourceType::mjs() } else { SourceType::cjs() };
    let program = Parser::new(&arena, code, kind).parse().program;
    let built = SemanticBuilder::new_compiler().with_build_nodes(true).build(&program);
    let mut found = HashMap::new();
    let mut add = |start: u32, text: Span| {
        found.entry(place(code, start as usize)).or_insert(text.start as usize..text.end as usize);
    };
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
        let code = "const f = async (x) => x ** 2;\nclass K { constructor() {}\n static m(a) { return a; } get g() { return 1; } }\nconst o = { m() { } };";
        let found = functions(code, true);
        let text = |line, column| found.get(&(line, column)).map(|range| &code[range.clone()]);
        assert_eq!(text(1, 11), Some("async (x) => x ** 2"));
        assert_eq!(text(2, 11), text(3, 50));
        assert!(text(2, 11).unwrap().starts_with("class K {"));
        assert_eq!(text(3, 9), Some("m(a) { return a; }"));
        assert_eq!(text(3, 32), Some("get g() { return 1; }"));
        assert_eq!(text(4, 13), Some("m() { }"));
    }
}
