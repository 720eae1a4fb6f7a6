//! What a machine asks the head of a message: the values of a field; knows nothing of HTTP libraries.

/// The header fields of a request or a response.
pub trait Fields {
    /// The value of the field `name`, which is in lower case: of those that the head has, the one number `nth`.
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]>;
}
