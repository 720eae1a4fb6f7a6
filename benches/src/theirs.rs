//! The cases of the official SDK: its codec and types for decoding and encoding, its client and
//! server over a pipe in memory.

use std::hint::black_box;

use bytes::BytesMut;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest, ContentBlock,
    ErrorData, ProgressNotification, ProgressNotificationParam, ProgressToken, Request, RequestId,
    ServerCapabilities, ServerConfig, ServerNotification, ServerResult,
};
use rmcp::service::{RequestContext, RunningService, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use rmcp::{RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};
use tokio_util::codec::{Decoder, Encoder};

use crate::corpus::{self, CHUNK_BYTES, FIRST_ID, MIXED_MESSAGES};
use crate::{By, Case, Work};

type ToServer = RxJsonRpcMessage<RoleServer>;
type ToClient = RxJsonRpcMessage<RoleClient>;

pub(crate) fn cases() -> Vec<Case> {
    let rmcp = |name, count, prepare| Case::new(name, By::Rmcp, count, prepare);
    vec![
        rmcp("decode mixed", MIXED_MESSAGES, || {
            let mixed = corpus::mixed();
            let mut server = decode::<ToServer>(mixed.to_server);
            let mut client = decode::<ToClient>(mixed.to_client);
            Box::new(move || {
                server();
                client();
            })
        }),
        rmcp("decode ping", 1000, || decode::<ToServer>(corpus::lines(1, 1000, corpus::ping))),
        rmcp("decode progress", 1000, || {
            decode::<ToClient>(corpus::lines(1, 1000, |step| corpus::progress(FIRST_ID, step)))
        }),
        rmcp("decode cancelled", 1000, || {
            decode::<ToServer>(corpus::lines(1, 1000, corpus::cancelled))
        }),
        rmcp("decode call", 1000, || decode::<ToServer>(corpus::lines(1, 1000, corpus::call))),
        rmcp("decode result", 1000, || decode::<ToClient>(corpus::lines(1, 1000, corpus::result))),
        rmcp("decode list", 100, || decode::<ToClient>(corpus::lines(1, 100, corpus::list))),
        rmcp("decode text 1 MB", 1, || decode::<ToClient>(corpus::lines(1, 1, corpus::text))),
        rmcp("decode image 10 MB", 1, || decode::<ToClient>(corpus::lines(1, 1, corpus::image))),
        rmcp("decode call, params first", 1000, || {
            decode::<ToServer>(corpus::lines(1, 1000, corpus::call_params_first))
        }),
        rmcp("decode call, byte at a time", 100, || {
            let lines = corpus::lines(1, 100, corpus::call);
            Box::new(move || {
                let (mut codec, mut buffer) =
                    (JsonRpcMessageCodec::<ToServer>::new(), BytesMut::new());
                for byte in &lines {
                    buffer.extend_from_slice(&[*byte]);
                    black_box(codec.decode(&mut buffer).expect("the message decodes"));
                }
            })
        }),
        rmcp("encode call", 1000, || encode(call_message())),
        rmcp("encode result", 1000, || {
            encode(TxJsonRpcMessage::<RoleServer>::response(
                ServerResult::CallToolResult(result()),
                RequestId::Number(1),
            ))
        }),
        rmcp("encode progress", 1000, || {
            let token = ProgressToken(RequestId::Number(2));
            let told = ProgressNotificationParam::new(token, 1.0);
            encode(TxJsonRpcMessage::<RoleServer>::notification(
                ServerNotification::ProgressNotification(ProgressNotification::new(told)),
            ))
        }),
        rmcp("encode unchanged list", 1000, || {
            let list = serde_json::from_str(&corpus::tools()).expect("it is a list");
            encode(TxJsonRpcMessage::<RoleServer>::response(
                ServerResult::ListToolsResult(list),
                RequestId::Number(1),
            ))
        }),
        rmcp("round trip", 100, || {
            let (mut pair, params) = (Pair::new(), params());
            (0..100).for_each(|_| pair.round_trip(&params));
            Box::new(move || (0..100).for_each(|_| pair.round_trip(black_box(&params))))
        }),
    ]
}

fn decode<T: DeserializeOwned + 'static>(bytes: Vec<u8>) -> Work {
    Box::new(move || decode_all::<T>(&bytes))
}

/// Decodes all lines, in chunks of a driver's size.
pub fn decode_all<T: DeserializeOwned>(bytes: &[u8]) {
    let (mut codec, mut buffer) = (JsonRpcMessageCodec::<T>::new(), BytesMut::new());
    for chunk in bytes.chunks(CHUNK_BYTES) {
        buffer.extend_from_slice(chunk);
        while let Some(message) = codec.decode(&mut buffer).expect("the message decodes") {
            black_box(message);
        }
    }
}

fn encode<T: Serialize + Clone + 'static>(message: T) -> Work {
    let mut messages = vec![message; 1000];
    Box::new(move || {
        let (mut codec, mut buffer) =
            (JsonRpcMessageCodec::<T>::new(), BytesMut::with_capacity(64 * 1024));
        for message in messages.drain(..) {
            codec.encode(black_box(message), &mut buffer).expect("the message encodes");
            buffer.clear();
        }
    })
}

/// Returns the params of a typical call.
#[must_use]
pub fn params() -> CallToolRequestParams {
    let arguments = serde_json::from_str(corpus::ARGUMENTS).expect("it is JSON");
    CallToolRequestParams::new("search_code").with_arguments(arguments)
}

/// Returns a typical call as a message.
#[must_use]
pub fn call_message() -> TxJsonRpcMessage<RoleClient> {
    let request = ClientRequest::CallToolRequest(Request::new(params()));
    TxJsonRpcMessage::<RoleClient>::request(request, RequestId::Number(1))
}

fn result() -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(corpus::TEXT)])
}

struct Answers(CallToolResult);

impl ServerHandler for Answers {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        assert!(call.arguments.is_some());
        Ok(self.0.clone().into())
    }
}

/// A client and a server on one thread.
pub struct Pair {
    runtime: Runtime,
    client: RunningService<RoleClient, ()>,
    _server: RunningService<RoleServer, Answers>,
}

impl Pair {
    /// Creates a pair after the handshake.
    #[must_use]
    pub fn new() -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let (here, there) = tokio::io::duplex(64 * 1024);
        let (client, server) = runtime.block_on(async {
            let server = tokio::spawn(Answers(result()).serve(there));
            let client = ().serve(here).await.expect("a client");
            (client, server.await.expect("a task").expect("a server"))
        });
        Self { runtime, client, _server: server }
    }

    /// Makes a call and answers it.
    pub fn round_trip(&mut self, params: &CallToolRequestParams) {
        let result =
            self.runtime.block_on(self.client.call_tool(params.clone())).expect("it was answered");
        assert!(result.is_error != Some(true));
    }
}

impl Default for Pair {
    fn default() -> Self {
        Self::new()
    }
}
