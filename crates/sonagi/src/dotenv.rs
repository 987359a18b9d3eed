//! A file of environment variables (`--dotenv`), read as Node's `dotenv` reads it.
//!
//! Our own, because libraries read more into such files (`$NAME` stands for another variable) and would silently change
//! the password `pa$$word`.

/// The variables of a file, in order; and the numbers, from 1, of lines that are not assignments.
pub(crate) fn parse(text: &str) -> (Vec<(String, String)>, Vec<usize>) {
    let (mut variables, mut odd) = (Vec::new(), Vec::new());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 1;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let first = rest[..end].trim();
        let taken = match assignment(rest) {
            _ if first.is_empty() || first.starts_with('#') => end,
            Some((name, value, taken)) => {
                variables.push((name.to_owned(), value));
                taken
            }
            None => {
                odd.push(line);
                end
            }
        };
        // Skips to the end of the value's last line: only a comment can follow it.
        let after = taken + rest[taken..].find('\n').map_or(rest.len() - taken, |end| end + 1);
        line += rest[..after].matches('\n').count();
        rest = &rest[after..];
    }
    (variables, odd)
}

/// `NAME=value`, `export NAME='value'`, `NAME: value`: the name, the value and the length read, in bytes.
fn assignment(text: &str) -> Option<(&str, String, usize)> {
    let body = text.trim_start_matches([' ', '\t']);
    let body = body.strip_prefix("export ").map_or(body, str::trim_start);
    let name_end = body.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))?;
    let (name, after) = body.split_at(name_end);
    let after = after.trim_start_matches([' ', '\t']);
    let value = match after.strip_prefix('=') {
        Some(value) => value,
        None => after.strip_prefix(':').filter(|value| value.starts_with([' ', '\t']))?,
    };
    if name.is_empty() {
        return None;
    }
    let value = value.trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    let (value, length) = quoted(value).unwrap_or_else(|| plain(value));
    Some((name, value, start + length))
}

/// A value in quotes; it may span several lines. Only double quotes know `\n`.
fn quoted(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    let (end, _) = end?;
    let inner = &text[1..end];
    let value = match quote {
        '"' => inner.replace("\\n", "\n").replace("\\r", "\r"),
        _ => inner.to_owned(),
    };
    Some((value, end + 1))
}

/// An unquoted value, up to a comment or the end of the line.
fn plain(text: &str) -> (String, usize) {
    let end = text.find(['\n', '\r', '#']).unwrap_or(text.len());
    (text[..end].trim().to_owned(), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_node_reads_it() {
        let text = "\u{feff}# accounts\nA=1\r\n export B = two words # said\n\nC='a # b'\nD=\"x\\ny\"\nE: yes\n\
                    F=pa$$word\nG=\nH=\"several\nlines\" # end\nI=`it's`\nJ='no\\n'\nA=2\nK=\"open\n";
        let (variables, odd) = parse(text);
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # b"),
            ("D", "x\ny"),
            ("E", "yes"),
            ("F", "pa$$word"),
            ("G", ""),
            ("H", "several\nlines"),
            ("I", "it's"),
            ("J", "no\\n"),
            ("A", "2"),
            ("K", "\"open"),
        ];
        let variables: Vec<_> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(variables, expected);
        assert_eq!(odd, [0; 0]);
    }

    #[test]
    fn lines_that_are_no_variables_are_told_by_number() {
        let (variables, odd) = parse("A=\"1\n2\"\nnonsense\nB=3\n=4\nC:5\n");
        assert_eq!(variables.len(), 2);
        assert_eq!(odd, [3, 5, 6]);
    }
}
