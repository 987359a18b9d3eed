//! What scripts see of modules; k6 was asked where its answer is not obvious.

mod crypto;
mod data;
mod encoding;
mod execution;
mod experimental;
mod html;
mod jslib;
mod metrics;
