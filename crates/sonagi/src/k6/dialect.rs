//! Recognises k6 scripts by their names, or else by their text.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Endings of k6 scripts.
const ENDINGS: [&str; 6] = [".js", ".ts", ".mjs", ".mts", ".cjs", ".cts"];

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 64 << 10;

/// Whether this command line runs or checks a k6 script.
pub(crate) fn is_meant(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter().skip(1).map(|argument| argument.to_string_lossy());
    let takes_scripts = arguments.next().is_some_and(|command| command == "run" || command == "check");
    takes_scripts
        && arguments.any(|argument| argument == "-" || !argument.starts_with('-') && is_k6(&argument))
}

/// Whether this names a k6 script.
pub(super) fn is_k6(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || holds_javascript(Path::new(name))
}

fn holds_javascript(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut text = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut text).is_ok() && is_javascript(&String::from_utf8_lossy(&text))
}

/// Whether a line can only begin a JavaScript module: no unindented line of YAML or JSON looks so.
fn is_javascript(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "import {",
        "import *",
        "import '",
        "import \"",
        "export default",
        "export const",
        "export function",
        "export async",
    ];
    text.lines().any(|line| {
        let imports = line.starts_with("import ") && (line.contains(" from '") || line.contains(" from \""));
        let requires =
            ["const ", "let ", "var "].iter().any(|word| line.starts_with(word)) && line.contains("require(");
        imports || requires || BEGINNINGS.iter().any(|begin| line.starts_with(begin))
    })
}

/// Whether the text is an Artillery script, YAML or JSON.
pub(super) fn is_artillery(text: &str) -> bool {
    let is_json =
        || text.trim_start().starts_with('{') && serde_json::from_str::<serde_json::Value>(text).is_ok();
    let keys = ["config:", "scenarios:", "\"config\":", "\"scenarios\":"];
    text.lines().any(|line| keys.iter().any(|key| line.starts_with(key))) || is_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_whose_script_it_is() {
        for text in [
            "// a\nimport http from 'k6/http';\n",
            "const http = require(\"k6/http\");\n",
            "export default () => {};",
        ] {
            assert!(is_javascript(text) && !is_artillery(text), "{text}");
        }
        for text in [
            "config:\n  target: x\n",
            "{\"config\": {}}",
            "scenarios:\n  - flow:\n      - log: |\n          import a from 'b'\n",
        ] {
            assert!(!is_javascript(text) && is_artillery(text), "{text}");
        }
    }
}
