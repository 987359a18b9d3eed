//! The few functions that linked code calls, put in front of it on its first line, only those it calls.

/// `__sonagi_pick`: a named import.
pub(super) const PICK: &str = include_str!("runtime/pick.js");
/// `__sonagi_default`: a default import. It and the next want `__sonagi_as_node`: whether Node's rules hold.
pub(super) const DEFAULT: &str = include_str!("runtime/default.js");
/// `__sonagi_wide`: `import * as`.
pub(super) const WIDE: &str = include_str!("runtime/wide.js");
/// `__sonagi_exports`, `__sonagi_star`: a module's exports on a CommonJS `exports`.
pub(super) const EXPORTS: &str = include_str!("runtime/exports.js");
/// `__sonagi_default_of`, `__sonagi_own_default_of`, `__sonagi_whole`: imports by `require`.
pub(super) const REQUIRED: &str = include_str!("runtime/required.js");
/// `babelHelpers`: what oxc leaves to others of legacy decorators and of `using`.
pub(super) const HELPERS: &str = include_str!("runtime/helpers.js");

/// A function's text as one line, without its comments.
pub(super) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_stands_on_one_line_and_parses() {
        for text in [PICK, DEFAULT, WIDE, EXPORTS, REQUIRED, HELPERS] {
            let line = one_line(text);
            assert!(!line.contains('\n') && !line.contains("//"), "{line}");
            crate::shape::read(&line, oxc_span::SourceType::mjs()).unwrap();
        }
    }
}
