//! Requests that need input before they can be answered, from both ends.

pub(crate) mod round;
