//! Lines out of pieces, and what kind of message each is; knows no more of JSON than that.

/// What is left of a line that has not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// The lines that end in a piece.
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

    /// How long it is.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }
}

/// What a line of a machine is: a method, a result, an error, a batch.
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
