//! Forwards hyper's `Write` to the socket that a type wraps.

/// Implements `Write` by the field `socket`, whose type is the first parameter. The method
/// `on_written`, if given, is called with the number of bytes of each write.
macro_rules! forward_write {
    ($wrapper:ident<$socket:ident $(, $other:ident)*> $(, $on_written:ident)?) => {
        const _: () = {
            use std::io::{self, IoSlice};
            use std::pin::Pin;
            use std::task::{Context, Poll};

            use hyper::rt::Write;

            impl<$socket: Write + Unpin $(, $other: Unpin)*> Write
                for $wrapper<$socket $(, $other)*>
            {
                fn poll_write(
                    mut self: Pin<&mut Self>,
                    context: &mut Context<'_>,
                    bytes: &[u8],
                ) -> Poll<io::Result<usize>> {
                    let written = Pin::new(&mut self.socket).poll_write(context, bytes);
                    $(if let Poll::Ready(Ok(count)) = &written {
                        self.$on_written(*count);
                    })?
                    written
                }

                fn poll_write_vectored(
                    mut self: Pin<&mut Self>,
                    context: &mut Context<'_>,
                    slices: &[IoSlice<'_>],
                ) -> Poll<io::Result<usize>> {
                    let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
                    $(if let Poll::Ready(Ok(count)) = &written {
                        self.$on_written(*count);
                    })?
                    written
                }

                fn is_write_vectored(&self) -> bool {
                    self.socket.is_write_vectored()
                }

                fn poll_flush(
                    mut self: Pin<&mut Self>,
                    context: &mut Context<'_>,
                ) -> Poll<io::Result<()>> {
                    Pin::new(&mut self.socket).poll_flush(context)
                }

                fn poll_shutdown(
                    mut self: Pin<&mut Self>,
                    context: &mut Context<'_>,
                ) -> Poll<io::Result<()>> {
                    Pin::new(&mut self.socket).poll_shutdown(context)
                }
            }
        };
    };
}

pub(super) use forward_write;
