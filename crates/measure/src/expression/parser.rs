//! From words to an expression: precedence climbing, one pass, names resolved on the way.

use regex::Regex;

use super::evaluate::ROUTINES;
use super::tokens::{self, Foreign, Token, Word};
use super::{Expression, Operator, SyntaxError};

/// Deepest nesting and most words: nobody reads more, and the stack that evaluates an expression is finite.
const DEEPEST: usize = 64;
const MOST_WORDS: usize = 1000;

/// How closely operators bind; all of them to the left.
const CHOICE: u8 = 1;
const NOT: u8 = 10;
const NEGATIVE: u8 = 11;
const OF: u8 = 12;

/// Operators between two values, with how closely they bind.
const BINARY: [(&str, u8, Operator); 16] = [
    ("or", 2, Operator::Or),
    ("and", 3, Operator::And),
    ("in", 4, Operator::In),
    ("==", 5, Operator::Equal),
    ("!=", 5, Operator::NotEqual),
    ("~=", 5, Operator::Matches),
    ("<", 6, Operator::Less),
    ("<=", 6, Operator::LessEqual),
    (">", 6, Operator::Greater),
    (">=", 6, Operator::GreaterEqual),
    ("+", 7, Operator::Add),
    ("-", 7, Operator::Subtract),
    ("*", 8, Operator::Multiply),
    ("/", 8, Operator::Divide),
    ("%", 8, Operator::Modulo),
    ("^", 9, Operator::Power),
];

/// A name as it stands in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameToken<'t> {
    /// Without its quotes.
    pub text: &'t str,
    /// Whether it stands in single quotes, or was known as a whole ([`Resolve::known`]).
    pub is_quoted: bool,
    /// Where, in characters from the start of the expression.
    pub offset: usize,
}

/// Resolves the names in an expression.
pub trait Resolve {
    /// A resolved name.
    type Name;

    /// Resolves a name; what it becomes may be a plain value.
    ///
    /// # Errors
    /// There is no such name.
    fn resolve(&mut self, name: NameToken<'_>) -> Result<Expression<Self::Name>, SyntaxError>;

    /// Length in characters of the longest known name that `rest` begins with and that the grammar would take apart:
    /// `a/b`, `login time`. None: it begins with none.
    fn known(&self, _rest: &[char]) -> Option<usize> {
        None
    }
}

/// An expression, and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Parsed<N> {
    /// The parsed expression.
    pub expression: Expression<N>,
    /// Its first sign of JavaScript's.
    pub foreign: Option<Foreign>,
}

/// Reads an expression of at most 1,000 words, nested at most 64 deep.
///
/// # Errors
/// Says where the expression stops making sense, or that a name cannot be resolved.
pub fn parse<R: Resolve>(text: &str, names: &mut R) -> Result<Parsed<R::Name>, SyntaxError> {
    let (tokens, foreign) = tokens::split(text, |rest| names.known(rest))?;
    if let Some(beyond) = tokens.get(MOST_WORDS) {
        let what = format!("an expression has at most {MOST_WORDS} words");
        return Err(SyntaxError::new(beyond.offset, what, None));
    }
    let mut parser = Parser { tokens: &tokens, next: 0, depth: 0, names };
    let expression = parser.expression(0)?;
    match parser.peek() {
        Word::End => Ok(Parsed { expression, foreign }),
        _ => Err(parser.unexpected("an operator (==, <, and, or, in, …) or the end")),
    }
}

struct Parser<'t, R> {
    tokens: &'t [Token],
    next: usize,
    depth: usize,
    names: &'t mut R,
}

