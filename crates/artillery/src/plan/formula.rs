//! Formulas: what decides whether a step is taken, over a user's variables.
//!
//! Their values are JavaScript's, with its ideas of truth, equality and order: that is what the scripts they come from were
//! written for. How they are written is the script languages' affair.

mod worth;

use regex::Regex;

use super::template::Expression;
pub use worth::{Lookup, Worth};

/// A value worked out of others.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A user's value; nothing where it has none.
    Value(Expression),
    /// A member of an object or list.
    Member(String, Box<Formula>),
    /// Several values.
    List(Vec<Formula>),
    /// 1 where it does not hold, else 0.
    Not(Box<Formula>),
    /// The number with the other sign.
    Negative(Box<Formula>),
    /// Of two.
    Pair(Operator, Box<[Formula; 2]>),
    /// Whether the text fits a pattern that is known.
    Fits(Box<Formula>, Regex),
    /// The second where the first holds, else the third.
    Choice(Box<[Formula; 3]>),
    /// What a function makes of its arguments.
    Call(Routine, Vec<Formula>),
}

/// What is made of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `a or b`, as a number.
    Or,
    /// `a and b`, as a number.
    And,
    /// Whether all of a are among b.
    In,
    /// Whether not all of a are.
    NotIn,
    /// Whether they are equal, after conversion.
    Equal,
    /// Whether they are not.
    Unequal,
    /// Whether a fits the pattern b.
    Fits,
    /// Order of texts or numbers.
    Less,
    /// Likewise.
    LessOrEqual,
    /// Likewise.
    Greater,
    /// Likewise.
    GreaterOrEqual,
    /// Sum, or texts joined.
    Plus,
    /// Difference.
    Minus,
    /// Product.
    Times,
    /// Quotient.
    Over,
    /// What is left of a division, with the sign of a.
    Remainder,
    /// Power.
    Power,
}

/// A function of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// Without its sign.
    Abs,
    /// Rounded up.
    Ceil,
    /// Rounded down.
    Floor,
    /// Natural logarithm.
    Log,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// From 0 up to 1.
    Random,
    /// To the next whole number; halves go up.
    Round,
    /// Square root.
    Sqrt,
}
