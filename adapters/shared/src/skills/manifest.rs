//! [`SkillManifest`]: a skill as a server lists it, and the verification of its files.

use std::collections::BTreeSet;

use mcp_proto::schema::{ReadResourceResult, ResourceContents};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::error::{SkillError, SkillFault};
use super::frontmatter::{difference, parse};

/// The maximum number of files of a skill.
pub const FILES_MAX: usize = 512;

/// The maximum size of all files of a skill together: 16 MiB.
pub const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A skill as a server lists it: what it is for, and all of its files.
///
/// The URI identifies the skill on its server only, and names are not unique. If a user approves a
/// skill, the approval ends when `resources` change. See [`skills`](super) for an example.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SkillManifest {
    /// The URI of `SKILL.md`.
    pub uri: String,
    /// The frontmatter of `SKILL.md`, with `name` and `description`.
    pub frontmatter: Map<String, Value>,
    /// The files.
    pub resources: SkillFiles,
}

/// The files of a skill, as its manifest lists them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum SkillFiles {
    /// The files are generated. They cannot be verified, and the skill cannot be loaded.
    #[serde(rename = "dynamic")]
    Dynamic,
    /// All files.
    #[serde(untagged)]
    Listed(Vec<SkillFile>),
}

/// A file of a skill.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SkillFile {
    /// The URI, for `resources/read`.
    pub uri: String,
    /// The digest of the bytes: `sha256:` and 64 lower-case hexadecimal digits.
    pub digest: String,
    /// The number of bytes.
    pub size: u64,
}

impl SkillManifest {
    /// Returns the name of the skill, which is the last directory of its URI.
    #[must_use]
    pub fn name(&self) -> &str {
        self.frontmatter.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Checks that the skill can be loaded.
    ///
    /// # Errors
    /// Fails if the manifest is invalid, is [`Dynamic`](SkillFiles::Dynamic), or exceeds
    /// [`FILES_MAX`] or [`BYTES_MAX`].
    pub fn check(&self) -> Result<(), SkillError> {
        self.check_members().map_err(|why| self.error(SkillFault::Invalid(why)))
    }

    fn check_members(&self) -> Result<(), String> {
        let root = self.uri.strip_suffix("/SKILL.md").filter(|root| root.contains("://"));
        let name = root.and_then(|root| root.rsplit('/').next()).unwrap_or_default();
        if name != self.name() || !is_skill_name(name) {
            return Err(format!("its URI must end in its name and `SKILL.md`, not {name:?}"));
        }
        if self.frontmatter.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err("its frontmatter lacks a `description`".to_owned());
        }
        if self.resources == SkillFiles::Dynamic {
            return Err("its files are dynamic and cannot be verified".to_owned());
        }
        let files = self.files();
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if files.len() > FILES_MAX || bytes > BYTES_MAX {
            let count = files.len();
            return Err(format!(
                "{count} files of {bytes} bytes exceed the limit of {FILES_MAX} or {BYTES_MAX}"
            ));
        }
        let mut seen = BTreeSet::new();
        for SkillFile { uri, digest, .. } in files {
            if !self.path(uri).is_some_and(is_path) || !seen.insert(uri) {
                return Err(format!("{uri:?} is no file in its directory, or listed twice"));
            }
            let hex = digest.strip_prefix("sha256:").unwrap_or_default();
            if hex.len() != 64 || hex.bytes().any(|it| !matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(format!("{digest:?} is no SHA-256 digest"));
            }
        }
        seen.contains(&self.uri).then_some(()).ok_or_else(|| "it lacks `SKILL.md`".to_owned())
    }

    /// Returns the file to which a relative reference in `SKILL.md` leads.
    ///
    /// # Errors
    /// Fails if the reference does not lead to a listed file.
    pub fn resolve(&self, reference: &str) -> Result<&SkillFile, SkillError> {
        let unlisted = || self.error(SkillFault::Unlisted(reference.to_owned()));
        let mut path = Vec::new();
        for segment in reference.split('/').filter(|segment| *segment != ".") {
            if segment == ".." {
                path.pop().ok_or_else(unlisted)?;
            } else {
                path.push(segment);
            }
        }
        let path = path.join("/");
        let mut files = self.files().iter();
        files.find(|file| self.path(&file.uri) == Some(&path)).ok_or_else(unlisted)
    }

