//! The body of a request while it is read.

use bytes::Bytes;

/// The part of a request body that was read. Most bodies arrive in one piece, which is not copied.
pub(super) struct BodyBuffer {
    pieces: Pieces,
    /// The length that the client declared. Nothing is reserved for it: the client may send less.
    declared: usize,
}

enum Pieces {
    None,
    One(Bytes),
    Many(Vec<u8>),
}

impl BodyBuffer {
    pub(super) fn new(declared: Option<u64>) -> Self {
        let declared = declared.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
        Self { pieces: Pieces::None, declared }
    }

    pub(super) fn len(&self) -> usize {
        match &self.pieces {
            Pieces::None => 0,
            Pieces::One(bytes) => bytes.len(),
            Pieces::Many(bytes) => bytes.len(),
        }
    }

    pub(super) fn push(&mut self, piece: Bytes) {
        let mut bytes = match std::mem::replace(&mut self.pieces, Pieces::None) {
            Pieces::None => {
                self.pieces = Pieces::One(piece);
                return;
            }
            Pieces::One(first) => {
                let mut bytes = Vec::new();
                self.reserve(&mut bytes, first.len() + piece.len());
                bytes.extend_from_slice(&first);
                bytes
            }
            Pieces::Many(bytes) => bytes,
        };
        self.reserve(&mut bytes, piece.len());
        bytes.extend_from_slice(&piece);
        self.pieces = Pieces::Many(bytes);
    }

    /// Makes room for twice the new length, but not for more than the declared length, unless more
    /// has been read already.
    fn reserve(&self, bytes: &mut Vec<u8>, more: usize) {
        let len = bytes.len() + more;
        if len > bytes.capacity() {
            let doubled = 2 * len;
            let room = if len > self.declared { doubled } else { self.declared.min(doubled) };
            bytes.reserve_exact(room - bytes.len());
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        match self.pieces {
            Pieces::None => Bytes::new(),
            Pieces::One(bytes) => bytes,
            Pieces::Many(mut bytes) => {
                // A call may keep its body for long, and only its length is counted.
                bytes.shrink_to_fit();
                bytes.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: Bytes = Bytes::from_static(&[b'x'; 100]);

    fn capacity(buffer: &BodyBuffer) -> usize {
        match &buffer.pieces {
            Pieces::None => 0,
            Pieces::One(bytes) => bytes.len(),
            Pieces::Many(bytes) => bytes.capacity(),
        }
    }

    #[test]
    fn one_piece_is_not_copied() {
        let mut buffer = BodyBuffer::new(Some(100));
        buffer.push(PIECE);
        assert_eq!(buffer.into_bytes().as_ptr(), PIECE.as_ptr());
    }

    #[test]
    fn no_more_is_reserved_than_the_declared_length() {
        let mut buffer = BodyBuffer::new(Some(900));
        let capacities: Vec<usize> = (0..9)
            .map(|_| {
                buffer.push(PIECE);
                capacity(&buffer)
            })
            .collect();
        assert_eq!(capacities, [100, 400, 400, 400, 900, 900, 900, 900, 900]);
        assert_eq!(buffer.len(), 900);
    }

    #[test]
    fn a_body_of_unknown_or_wrong_length_is_complete() {
        for declared in [None, Some(0), Some(150), Some(u64::MAX)] {
            let mut buffer = BodyBuffer::new(declared);
            let mut capacities = Vec::new();
            for _ in 0..50 {
                buffer.push(PIECE);
                capacities.push(capacity(&buffer));
            }
            capacities.dedup();
            assert!(capacities.len() <= 8, "{declared:?}: copied often: {capacities:?}");
            assert!(capacity(&buffer) <= 2 * 5000, "{declared:?}");
            assert_eq!(buffer.into_bytes(), [b'x'; 5000].as_slice(), "{declared:?}");
        }
    }
}
