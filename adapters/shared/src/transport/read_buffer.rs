//! A read buffer that grows while reads fill it.

/// A read buffer that starts at 8 KiB and doubles, up to 256 KiB, while reads fill it.
#[derive(Debug)]
pub struct ReadBuffer {
    bytes: Vec<u8>,
    was_filled: bool,
}

const BYTES_MIN: usize = 8 * 1024;
const BYTES_MAX: usize = 256 * 1024;

impl Default for ReadBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; BYTES_MIN], was_filled: false }
    }
}

impl ReadBuffer {
    /// Returns the space to read into. If the last read filled the space, doubles it first.
    pub fn space(&mut self) -> &mut [u8] {
        if std::mem::take(&mut self.was_filled) && self.bytes.len() < BYTES_MAX {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes
    }

    /// Returns the first `count` bytes; `count` must be the length of the last read.
    pub fn filled(&mut self, count: usize) -> &[u8] {
        self.was_filled = count == self.bytes.len();
        self.bytes.get(..count).unwrap_or_default()
    }
}