    /// Returns the text of `SKILL.md`, verified, from the result of reading [`uri`](Self::uri).
    ///
    /// # Errors
    /// Fails if [`check`](Self::check) or [`verify`](Self::verify) does, or if the frontmatter
    /// differs from that of the manifest. The skill must not be loaded then.
    pub fn load(&self, result: &ReadResourceResult) -> Result<String, SkillError> {
        self.check()?;
        let bytes = self.verify(&self.uri, result)?;
        let found = parse(&bytes).map_err(|why| self.error(SkillFault::Invalid(why)))?;
        if let Some(field) = difference(&self.frontmatter, &found) {
            let of = |all: &Map<String, Value>| {
                all.get(field).map_or_else(|| "absent".to_owned(), Value::to_string)
            };
            return Err(self.changed(&self.uri, field, of(&self.frontmatter), of(&found)));
        }
        // The bytes are UTF-8: otherwise, they have no frontmatter.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the bytes of a file, verified, from the result of reading `uri`.
    ///
    /// # Errors
    /// Fails if the manifest does not list the file, or if its size or digest differs.
    pub fn verify(&self, uri: &str, result: &ReadResourceResult) -> Result<Vec<u8>, SkillError> {
        let listed = self.files().iter().find(|file| file.uri == uri);
        let listed = listed.ok_or_else(|| self.error(SkillFault::Unlisted(uri.to_owned())))?;
        let contents = result.contents.iter().find(|contents| contents.uri() == uri);
        let bytes = contents.and_then(|contents| match contents {
            ResourceContents::Text(text) => Some(text.text.as_bytes().to_vec()),
            ResourceContents::Blob(blob) => blob.to_bytes(),
            _ => None,
        });
        let missing = || SkillFault::Invalid(format!("the result has no contents of {uri:?}"));
        let bytes = bytes.ok_or_else(|| self.error(missing()))?;
        if listed.size != bytes.len() as u64 {
            let (expected, found) = (listed.size.to_string(), bytes.len().to_string());
            return Err(self.changed(uri, "size", expected, found));
        }
        let found = digest(&bytes);
        if listed.digest != found {
            return Err(self.changed(uri, "digest", listed.digest.clone(), found));
        }
        Ok(bytes)
    }

    pub(super) fn files(&self) -> &[SkillFile] {
        if let SkillFiles::Listed(files) = &self.resources { files } else { &[] }
    }

    /// Returns the path of a file in the skill's directory.
    pub(super) fn path<'a>(&self, uri: &'a str) -> Option<&'a str> {
        uri.strip_prefix(self.uri.strip_suffix("SKILL.md")?)
    }

    fn changed(&self, file: &str, what: &str, expected: String, found: String) -> SkillError {
        let (file, what) = (file.to_owned(), what.to_owned());
        self.error(SkillFault::Changed { file, what, expected, found })
    }

    fn error(&self, fault: SkillFault) -> SkillError {
        SkillError { skill: self.uri.clone(), fault }
    }
}

/// Returns the digest of a file as a manifest lists it.
pub(super) fn digest(bytes: &[u8]) -> String {
    let hex = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("sha256:{hex}")
}

/// Returns whether a relative path stays in its directory, also when it is decoded.
fn is_path(path: &str) -> bool {
    let lower = path.to_lowercase();
    path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
        && !path.contains(|it: char| it.is_control() || " \\?#".contains(it))
        && !["%0", "%1", "%2e", "%2f", "%5c", "%7f"].iter().any(|it| lower.contains(it))
}

/// Returns whether `name` may be the name of a skill.
fn is_skill_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    name.len() <= 64 && name.split('-').all(is_part)
}
