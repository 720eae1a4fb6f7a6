//! The byte order mark, with which some clients and servers begin the body of a message.

use bytes::Buf as _;

use crate::json::Frame;
use crate::rpc::IncomingMessage;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Returns the message without the byte order mark at its beginning, if there is one.
pub(super) fn skip(message: IncomingMessage<'_>) -> IncomingMessage<'_> {
    match message {
        IncomingMessage::Borrowed(bytes) => {
            IncomingMessage::Borrowed(bytes.strip_prefix(BOM).unwrap_or(bytes))
        }
        IncomingMessage::Owned(mut bytes) => {
            if bytes.starts_with(BOM) {
                bytes.advance(BOM.len());
            }
            IncomingMessage::Owned(bytes)
        }
    }
}

/// Like [`skip`], for a message that is to be parsed.
pub(super) fn skip_in(frame: Frame<'_>) -> Frame<'_> {
    frame.bytes().strip_prefix(BOM).map_or(frame, Frame::Borrowed)
}
