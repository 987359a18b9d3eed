//! Numbers in the JSON we write, as JavaScript writes them.

use serde_json::{Number, Value};

pub(crate) use sonagi_measure::expression::number_text as number;

/// A number as a value, without a fraction when it is whole: scripts and programs that read it expect `1`, not `1.0`.
/// What JSON has no number for is null.
pub(crate) fn value(number: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= WHOLE {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        for (number_, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (166666666666666850000.0, "166666666666666850000"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(number(number_), text);
        }
        assert_eq!(value(3.0).to_string(), "3");
        assert_eq!(value(3.25).to_string(), "3.25");
        assert_eq!(value(f64::NAN), Value::Null);
    }
}
