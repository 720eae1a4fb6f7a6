//! The cases of HTTP requests in a session, without credentials and with an access token.
//!
//! Sockets and the parsing of heads are left out: the client is the machine alone, whose heads are
//! written as text, and the server is the service of mcp-tokio on a runtime of one thread. The
//! token has 500 bytes, and the server compares it with one that it was given.

use std::hint::black_box;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use mcp_proto::client::{Client, Config, Event};
use mcp_proto::http::client::{
    Action, Credentials, Generation, HttpClient, HttpConfig, HttpEvent, HttpMethod, HttpRequest,
};
use mcp_proto::schema::CallTool;
use mcp_proto::{CallOptions, Instant, Raw, Revision, Secret};
use mcp_tokio::http::{FixedTokens, Guard, Http, HttpService, ResponseBody};
use mcp_tokio::{Cx, Server, Tool};
use tokio::runtime::Runtime;

use crate::corpus::{self, FIRST_ID};
use crate::{By, Case, Work, ours};

const NOW: Instant = Instant::ZERO;
const REQUESTS: u64 = 1000;
const JSON: [(&str, &str); 2] =
    [("content-type", "application/json"), ("mcp-session-id", "5f0c6d7e-0a55-4b1c-9a51")];

/// The resource of the server's guard.
const RESOURCE: &str = "http://localhost/mcp";

pub(crate) fn cases() -> Vec<Case> {
    let ours = |name, prepare| Case::new(name, By::Ours, REQUESTS, prepare);
    vec![
        ours("HTTP request, client", || client(false)),
        ours("HTTP request, client, token", || client(true)),
        ours("HTTP request, server", || server(false)),
        ours("HTTP request, server, token", || server(true)),
    ]
}

/// Returns an access token with the length of a short JSON Web Token.
fn token() -> String {
    "eyJhbGciOiJFUzI1NiIs".repeat(25)
}

/// A client in a session.
#[derive(Debug)]
pub struct SessionClient {
    http: HttpClient,
    call: CallTool,
    /// The head of the last request, as a driver would write it.
    head: Vec<u8>,
}

impl SessionClient {
    /// Performs the handshake.
    #[must_use]
    pub fn new(has_token: bool) -> Self {
        let config = Config::new("bench", "1.0.0").revisions(&[Revision::V2025_11_25]);
        let mut http = HttpClient::new(Client::new(NOW, config), HttpConfig::new(7));
        if has_token {
            let authorization = Secret::new(format!("Bearer {}", token()));
            http.authorize(NOW, Credentials::new(Generation::new(1), authorization));
        }
        while let Some(action) = http.poll_action() {
            let Action::Send(request) = action else { continue };
            let is_initialize = request.body.windows(12).any(|text| text == b"\"initialize\"");
            let status = match request.method {
                HttpMethod::Post if is_initialize => 200,
                HttpMethod::Post => 202,
                HttpMethod::Get | HttpMethod::Delete => 405,
            };
            http.handle_head(NOW, request.exchange, status, &JSON);
            if is_initialize {
                http.handle_body(NOW, request.exchange, INITIALIZED);
            }
            http.handle_end(NOW, request.exchange);
        }
        while http.poll_event().is_some() {}
        Self { http, call: ours::call(), head: Vec::with_capacity(4096) }
    }

    /// Calls a tool, writes the head of the request, and takes the response.
    pub fn request(&mut self, response: &[u8]) {
        self.http.call(NOW, &self.call, CallOptions::default()).expect("there is room");
        let Some(Action::Send(request)) = self.http.poll_action() else {
            unreachable!("a call was made")
        };
        self.write_head(&request);
        let exchange = request.exchange;
        self.http.handle_head(NOW, exchange, 200, &JSON);
        self.http.handle_body(NOW, exchange, response);
        self.http.handle_end(NOW, exchange);
        let Some(HttpEvent::Client(Event::Completed { outcome, .. })) = self.http.poll_event()
        else {
            unreachable!("the call was answered")
        };
        black_box(outcome.expect("the call succeeded"));
    }