impl<R: Resolve> Parser<'_, R> {
    fn token(&self) -> &Token {
        // The last one is the end, and nothing goes beyond it.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &Word {
        &self.token().word
    }

    fn take(&mut self) -> Token {
        let token = self.token().clone();
        self.next += 1;
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Word::Sign(found) if *found == sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let Token { word, offset } = self.token();
        let what = match word {
            Word::End => format!("expected {wanted}, but the expression ends here"),
            _ => format!("expected {wanted}, got {word}"),
        };
        SyntaxError::new(*offset, what, None)
    }

    fn expression(&mut self, least: u8) -> Result<Expression<R::Name>, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format!("the expression is nested deeper than {DEEPEST}");
            return Err(SyntaxError::new(self.token().offset, what, None));
        }
        let mut left = self.operand()?;
        while let Word::Sign(sign) = *self.peek() {
            let Some(binds) = binding(sign).filter(|binds| *binds >= least) else { break };
            self.next += 1;
            left = self.continued(left, sign, binds)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The expression that an operator makes of the value before it and the rest after it.
    fn continued(
        &mut self,
        left: Expression<R::Name>,
        sign: &str,
        binds: u8,
    ) -> Result<Expression<R::Name>, SyntaxError> {
        match sign {
            "?" => {
                let yes = self.expression(0)?;
                self.expect(":")?;
                Ok(Expression::Choice(Box::new([left, yes, self.expression(CHOICE + 1)?])))
            }
            "not" => {
                self.expect("in")?;
                // The grammar of filtrex gives the two words the precedence of the first.
                Ok(Expression::Binary(Operator::NotIn, Box::new([left, self.expression(NOT + 1)?])))
            }
            "~=" => {
                let offset = self.token().offset;
                matches(left, self.expression(binds + 1)?, offset)
            }
            sign => {
                let right = self.expression(binds + 1)?;
                let (.., operator) = binary(sign).ok_or_else(|| self.unexpected("an operator"))?;
                Ok(Expression::Binary(operator, Box::new([left, right])))
            }
        }
    }

    fn operand(&mut self) -> Result<Expression<R::Name>, SyntaxError> {
        let Token { word, offset } = self.take();
        match word {
            Word::Number(number) => Ok(Expression::Number(number)),
            Word::Text(text) => Ok(Expression::Text(text)),
            Word::Sign("-") => Ok(Expression::Negative(Box::new(self.expression(NEGATIVE + 1)?))),
            Word::Sign("not") => Ok(Expression::Not(Box::new(self.expression(NOT + 1)?))),
            Word::Sign("(") => self.bracketed(),
            Word::Name { text, is_quoted } => {
                if self.takes("of") {
                    return Ok(Expression::Member(text, Box::new(self.expression(OF + 1)?)));
                }
                if self.takes("(") {
                    return self.call(&text, offset);
                }
                self.names.resolve(NameToken { text: &text, is_quoted, offset })
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("a name, a number, a text in double quotes or `(`"))
            }
        }
    }

    /// A value in brackets, or a list of them.
    fn bracketed(&mut self) -> Result<Expression<R::Name>, SyntaxError> {
        let mut items = self.items()?;
        Ok(if items.len() == 1 { items.remove(0) } else { Expression::List(items) })
    }

    /// One value or more, up to the closing bracket.
    fn items(&mut self) -> Result<Vec<Expression<R::Name>>, SyntaxError> {
        let mut items = vec![self.expression(0)?];
        while self.takes(",") {
            items.push(self.expression(0)?);
        }
        self.expect(")")?;
        Ok(items)
    }

    fn call(&mut self, name: &str, offset: usize) -> Result<Expression<R::Name>, SyntaxError> {
        let arguments = if self.takes(")") { Vec::new() } else { self.items()? };
        let known = || ROUTINES.into_iter().map(|(name, _)| name);
        if let Some((_, routine)) = ROUTINES.into_iter().find(|(known, _)| *known == name) {
            return Ok(Expression::Call(routine, arguments));
        }
        let nearest = known().min_by_key(|known| strsim::damerau_levenshtein(known, name));
        let hint = match nearest.filter(|near| strsim::damerau_levenshtein(near, name) <= 1) {
            Some(meant) => format!("did you mean {meant}(…)?"),
            None => format!("the functions are {}", known().collect::<Vec<_>>().join(", ")),
        };
        Err(SyntaxError::new(offset, format!("there is no function \"{name}\""), Some(&hint)))
    }
}

/// A pattern that is written out is compiled once, here.
fn matches<N>(
    left: Expression<N>,
    right: Expression<N>,
    offset: usize,
) -> Result<Expression<N>, SyntaxError> {
    let Expression::Text(pattern) = &right else {
        return Ok(Expression::Binary(Operator::Matches, Box::new([left, right])));
    };
    match Regex::new(pattern) {
        Ok(pattern) => Ok(Expression::Matches(Box::new(left), pattern)),
        Err(error) => {
            let lines = error.to_string();
            let reason = lines.lines().last().unwrap_or("").trim().trim_start_matches("error: ");
            Err(SyntaxError::new(offset, format!("not a regular expression: {reason}"), None))
        }
    }
}

fn binary(sign: &str) -> Option<(&'static str, u8, Operator)> {
    BINARY.into_iter().find(|(known, ..)| *known == sign)
}

fn binding(sign: &str) -> Option<u8> {
    match sign {
        "?" => Some(CHOICE),
        "not" => Some(NOT),
        sign => binary(sign).map(|(_, binds, _)| binds),
    }
}
