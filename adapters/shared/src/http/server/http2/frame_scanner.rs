//! Follows the frames of an HTTP/2 connection: finds heads that are never completed, and counts
//! control frames.

/// The length of the head of a frame.
const FRAME_HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// The place in the frames of a connection that was read up to now.
#[derive(Debug)]
pub(super) struct FrameScanner {
    head: [u8; FRAME_HEAD],
    /// The bytes of `head` that were read.
    head_bytes: usize,
    /// The bytes of the payload that are still to be read.
    payload: usize,
    is_data: bool,
    /// The headers of a request continue in the next frame.
    is_block_open: bool,
    /// The number of times that no head was in progress.
    completed: u64,
    /// The heads of requests since the counts were taken.
    requests: usize,
    /// The other frames that carry no body, or little of it, since the counts were taken.
    control: usize,
}

/// A frame with less of a body costs more than its bytes.
const BODY_BYTES_MIN: usize = 32;

impl FrameScanner {
    /// Creates a scanner of a connection that starts with `preface` other bytes.
    pub(super) const fn new(preface: usize) -> Self {
        Self {
            head: [0; FRAME_HEAD],
            head_bytes: 0,
            payload: preface,
            is_data: true,
            is_block_open: false,
            completed: 0,
            requests: 0,
            control: 0,
        }
    }

    /// Returns whether the head of a request, or of a frame, has begun and not ended.
    ///
    /// Bodies are not heads: the service limits how long they take.
    pub(super) const fn is_within_head(&self) -> bool {
        self.head_bytes > 0 || self.is_block_open || (self.payload > 0 && !self.is_data)
    }

    /// Returns a number that changes whenever a head was completed.
    pub(super) const fn completed(&self) -> u64 {
        self.completed
    }

    /// Returns the numbers of heads of requests and of control frames since the last call.
    pub(super) const fn take_counts(&mut self) -> (usize, usize) {
        let counts = (self.requests, self.control);
        (self.requests, self.control) = (0, 0);
        counts
    }

    /// Follows bytes that were read.
    pub(super) fn scan(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.payload > 0 {
                let count = self.payload.min(bytes.len());
                self.payload -= count;
                bytes = bytes.get(count..).unwrap_or_default();
            } else {
                let count = (FRAME_HEAD - self.head_bytes).min(bytes.len());
                let (head, rest) = bytes.split_at(count);
                if let Some(room) = self.head.get_mut(self.head_bytes..self.head_bytes + count) {
                    room.copy_from_slice(head);
                }
                self.head_bytes += count;
                bytes = rest;
                if self.head_bytes == FRAME_HEAD {
                    self.begin_payload();
                }
            }
            if !self.is_within_head() {
                self.completed += 1;
            }
        }
    }

    fn begin_payload(&mut self) {
        let [high, middle, low, kind, flags, ..] = self.head;
        self.head_bytes = 0;
        self.payload = u32::from_be_bytes([0, high, middle, low]) as usize;
        self.is_data = kind == DATA;
        match kind {
            HEADERS => self.requests += 1,
            DATA if self.payload >= BODY_BYTES_MIN => {}
            _ => self.control += 1,
        }
        if matches!(kind, HEADERS | CONTINUATION) {
            self.is_block_open = flags & END_HEADERS == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![0, (payload >> 8) as u8, payload as u8, kind, flags, 0, 0, 0, 1];
        frame.resize(FRAME_HEAD + payload, b'x');
        frame
    }

    #[test]
    fn a_head_is_in_progress_until_its_last_byte() {
        let frames = [frame(HEADERS, 0, 300), frame(CONTINUATION, END_HEADERS, 5)].concat();
        for piece in [1, 7, 4096] {
            let mut scanner = FrameScanner::new(3);
            scanner.scan(b"PRI");
            assert!(!scanner.is_within_head());
            let (last, first) = frames.split_last().unwrap();
            for bytes in first.chunks(piece) {
                scanner.scan(bytes);
                assert!(scanner.is_within_head());
            }
            let before = scanner.completed();
            scanner.scan(&[*last]);
            assert!(!scanner.is_within_head() && scanner.completed() > before);
        }
    }

    #[test]
    fn frames_without_a_body_are_control_frames() {
        let mut scanner = FrameScanner::new(0);
        scanner.scan(&[frame(HEADERS, END_HEADERS, 30), frame(DATA, 0, 4096)].concat());
        assert_eq!(scanner.take_counts(), (1, 0));
        let kinds = [DATA, 2, 3, 4, 5, 6, 7, 8, CONTINUATION, 0x2A];
        let frames = kinds.map(|kind| frame(kind, 0, 8));
        scanner.scan(&frames.concat());
        assert_eq!(scanner.take_counts(), (0, kinds.len()));
        scanner.scan(&frame(DATA, 1, 0));
        assert_eq!((scanner.take_counts(), scanner.take_counts()), ((0, 1), (0, 0)));
    }

    #[test]
    fn bodies_are_no_heads_and_heads_of_frames_are() {
        let mut scanner = FrameScanner::new(0);
        let data = frame(DATA, 0, 100);
        scanner.scan(&data[..4]);
        assert!(scanner.is_within_head());
        scanner.scan(&data[4..50]);
        assert!(!scanner.is_within_head());
        scanner.scan(&[&data[50..], &frame(6, 0, 8)[..10]].concat());
        assert!(scanner.is_within_head(), "a ping whose payload is missing");
    }
}
