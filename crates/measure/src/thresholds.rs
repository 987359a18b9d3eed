//! `ensure:` thresholds: expressions over summary names, e.g. `http.response_time.p95 < 200`, `delivery.ratio >= 0.999`.

/// One threshold as written.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Threshold { /** As in the script, e.g. `http.response_time.p99 < 250 and vusers.failed == 0`. */ pub expression: String, /** A failed strict threshold makes the run fail (exit code 1). */ pub strict: bool }
/// What it came to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Judged { pub expression: String, pub strict: bool, pub held: bool, /** The values it saw, e.g. `http.response_time.p99 = 312.4`. */ pub evidence: String }
/// Checks the form (names are known only at run time, except obviously misspelt ones).
pub fn parse(expression: &str) -> Result<(), ParseError> { let _ = expression; todo!() }
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what}")]
pub struct ParseError { pub what: String, /** Byte offset in the expression. */ pub offset: usize, pub hint: Option<String> }
