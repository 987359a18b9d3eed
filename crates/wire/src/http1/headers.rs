//! A response's headers, kept as the few bytes they are.

/// Headers in the order they came. A response's are one allocation, or none when none are kept; lookups are linear,
/// because a load test looks at one or two of a response's headers, and mostly at none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// `name:value\n` again and again: a name holds no colon, a value no line feed.
    lines: Vec<u8>,
}

impl Headers {
    /// None yet; room for so many bytes, two more than name and value of each.
    pub(super) fn with_capacity(bytes: usize) -> Headers {
        Headers { lines: Vec::with_capacity(bytes) }
    }

    /// Adds a header. What cannot be one (a name with a colon, a value of several lines) is left out.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        if name.contains([':', '\n']) || value.contains(&b'\n') {
            return;
        }
        self.lines.extend_from_slice(name.as_bytes());
        self.lines.push(b':');
        self.lines.extend_from_slice(value);
        self.lines.push(b'\n');
    }

    /// Whether there are none, or none were kept.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// All of them: the name as it was written, and its value without the space around it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.lines.split(|&byte| byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            Some((std::str::from_utf8(&line[..colon]).ok()?, &line[colon + 1..]))
        })
    }

    /// The values of all headers of a name, in any case.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        // Not by way of `iter`: most responses are asked for a header that they do not have.
        self.lines.split(|&byte| byte == b'\n').filter_map(move |line| {
            let (own, value) = line.split_at_checked(name.len())?;
            value.strip_prefix(b":").filter(|_| own.eq_ignore_ascii_case(name.as_bytes()))
        })
    }

    /// The first value of a name, in any case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }
}

impl<'a> FromIterator<(&'a str, &'a [u8])> for Headers {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a [u8])>>(all: I) -> Headers {
        let mut headers = Headers::default();
        all.into_iter().for_each(|(name, value)| headers.push(name, value));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_by_name_in_any_case_and_in_their_order() {
        let headers: Headers =
            [("Set-Cookie", &b"a=1"[..]), ("X-Empty", b""), ("set-cookie", b"b:2; x"), ("no:name", b"x")]
                .into_iter()
                .collect();
        assert_eq!(headers.get_all("SET-COOKIE").collect::<Vec<_>>(), [&b"a=1"[..], b"b:2; x"]);
        assert_eq!((headers.get("x-empty"), headers.get("no")), (Some(&b""[..]), None));
        assert_eq!(headers.iter().count(), 3);
        assert!(Headers::default().is_empty() && !headers.is_empty());
    }
}
