//! Counts as people read them, with thousands separated and with their noun; and texts that may be shown to them.

/// A count with thousands separators: `1,204,311`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, in the singular where that is right: `1 user`, `1,204 users`.
pub fn counted(n: u64, noun: &str) -> String {
    let plural = match (n, noun) {
        (1, _) => noun.to_string(),
        (_, "copy") => "copies".to_string(),
        (_, "class") => "classes".to_string(),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(n))
}

/// One line without control characters: what a target sends must not move the cursor of who reads it.
pub fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        let shown: Vec<_> = [0, 999, 1000, 12_345, 1_204_311].map(count).to_vec();
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,204,311"]);
    }

    #[test]
    fn a_noun_is_in_the_singular_for_one_only() {
        assert_eq!(counted(1, "user"), "1 user");
        assert_eq!(counted(0, "user"), "0 users");
        assert_eq!(counted(2_000, "copy"), "2,000 copies");
    }
}
