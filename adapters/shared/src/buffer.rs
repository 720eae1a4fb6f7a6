//! Room for what is read: little as long as little comes; knows nothing of what it is.

/// A buffer to read into, of 8 KiB at first, that grows up to 256 KiB while reads fill it.
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
    /// The room.
    pub fn space(&mut self) -> &mut [u8] {
        if std::mem::take(&mut self.was_filled) && self.bytes.len() < BYTES_MAX {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes
    }

    /// What was read into it.
    pub fn filled(&mut self, count: usize) -> &[u8] {
        self.was_filled = count == self.bytes.len();
        self.bytes.get(..count).unwrap_or_default()
    }
}