    fn write_head(&mut self, request: &HttpRequest) {
        self.head.clear();
        let headers = request.headers.iter().map(|(name, value)| (&**name, &**value));
        let authorization = request.authorization.as_ref();
        let authorization = authorization.map(|value| ("authorization", value.expose()));
        for (name, value) in headers.chain(authorization) {
            for part in [name, ": ", value, "\r\n"] {
                self.head.extend_from_slice(part.as_bytes());
            }
        }
        black_box(&self.head);
    }
}

const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
    "capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1.0.0"}}}"#;

fn client(has_token: bool) -> Work {
    let mut client = SessionClient::new(has_token);
    let responses: Vec<String> =
        (FIRST_ID..FIRST_ID + REQUESTS).map(|id| corpus::result(id) + "\n").collect();
    Box::new(move || {
        for response in &responses {
            client.request(black_box(response.as_bytes()));
        }
    })
}

/// A server with one session. With tokens, its tool needs a scope.
#[derive(Debug)]
pub struct SessionServer {
    runtime: Runtime,
    service: HttpService,
    session: String,
    has_token: bool,
}

impl SessionServer {
    /// Performs the handshake.
    #[must_use]
    pub fn new(has_token: bool) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the runtime starts");
        let service = {
            let _runtime = runtime.enter();
            service(has_token)
        };
        let mut server = Self { runtime, service, session: String::new(), has_token };
        let [initialize, initialized] = corpus::HANDSHAKE;
        let response = server.respond(server.post(initialize.to_owned()));
        let session = response.headers().get("mcp-session-id").expect("the session begins");
        server.session = session.to_str().expect("it is ASCII").to_owned();
        assert_eq!(server.respond(server.post(initialized.to_owned())).status(), 202);
        server
    }

    /// Returns a request of the session with this body, as an HTTP library would parse it.
    #[must_use]
    pub fn post(&self, body: String) -> Request<Full<Bytes>> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if !self.session.is_empty() {
            request = request
                .header("mcp-session-id", &self.session)
                .header("mcp-protocol-version", "2025-11-25");
        }
        if self.has_token {
            request = request.header("authorization", format!("Bearer {}", token()));
        }
        request.body(Full::new(body.into())).expect("the head is valid")
    }

    /// Answers a request.
    pub fn respond(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        self.runtime.block_on(async {
            let (parts, body) = self.service.respond(request).await.into_parts();
            Response::from_parts(parts, read(body).await)
        })
    }
}

async fn read(body: ResponseBody) -> Bytes {
    body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes())
}

fn service(has_token: bool) -> HttpService {
    let schema = Raw::from_text(r#"{"type":"object"}"#).expect("it is JSON");
    let handler = |_: Raw, _: Cx| async { corpus::TEXT };
    let mut tool = Tool::new("search_code", handler).description("Searches").input_schema(schema);
    let mut options = Http::new();
    if has_token {
        tool = tool.requires(["code:read"]);
        let guard = Guard::builder(RESOURCE).authorization_server("https://id.example.com").build();
        let guard = guard.expect("the guard is valid");
        let tokens = FixedTokens::new(&guard).token(token(), "ada", ["code:read"]);
        options = options.authorizing(guard, tokens);
    }
    let server = Server::new("bench", "1.0.0").add(tool);
    HttpService::new(&server, options).expect("the server is valid")
}

fn server(has_token: bool) -> Work {
    let server = SessionServer::new(has_token);
    let ids = FIRST_ID..FIRST_ID + REQUESTS;
    let mut requests: Vec<_> = ids.map(|id| server.post(corpus::call(id))).collect();
    Box::new(move || {
        for request in requests.drain(..) {
            let response = server.respond(black_box(request));
            assert!(response.status() == 200 && response.body().len() > 200, "it is answered");
        }
    })
}
