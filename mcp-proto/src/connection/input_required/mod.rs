//! Input-required results: the client's rounds of gathering input.

pub(crate) mod round;
