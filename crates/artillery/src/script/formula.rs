//! Conditions as scripts write them: `kind == "guest" and tries < 3`.
//!
//! The language is filtrex's, which Artillery takes conditions to, with its operators, its order of binding and JavaScript's
//! idea of equality. Where it is odd (`not` binds closer than `==`, a comparison is 1 or 0), so are we: a script's users
//! are to take the same steps. What it would not understand, and Artillery then takes for true, is a mistake here; but for a few
//! signs of JavaScript's, which mean what their author meant.

use crate::plan::Expression;
use crate::plan::formula::{Formula, Operator, Routine};
use crate::plan::template::Piece;
use regex::Regex;
use serde_json::Value;

use crate::script::problem::nearest;
use crate::script::template::{self, Constants, Fault};

mod words;

pub(crate) use words::Foreign;
use words::{Token, Word};

/// Deepest nesting: nobody reads more, and a parser's stack is finite.
const DEEPEST: usize = 50;

const ROUTINES: &[(&str, Routine)] = &[
    ("abs", Routine::Abs),
    ("ceil", Routine::Ceil),
    ("floor", Routine::Floor),
    ("log", Routine::Log),
    ("max", Routine::Max),
    ("min", Routine::Min),
    ("random", Routine::Random),
    ("round", Routine::Round),
    ("sqrt", Routine::Sqrt),
];

/// How closely operators bind; all of them to the left.
const CHOICE: u8 = 1;
const IN: u8 = 4;
const NOT: u8 = 10;
const NEGATIVE: u8 = 11;
const OF: u8 = 12;

/// What a condition is made of, and what is worth saying about it.
pub(crate) struct Parsed {
    pub(crate) formula: Formula,
    /// It says `true` or `false`, which are variables to Artillery.
    pub(crate) has_truths: bool,
    /// It reaches into a variable, where Artillery looks for one of that whole name.
    pub(crate) reaches_in: bool,
    /// A sign of JavaScript's in it, which Artillery does not read.
    pub(crate) javascript: Option<Foreign>,
}

