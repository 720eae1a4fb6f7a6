//! [`SkillError`]: why a skill cannot be offered or used.

use std::fmt;

/// Why a skill cannot be offered or used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillError {
    /// The URI of the skill's `SKILL.md`, or of the file that belongs to no skill.
    pub skill: String,
    /// The cause.
    pub fault: SkillFault,
}

/// The cause of a [`SkillError`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SkillFault {
    /// A file is not the one that the manifest describes. The skill may have changed.
    Changed {
        /// The URI of the file.
        file: String,
        /// What differs: `size`, `digest`, or a field of the frontmatter.
        what: String,
        /// The value in the manifest.
        expected: String,
        /// The value of the file.
        found: String,
    },
    /// The manifest, the file or the result is invalid, or exceeds a limit.
    Invalid(String),
    /// The manifest does not list this file.
    Unlisted(String),
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skill {:?}: ", self.skill)?;
        match &self.fault {
            SkillFault::Changed { file, what, expected, found } => {
                write!(f, "`{what}` of {file:?} is {found}, not {expected}; get the skill again")
            }
            SkillFault::Invalid(why) => f.write_str(why),
            SkillFault::Unlisted(file) => write!(f, "{file:?} is not listed; get the skill again"),
        }
    }
}

impl std::error::Error for SkillError {}
