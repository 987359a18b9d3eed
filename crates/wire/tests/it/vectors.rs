//! Reads the vector files: `input => expected`, one a line; `#` begins a comment, a section line cites the rule.

/// A line of a vector file.
pub struct Vector {
    /// `file:line`, and the section above the line, for messages.
    pub place: String,
    pub input: &'static str,
    pub expected: &'static str,
}

/// The vectors of a file. Lines that are blank or begin with `#` are not vectors; a line without `=>` is a mistake.
pub fn read(file: &str, text: &'static str) -> Vec<Vector> {
    let mut section = "";
    let mut vectors = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(title) = line.strip_prefix('#') {
            section = title.trim();
        } else if !line.is_empty() {
            let place = format!("{file}:{} ({section})", number + 1);
            let (input, expected) = line.split_once("=>").unwrap_or_else(|| panic!("{place}: no `=>`"));
            vectors.push(Vector { place, input: input.trim(), expected: expected.trim() });
        }
    }
    assert!(vectors.len() > 10, "{file} lost its vectors");
    vectors
}

/// Checks every vector, and reports all that differ rather than the first.
pub fn check(file: &str, text: &'static str, actual: impl Fn(&Vector) -> String) {
    let wrong: Vec<String> = read(file, text)
        .iter()
        .filter_map(|vector| {
            let got = actual(vector);
            (got != vector.expected).then(|| {
                format!(
                    "{}\n  input    {}\n  expected {}\n  got      {got}",
                    vector.place, vector.input, vector.expected
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