/// Reads a condition. `seen` hears of every variable with its offset, also when something is wrong.
pub(crate) fn parse(
    text: &str,
    constants: &Constants,
    seen: &mut dyn FnMut(&str, usize),
) -> Result<Parsed, Fault> {
    let tokens = words::split(text)?;
    let mut parser =
        Parser { tokens: &tokens, next: 0, constants, seen, depth: 0, has_truths: false, reaches_in: false };
    let formula = parser.formula(0)?;
    match parser.peek() {
        Word::End => {
            let Parser { has_truths, reaches_in, .. } = parser;
            let javascript = words::javascript(text, &tokens);
            Ok(Parsed { formula, has_truths, reaches_in, javascript })
        }
        _ => Err(parser.unexpected("an operator (==, <, and, or, in, …) or the end")),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    next: usize,
    constants: &'t Constants,
    seen: &'t mut dyn FnMut(&str, usize),
    depth: usize,
    has_truths: bool,
    reaches_in: bool,
}

fn fault(offset: usize, what: impl Into<String>, hint: Option<&str>) -> Fault {
    Fault { offset, what: what.into(), hint: hint.map(str::to_owned) }
}

impl Parser<'_> {
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
        let is_there = matches!(self.peek(), Word::Sign(found) if *found == sign);
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        fault(self.token().offset, format!("a condition wants {wanted} here; got {}", self.peek()), None)
    }

    fn formula(&mut self, least: u8) -> Result<Formula, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(fault(
                self.token().offset,
                format!("a condition is nested deeper than {DEEPEST}"),
                None,
            ));
        }
        let mut left = self.prefix()?;
        while let Word::Sign(sign) = *self.peek() {
            let Some(binds) = binding(sign).filter(|binds| *binds >= least) else { break };
            self.next += 1;
            left = match sign {
                "?" => {
                    let yes = self.formula(0)?;
                    self.expect(":")?;
                    Formula::Choice(Box::new([left, yes, self.formula(CHOICE + 1)?]))
                }
                "not" => {
                    self.expect("in")?;
                    Formula::Pair(Operator::NotIn, Box::new([left, self.formula(IN + 1)?]))
                }
                "~=" => {
                    let offset = self.token().offset;
                    fits(left, self.formula(binds + 1)?, offset)?
                }
                sign => {
                    let right = self.formula(binds + 1)?;
                    let operator = operator(sign).ok_or_else(|| self.unexpected("an operator"))?;
                    Formula::Pair(operator, Box::new([left, right]))
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Formula, Fault> {
        let Token { word, offset } = self.take();
        match word {
            Word::Number(number) => Ok(Formula::Number(number)),
            Word::Text(text) => Ok(Formula::Text(text)),
            Word::Sign("-") => Ok(Formula::Negative(Box::new(self.formula(NEGATIVE + 1)?))),
            Word::Sign("not") => Ok(Formula::Not(Box::new(self.formula(NOT + 1)?))),
            Word::Sign("(") => self.bracketed(),
            Word::Symbol { name, is_quoted } => {
                if self.takes("of") {
                    return Ok(Formula::Member(name, Box::new(self.formula(OF + 1)?)));
                }
                if self.takes("(") {
                    return self.call(&name, offset);
                }
                self.variable(name, is_quoted, offset)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("a variable, a number, a text in double quotes or `(`"))
            }
        }
    }

    /// One value in brackets, or a list of them.
    fn bracketed(&mut self) -> Result<Formula, Fault> {
        let first = self.formula(0)?;
        if self.takes(")") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.takes(",") {
            items.push(self.formula(0)?);
        }
        self.expect(")")?;
        Ok(Formula::List(items))
    }

    fn call(&mut self, name: &str, offset: usize) -> Result<Formula, Fault> {
        let mut arguments = Vec::new();
        if !self.takes(")") {
            arguments.push(self.formula(0)?);
            while self.takes(",") {
                arguments.push(self.formula(0)?);
            }
            self.expect(")")?;
        }
        if let Some((_, routine)) = ROUTINES.iter().find(|(known, _)| *known == name) {
            return Ok(Formula::Call(*routine, arguments));
        }
        let known = || ROUTINES.iter().map(|(name, _)| *name);
        let hint = match nearest(name, known()) {
            Some(meant) => format!("did you mean {meant}(…)?"),
            None => format!("conditions know {}", known().collect::<Vec<_>>().join(", ")),
        };
        Err(fault(offset, format!("conditions have no function \"{name}\""), Some(&hint)))
    }

    fn variable(&mut self, name: String, is_quoted: bool, offset: usize) -> Result<Formula, Fault> {
        if is_quoted {
            (self.seen)(&name, offset);
            return Ok(Formula::Value(Expression::Path { variable: name, keys: Vec::new() }));
        }
        if let "true" | "false" = name.as_str() {
            self.has_truths = true;
            return Ok(Formula::Value(Expression::Constant(Value::Bool(name == "true"))));
        }
        // The two braces stand before the name: places inside shift back by them.
        let seen = &mut *self.seen;
        let parsed = template::parse(&format!("{{{{{name}}}}}"), self.constants, &mut |name, at| {
            seen(name, offset + at.saturating_sub(2));
        });
        let template = parsed.map_err(|faults| {
            let first = faults.into_iter().next();
            first.map_or_else(
                || fault(offset, format!("`{name}` is not a valid variable name"), None),
                |first| Fault { offset: offset + first.offset.saturating_sub(2), ..first },
            )
        })?;
        Ok(match template.pieces.into_iter().next() {
            Some(Piece::Hole(hole)) => {
                self.reaches_in |= matches!(&hole, Expression::Path { keys, .. } if !keys.is_empty());
                Formula::Value(hole)
            }
            Some(Piece::Text(text)) => Formula::Text(text),
            None => Formula::Text(String::new()),
        })
    }
}

/// A pattern that is known is compiled once, here.
fn fits(left: Formula, right: Formula, offset: usize) -> Result<Formula, Fault> {
    let Formula::Text(pattern) = &right else {
        return Ok(Formula::Pair(Operator::Fits, Box::new([left, right])));
    };
    match Regex::new(pattern) {
        Ok(pattern) => Ok(Formula::Fits(Box::new(left), pattern)),
        Err(error) => {
            let lines = error.to_string();
            let reason = lines.lines().last().unwrap_or("").trim().trim_start_matches("error: ");
            Err(fault(offset, format!("not a regular expression: {reason}"), None))
        }
    }
}

fn binding(sign: &str) -> Option<u8> {
    Some(match sign {
        "?" => CHOICE,
        "or" => 2,
        "and" => 3,
        "in" => IN,
        "==" | "!=" | "~=" => 5,
        "<" | "<=" | ">" | ">=" => 6,
        "+" | "-" => 7,
        "*" | "/" | "%" => 8,
        "^" => 9,
        "not" => NOT,
        _ => return None,
    })
}

fn operator(sign: &str) -> Option<Operator> {
    Some(match sign {
        "or" => Operator::Or,
        "and" => Operator::And,
        "in" => Operator::In,
        "==" => Operator::Equal,
        "!=" => Operator::Unequal,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "*" => Operator::Times,
        "/" => Operator::Over,
        "%" => Operator::Remainder,
        "^" => Operator::Power,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
