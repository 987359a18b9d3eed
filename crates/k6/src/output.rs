//! Samples as they happen, in k6's file formats.
