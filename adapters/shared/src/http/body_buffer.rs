//! The body of a request while it is read.

use bytes::Bytes;

/// The part of a request body that was read. Most bodies arrive in one piece, which is not copied.
pub(super) enum BodyBuffer {
    Empty,
    One(Bytes),
    Many(Vec<u8>),
}

impl BodyBuffer {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    pub(super) fn push(&mut self, piece: Bytes) {
        *self = match std::mem::replace(self, Self::Empty) {
            Self::Empty => Self::One(piece),
            Self::One(first) => {
                let mut bytes = Vec::with_capacity(2 * (first.len() + piece.len()));
                bytes.extend_from_slice(&first);
                bytes.extend_from_slice(&piece);
                Self::Many(bytes)
            }
            Self::Many(mut bytes) => {
                bytes.extend_from_slice(&piece);
                Self::Many(bytes)
            }
        };
    }

    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Empty => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Many(mut bytes) => {
                // A call may keep its body for long, and only its length is counted.
                bytes.shrink_to_fit();
                bytes.into()
            }
        }
    }
}
