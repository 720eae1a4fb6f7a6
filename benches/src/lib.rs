//! The cases that are measured: what is done, how many messages it is, by whom; knows nothing of
//! how it is measured.

pub mod corpus;
mod floors;
#[cfg(feature = "compare")]
pub mod http;
pub mod ours;
#[cfg(feature = "compare")]
pub mod theirs;

/// Who does the work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// The least that anyone must do.
    Floor,
    /// `mcp-proto`.
    Ours,
    /// The official SDK.
    Rmcp,
}

/// Work that is ready to be done, once.
pub type Work = Box<dyn FnMut()>;

/// One thing to measure.
pub struct Case {
    /// What is done. Cases of the same name do the same, each in its own way.
    pub name: &'static str,
    /// Who does it.
    pub by: By,
    /// How many messages it is, or how many times something is done.
    pub count: u64,
    /// Gets all ready.
    pub prepare: fn() -> Work,
}

impl Case {
    const fn new(name: &'static str, by: By, count: u64, prepare: fn() -> Work) -> Self {
        Self { name, by, count, prepare }
    }

    /// `ours: decode call` and the like.
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

/// All cases, in the order of the table.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = floors::cases();
    cases.extend(ours::cases());
    #[cfg(feature = "compare")]
    cases.extend(theirs::cases());
    cases
}
