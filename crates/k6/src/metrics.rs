//! What is measured: metrics, the tags of samples, and what thresholds make of them.
