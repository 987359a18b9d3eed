//! What scripts see of modules; k6 was asked where its answer is not obvious.

mod execution;
mod metrics;
