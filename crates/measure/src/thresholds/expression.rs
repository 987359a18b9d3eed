//! The expression language: a lexer and a precedence climber, one pass, no backtracking.
//!
//! Truth is a number: 0 is false, comparisons give 0 or 1.

use super::ParseError;

/// Deepest nesting accepted, so that a hostile script cannot exhaust the stack.
const DEPTH: usize = 64;

#[derive(Debug, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    /// A name and where it stands.
    Name(String, usize),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// Spelling, meaning and how tightly it binds. Longer spellings first.
const OPERATORS: [(&str, Operator, u8); 17] = [
    ("||", Operator::Or, 1),
    ("or", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("and", Operator::And, 2),
    ("===", Operator::Equal, 4),
    ("!==", Operator::NotEqual, 4),
    ("==", Operator::Equal, 4),
    ("!=", Operator::NotEqual, 4),
    ("<=", Operator::LessEqual, 4),
    (">=", Operator::GreaterEqual, 4),
    ("<", Operator::Less, 4),
    (">", Operator::Greater, 4),
    ("+", Operator::Add, 5),
    ("-", Operator::Subtract, 5),
    ("*", Operator::Multiply, 6),
    ("/", Operator::Divide, 6),
    ("%", Operator::Modulo, 6),
];
/// `not` binds tighter than `and`, looser than a comparison.
const NOT: u8 = 3;
const UNARY: u8 = 7;

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression, ParseError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let expression = parser.climb(0)?;
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.unexpected("an operator"));
        }
        Ok(expression)
    }

    /// The value; None when it reads a name `value` does not know.
    pub(super) fn evaluate(&self, value: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        let truth = |condition: bool| Some(f64::from(u8::from(condition)));
        Some(match self {
            Expression::Number(number) => *number,
            Expression::Name(name, _) => value(name)?,
            Expression::Not(inner) => return truth(inner.evaluate(value)? == 0.0),
            Expression::Negative(inner) => -inner.evaluate(value)?,
            Expression::Binary(operator, left, right) => {
                // Both sides always: an unknown name must not hide behind the other side's answer.
                let (left, right) = (left.evaluate(value)?, right.evaluate(value)?);
                match operator {
                    Operator::Or => return truth(left != 0.0 || right != 0.0),
                    Operator::And => return truth(left != 0.0 && right != 0.0),
                    Operator::Equal => return truth(left == right),
                    Operator::NotEqual => return truth(left != right),
                    Operator::Less => return truth(left < right),
                    Operator::LessEqual => return truth(left <= right),
                    Operator::Greater => return truth(left > right),
                    Operator::GreaterEqual => return truth(left >= right),
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                    Operator::Modulo => left % right,
                }
            }
        })
    }

    /// Every part, outermost first.
    pub(super) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        visit(self);
        match self {
            Expression::Number(_) | Expression::Name(..) => {}
            Expression::Not(inner) | Expression::Negative(inner) => inner.walk(visit),
            Expression::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
        }
    }

    /// The names it reads and where they stand.
    pub(super) fn names(&self) -> Vec<(&str, usize)> {
        let mut names = Vec::new();
        self.walk(&mut |part| {
            if let Expression::Name(name, offset) = part {
                names.push((name.as_str(), *offset));
            }
        });
        names
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn climb(&mut self, least: u8) -> Result<Expression, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(format!("the expression is nested deeper than {DEPTH}"), None));
        }
        let mut left = self.operand()?;
        while let Some((spelling, operator, binds)) = self.operator().filter(|(.., binds)| *binds > least) {
            self.at += spelling.len();
            let right = self.climb(binds)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, ParseError> {
        self.blanks();
        let start = self.at;
        let rest = &self.text[start..];
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.climb(0)?;
                self.blanks();
                if !self.text[self.at..].starts_with(')') {
                    return Err(self.unexpected("`)`"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some('-') => {
                self.at += 1;
                Ok(Expression::Negative(Box::new(self.climb(UNARY)?)))
            }
            Some('!') => {
                self.at += 1;
                Ok(Expression::Not(Box::new(self.climb(UNARY)?)))
            }
            Some('\'') => match rest[1..].split_once('\'') {
                Some((name, _)) => {
                    self.at += name.len() + 2;
                    Ok(Expression::Name(name.to_owned(), start))
                }
                None => Err(self.error("the quoted name has no closing quote".to_owned(), None)),
            },
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(rest),
            Some(c) if is_name(c) => {
                let name =
                    rest.split(|c| !is_name(c) && !c.is_ascii_digit() && c != '.').next().unwrap_or(rest);
                self.at += name.len();
                if name == "not" {
                    return Ok(Expression::Not(Box::new(self.climb(NOT)?)));
                }
                Ok(Expression::Name(name.to_owned(), start))
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn number(&mut self, rest: &str) -> Result<Expression, ParseError> {
        let digits = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').next().unwrap_or(rest);
        let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
        let Some(number) = number else {
            let hint = digits
                .strip_suffix("ms")
                .or_else(|| digits.strip_suffix('s'))
                .filter(|number| number.parse::<f64>().is_ok())
                .map(|_| "numbers have no unit; latencies are in milliseconds".to_owned());
            return Err(self.error(format!("`{digits}` is not a number"), hint));
        };
        self.at += digits.len();
        Ok(Expression::Number(number))
    }

    fn operator(&mut self) -> Option<(&'static str, Operator, u8)> {
        self.blanks();
        let rest = &self.text[self.at..];
        OPERATORS.into_iter().find(|(spelling, ..)| {
            let word = spelling.starts_with(char::is_alphabetic);
            rest.strip_prefix(spelling)
                .is_some_and(|after| !word || !after.starts_with(|c| is_name(c) || c == '.'))
        })
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn unexpected(&self, wanted: &str) -> ParseError {
        let rest = &self.text[self.at..];
        let Some(found) = rest.split_whitespace().next() else {
            return self.error(format!("expected {wanted}, but the expression ends here"), None);
        };
        let hint = match found.as_bytes() {
            [b'=', ..] => Some("equality is written `==`".to_owned()),
            [b'(' | b'?', ..] | b"in" => Some(
                "there are + - * / %, comparisons, `and`, `or` and `not`; no functions, no `? :`".to_owned(),
            ),
            _ => None,
        };
        self.error(format!("expected {wanted}, got `{found}`"), hint)
    }

    fn error(&self, what: String, hint: Option<String>) -> ParseError {
        ParseError { what, offset: self.at, hint }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

const DELIVERY: [&str; 17] = [
    "messages",
    "owed",
    "delivered",
    "late",
    "replayed",
    "lost",
    "outstanding",
    "duplicate",
    "reordered",
    "leaked",
    "unknown",
    "settling",
    "foreign",
    "negative",
    "ratio",
    "deadline_ms",
    "latency_ms",
];
const FAMILIES: [&str; 14] = [
    "delivery",
    "vusers",
    "http",
    "websocket",
    "socketio",
    "errors",
    "users",
    "traffic",
    "operations",
    "kinds",
    "generator",
    "http_codes",
    "scenarios",
    "duration_s",
];

/// Refuses names that are obviously misspelt: one or two letters beside a known one, or no field of a closed family.
pub(super) fn check_name(name: &str, offset: usize) -> Result<(), ParseError> {
    let mut parts = name.split('.');
    let family = parts.next().unwrap_or_default();
    let known = |words: &[&'static str], word: &str| words.contains(&word);
    if !known(&FAMILIES, family) {
        // Artillery's plugins and scripts add families of their own; only near misses are refused.
        return match nearest(&FAMILIES, family) {
            Some(near) => {
                let hint = Some(format!("did you mean `{}`?", name.replacen(family, near, 1)));
                Err(ParseError { what: format!("`{name}` is not a metric"), offset, hint })
            }
            None => Ok(()),
        };
    }
    let field = parts.next().unwrap_or_default();
    if family == "delivery" && field != "replay_latency_ms" && !known(&DELIVERY, field) {
        let hint = nearest(&DELIVERY, field)
            .map(|near| format!("did you mean `delivery.{near}`?"))
            .unwrap_or_else(|| format!("there are: {}", DELIVERY.join(", ")));
        return Err(ParseError { what: format!("`{name}` is not a metric"), offset, hint: Some(hint) });
    }
    Ok(())
}

fn nearest(words: &[&'static str], word: &str) -> Option<&'static str> {
    let near = words.iter().map(|known| (strsim::damerau_levenshtein(known, word), *known)).min()?;
    (near.0 <= 2 && word.len() > 3).then_some(near.1)
}
