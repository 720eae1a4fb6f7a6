//! A connection driven by tokio: it reads, writes and sleeps; knows nothing of what it carries.

use std::future::{Future, pending};
use std::io;
use std::pin::pin;

use mcp_adapter::{Driving, PIECE_BYTES_MAX, ReadBuffer, Role, Turn};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::turn::turn;

/// Drives a connection to its end.
pub(crate) async fn drive<R: Role>(
    driving: Driving<R>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    tokio::select! {
        biased;
        () = driving.ended() => {}
        () = and_wait(read(&driving, reader)) => {}
        () = and_wait(write(&driving, writer)) => {}
        () = driving.link().keep_time(tokio::time::sleep) => {}
    }
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
                        turn().await;
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
        turn().await;
    }
}

async fn write<R: Role>(driving: &Driving<R>, writer: impl AsyncWrite) {
    let mut chunk = Vec::new();
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
        }
        let _gone = writer.shutdown().await;
    }
    driving.link().written();
}
