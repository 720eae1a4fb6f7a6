//! Serves HTTP/2 on an accepted connection, within the limits of the server.

use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use hyper::rt::{Read, Write};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;

use super::frame_guard::FrameGuard;
use super::preface::{PREFACE, Prefixed};
use super::stream_body::StreamBody;
use super::stream_tasks::StreamTasks;
use crate::box_future::BoxFuture;
use crate::http::server::budget::{PeerAddress, Rejection};
use crate::http::server::service::HttpService;
use crate::http::server::sockets::{OpenSocket, SocketEnd};

/// The times that limit a connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct ConnectionTimes {
    /// How long the head of a request may take.
    pub(in crate::http) head: Duration,
    /// How long the connection stays open without a request in flight.
    pub(in crate::http) idle: Duration,
    /// How long its last requests may take once it must end.
    pub(in crate::http) drain: Duration,
}

/// Serves HTTP/2 until the connection ends; returns why it failed.
///
/// `refuse` builds the response to requests that exceed a limit.
pub(in crate::http) async fn drive<I>(
    io: Prefixed<I>,
    service: &HttpService,
    socket: &OpenSocket,
    address: Option<PeerAddress>,
    times: ConnectionTimes,
    refuse: fn(Rejection) -> mcp_proto::http::Refusal,
) -> Option<hyper::Error>
where
    I: Read + Write + Unpin,
{
    let runtime = Arc::clone(service.runtime());
    let sleep = |duration| runtime.sleep(duration);
    let stats = service.stats();
    let on_stall = move || stats.count_stall();
    let tasks = StreamTasks::new(Arc::clone(&runtime), service.stall_timeout(), on_stall);
    let streams_max = service.http2_streams_max();
    let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let progress = tasks.begin();
        let begun = match socket.rejection {
            Some(rejection) => Err(rejection),
            None => socket.begin_stream(streams_max as usize),
        };
        // Boxed: inline it would enlarge event streams, which need it only at their start.
        let (in_flight, response): (_, BoxFuture<'static, _>) = match begun {
            Ok(in_flight) => (Some(in_flight), Box::pin(service.respond_to(address, request))),
            Err(rejection) => (None, Box::pin(ready(service.refuse(refuse(rejection))))),
        };
        async move {
            let mut response = response.await;
            if let Some(mut in_flight) = in_flight {
                if response.body().is_listening() {
                    in_flight.release_place();
                }
                response.body_mut().keep_busy(in_flight);
            }
            Ok::<_, Infallible>(response.map(|body| StreamBody::new(body, progress)))
        }
    });
    let mut builder = Builder::new(tasks.clone());
    builder
        .max_concurrent_streams(streams_max)
        .max_header_list_size(HEADER_LIST_BYTES_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .max_local_error_reset_streams(LOCAL_RESETS_MAX);
    let io = FrameGuard::new(io, PREFACE.len(), times.head, sleep);
    let mut connection = pin!(builder.serve_connection(io, answer));
    let ended = async { Some(connection.as_mut().await.err()) };
    let stopped = async {
        or(socket.ends(SocketEnd::Graceful), socket.idle_for(times.idle, sleep)).await;
        None
    };
    if let Some(failure) = or(ended, stopped).await {
        return failure;
    }
    connection.as_mut().graceful_shutdown();
    // The client may have sent requests before it learned of the end. They are answered, and what
    // is left after them is a response that the client does not read.
    let ended = async { Some(connection.as_mut().await.err()) };
    let drained = async {
        let requested = async {
            socket.ends(SocketEnd::Graceful).await;
            sleep(times.drain).await;
        };
        or(requested, socket.idle_for(times.idle + times.drain, sleep)).await;
        None
    };
    let aborted = async {
        socket.ends(SocketEnd::Abort).await;
        None
    };
    or(or(ended, aborted), drained).await.flatten()
}

/// The maximum size of the headers of a request, as HTTP/2 counts it.
const HEADER_LIST_BYTES_MAX: u32 = 64 << 10;

/// The bytes of a body that a client may send before the server has read any.
const STREAM_WINDOW: u32 = 64 << 10;

/// The bytes of all bodies of a connection that a client may send before the server has read any.
pub(in crate::http) const CONNECTION_WINDOW: u32 = 256 << 10;

/// The bytes of a response that wait for the client, beside one piece.
const SEND_BUFFER_BYTES: usize = 64 << 10;

/// The streams that a client may reset before the server has begun to handle them.
const PENDING_RESETS_MAX: usize = 20;

/// The streams that the server may have to reset because of errors of the client.
const LOCAL_RESETS_MAX: usize = 256;
