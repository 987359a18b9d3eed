//! The work of the hot paths as named workloads, measured two ways: in instructions, which a busy machine does not
//! change (`make counts`), and in time (`cargo bench -p sonagi-counts`).
//!
//! Not a benchmark against others, and no figure for a manual: instructions are not time. Their use is that a change of a
//! few per cent shows on any machine, in the commit that made it. The decision to question is that every workload goes
//! through a public interface, users included (`artillery::simulation`): what is counted is what is shipped.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod count;
pub mod table;
pub mod workload;
