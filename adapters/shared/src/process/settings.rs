//! What a server on stdin and stdout does to its process.

/// The effects of a server on stdin and stdout on its process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessSettings {
    pub(crate) exits_with_parent: bool,
    pub(crate) redirects_stdin: bool,
    pub(crate) redirects_stdout: bool,
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self { exits_with_parent: true, redirects_stdin: true, redirects_stdout: true }
    }
}
