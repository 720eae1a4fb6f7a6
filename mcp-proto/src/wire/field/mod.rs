//! Field values.
