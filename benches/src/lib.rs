//! The cases that are measured.

mod adapter;
pub mod corpus;
mod floors;
#[cfg(feature = "compare")]
pub mod http;
pub mod ours;
#[cfg(feature = "http")]
pub mod requests;
#[cfg(feature = "compare")]
pub mod theirs;

/// The implementation of a case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// The minimal work.
    Floor,
    /// `mcp-proto`.
    Ours,
    /// The official SDK.
    Rmcp,
}

/// Prepared work, to be run once.
pub type Work = Box<dyn FnMut()>;

/// One measurement.
pub struct Case {
    /// The operation. Cases of one name perform equal operations in different implementations.
    pub name: &'static str,
    /// The implementation.
    pub by: By,
    /// The number of messages or repetitions.
    pub count: u64,
    /// Prepares the work.
    pub prepare: fn() -> Work,
}

impl Case {
    const fn new(name: &'static str, by: By, count: u64, prepare: fn() -> Work) -> Self {
        Self { name, by, count, prepare }
    }

    /// Returns the key, such as `ours: decode call`.
    #[must_use]
    pub fn key(&self) -> String {
        let by = match self.by {
            By::Floor => "floor",
            By::Ours => "ours",
            By::Rmcp => "rmcp",
        };
        format!("{by}: {}", self.name)
    }
}

/// Returns all cases, in the order of the table.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = floors::cases();
    cases.extend(ours::cases());
    cases.extend(adapter::cases());
    #[cfg(feature = "http")]
    cases.extend(requests::cases());
    #[cfg(feature = "compare")]
    cases.extend(theirs::cases());
    cases
}
