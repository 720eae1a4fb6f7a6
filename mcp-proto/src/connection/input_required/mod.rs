//! Input-required results: how a client gathers the input that a call needs.

pub(crate) mod round;
