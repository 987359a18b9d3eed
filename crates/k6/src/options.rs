//! What a test is asked to do: options of all tiers, consolidated and checked.
