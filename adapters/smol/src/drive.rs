//! A connection driven by async-io: it reads, writes and sleeps; knows nothing of what it carries.

use std::future::{Future, pending};
use std::io;
use std::pin::pin;

use async_io::Timer;
use mcp_adapter::{Driving, PIECE_BYTES_MAX, ReadBuffer, Role, Turn};
use smol::future::{or, yield_now};
use smol::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Drives a connection to its end.
///
/// A stream of async-io that is always ready never lets go by itself, so reading and writing do, turn by turn: a peer
/// that floods must not stop the time.
pub(crate) async fn drive<R: Role>(
    driving: Driving<R>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    let carry = or(and_wait(read(&driving, reader)), and_wait(write(&driving, writer)));
    or(driving.ended(), or(carry, driving.link().keep_time(Timer::after))).await;
}

async fn and_wait(future: impl Future<Output = ()>) {
    future.await;
    pending::<()>().await;
}

async fn read<R: Role>(driving: &Driving<R>, reader: impl AsyncRead) {
    let (mut reader, mut buffer) = (pin!(reader), ReadBuffer::default());
    let mut mine = Turn::default();
    while driving.link().wants_input().await {
        match reader.read(buffer.space()).await {
            Ok(count) if count > 0 => {
                for piece in buffer.filled(count).chunks(PIECE_BYTES_MAX) {
                    driving.link().handle_input(piece);
                    if mine.is_over(piece) {
                        yield_now().await;
                    }
                }
            }
            // A stream that cannot be read has ended.
            Ok(_) | Err(_) => {
                driving.link().handle_eof();
                break;
            }
        }
    }
    while driving.reads_on() && matches!(reader.read(buffer.space()).await, Ok(1..)) {
        yield_now().await;
    }
}

async fn write<R: Role>(driving: &Driving<R>, writer: impl AsyncWrite) {
    let (mut chunk, mut mine) = (Vec::new(), Turn::default());
    {
        let mut writer = pin!(writer);
        while driving.link().next_output(&mut chunk).await {
            let sent: io::Result<()> = async {
                writer.write_all(&chunk).await?;
                writer.flush().await
            }
            .await;
            if sent.is_err() {
                // Whoever does not take bytes any more is gone.
                driving.link().lost_reader().await;
                break;
            }
            if mine.is_over(&chunk) {
                yield_now().await;
            }
        }
        let _gone = writer.close().await;
    }
    driving.link().written();
}
