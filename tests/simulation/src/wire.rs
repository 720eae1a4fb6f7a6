//! Splits pieces into lines, and names the kind of a message.

/// The unfinished rest of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Returns the lines that end in a piece.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(part);
            if self.0.pop_if(|byte| *byte == b'\n').is_some() {
                lines.push(String::from_utf8_lossy(&self.0).into_owned());
                self.0.clear();
            }
        }
        lines
    }

    /// Returns the length of the unfinished line.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }
}

/// Returns the kind of a machine's line: a method, a result, an error or a batch.
#[must_use]
pub(crate) fn name_of(line: &str) -> &str {
    if line.starts_with('[') {
        return "batch";
    }
    let method = line.split_once("\"method\":\"").filter(|(head, _)| head.len() < 400);
    let has = |member: &str| line.contains(member);
    let is_answer = has("\"result\":") || has("\"error\":");
    match method.and_then(|(_, rest)| rest.split_once('"')) {
        Some((name, _)) if !is_answer => name,
        _ if has("\"result\":") => "result",
        _ if !has("\"id\":") || has("\"id\":null") => "error-without-id",
        _ => "error",
    }
}
