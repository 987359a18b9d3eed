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
    /// Whether the first is among the others.
    Among(Box<Expression>, Vec<Expression>),
    Call(Routine, Vec<Expression>),
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
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Routine {
    Abs,
    Ceil,
    Floor,
    Log,
    Max,
    Min,
    Round,
    Sqrt,
}

const ROUTINES: [(&str, Routine); 8] = [
    ("abs", Routine::Abs),
    ("ceil", Routine::Ceil),
    ("floor", Routine::Floor),
    ("log", Routine::Log),
    ("max", Routine::Max),
    ("min", Routine::Min),
    ("round", Routine::Round),
    ("sqrt", Routine::Sqrt),
];

/// Spelling, meaning and how tightly it binds. Longer spellings first.
const OPERATORS: [(&str, Operator, u8); 18] = [
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
    ("^", Operator::Power, 7),
];
/// `not` binds tighter than `and`, looser than a comparison and `in`.
const NOT: u8 = 3;
const IN: u8 = 4;
const UNARY: u8 = 8;

/// How long a name is that a text begins with, of names that are one word whatever they hold. None: it begins with none.
pub(super) type Known<'n> = &'n dyn Fn(&str) -> Option<usize>;

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression, ParseError> {
        Expression::parse_with(text, &|_| None)
    }

    /// The same where names are known that an expression would else take apart: `a/b`, `login time`.
    pub(super) fn parse_with(text: &str, known: Known<'_>) -> Result<Expression, ParseError> {
        let mut parser = Parser { text, at: 0, depth: 0, known };
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
            Expression::Among(item, list) => {
                let item = item.evaluate(value)?;
                let list = list.iter().map(|item| item.evaluate(value)).collect::<Option<Vec<_>>>()?;
                return truth(list.contains(&item));
            }
            Expression::Call(routine, arguments) => {
                let all = arguments.iter().map(|item| item.evaluate(value)).collect::<Option<Vec<_>>>()?;
                routine.of(&all)
            }
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
                    Operator::Power => left.powf(right),
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
            Expression::Among(item, list) => {
                item.walk(visit);
                list.iter().for_each(|item| item.walk(visit));
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|item| item.walk(visit)),
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

impl Routine {
    /// As JavaScript's functions of these names; without arguments max and min are the ends of all numbers.
    fn of(self, arguments: &[f64]) -> f64 {
        let one = arguments.first().copied().unwrap_or(f64::NAN);
        match self {
            Routine::Abs => one.abs(),
            Routine::Ceil => one.ceil(),
            Routine::Floor => one.floor(),
            Routine::Log => one.ln(),
            Routine::Max => arguments.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Routine::Min => arguments.iter().copied().fold(f64::INFINITY, f64::min),
            Routine::Round => (one + 0.5).floor(),
            Routine::Sqrt => one.sqrt(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    known: Known<'a>,
}

impl Parser<'_> {
    fn climb(&mut self, least: u8) -> Result<Expression, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(format!("the expression is nested deeper than {DEPTH}"), None));
        }
        let mut left = self.operand()?;
        loop {
            if least < IN
                && let Some(negated) = self.membership()
            {
                let among = Expression::Among(Box::new(left), self.list()?);
                left = if negated { Expression::Not(Box::new(among)) } else { among };
                continue;
            }
            let Some((spelling, operator, binds)) = self.operator().filter(|(.., binds)| *binds > least)
            else {
                break;
            };
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
        let plain = plain_name(rest);
        if let Some(length) = (self.known)(rest).filter(|length| *length > plain.len()) {
            self.at += length;
            return Ok(Expression::Name(rest[..length].to_owned(), start));
        }
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
            Some(_) if !plain.is_empty() => {
                self.at += plain.len();
                if plain == "not" {
                    return Ok(Expression::Not(Box::new(self.climb(NOT)?)));
                }
                if let Some((_, routine)) = ROUTINES.iter().find(|(name, _)| *name == plain)
                    && self.is_next('(')
                {
                    return Ok(Expression::Call(*routine, self.list()?));
                }
                Ok(Expression::Name(plain.to_owned(), start))
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// Whether what comes next is `in` (false) or `not in` (true); it is taken then.
    fn membership(&mut self) -> Option<bool> {
        self.blanks();
        let word = |text: &str, word: &str| {
            let rest = text.strip_prefix(word)?;
            (!rest.starts_with(is_part)).then(|| text.len() - rest.trim_start().len())
        };
        let rest = &self.text[self.at..];
        let not = word(rest, "not");
        let length = not.unwrap_or(0) + word(&rest[not.unwrap_or(0)..], "in")?;
        self.at += length;
        Some(not.is_some())
    }

    fn is_next(&mut self, sign: char) -> bool {
        self.blanks();
        self.text[self.at..].starts_with(sign)
    }

    /// Values in brackets, or one without.
    fn list(&mut self) -> Result<Vec<Expression>, ParseError> {
        if !self.is_next('(') {
            return Ok(vec![self.climb(IN)?]);
        }
        let mut items = Vec::new();
        loop {
            // The bracket, then commas.
            self.at += 1;
            if items.is_empty() && self.is_next(')') {
                break;
            }
            items.push(self.climb(0)?);
            if !self.is_next(',') {
                break;
            }
        }
        if !self.is_next(')') {
            return Err(self.unexpected("`)`"));
        }
        self.at += 1;
        Ok(items)
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
            [b'(' | b'?', ..] => {
                let routines = ROUTINES.map(|(name, _)| name).join(", ");
                Some(format!(
                    "there are + - * / % ^, comparisons, `in`, `and`, `or`, `not`, and the functions {routines}; no `? :`"
                ))
            }
            _ => None,
        };
        self.error(format!("expected {wanted}, got `{found}`"), hint)
    }

    fn error(&self, what: String, hint: Option<String>) -> ParseError {
        ParseError { what, offset: self.at, hint, metric: None }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

/// Whether it may stand within a name that needs no quotes.
pub(super) fn is_part(c: char) -> bool {
    is_name(c) || c.is_ascii_digit() || c == '.'
}

/// The name a text begins with; empty when it begins with none that needs no quotes.
fn plain_name(text: &str) -> &str {
    let end = if text.starts_with(is_name) { text.find(|c| !is_part(c)).unwrap_or(text.len()) } else { 0 };
    &text[..end]
}
