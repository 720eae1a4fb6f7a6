//! Extensions of the protocol: their requests, notifications and subscriptions in both roles.

use mcp_adapter::proto::schema::{
    ClientRequest, Decode, DecodeError, Encode, JsonReader, ListTools, ListToolsResult, Serialized,
    ServerRequest,
};
use mcp_adapter::proto::{
    Extension, ExtensionMethod, Filter, Misuse, Raw, Revision, Side, Unencodable, code,
};
use mcp_adapter::{
    Client, Cx, Error, HandlerError, MethodHandler, Server, SubscriptionSettings, Tool,
};
use mcp_adapter_tests::{Runtime, client, pair, refusal, rows, server, socket_pair, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use smol::channel::unbounded;

rows! {
    requests_of_an_extension_are_served,
    a_peer_without_the_extension_is_refused,
    invalid_params_and_failures_are_errors,
    servers_send_requests_in_sessions,
    notifications_pass_both_ways,
    subscribers_of_an_element_are_notified,
    the_application_decides_about_elements,
    invalid_extensions_and_handlers_are_refused,
    requests_outside_of_extensions_are_served_to_all,
}

const ID: &str = "com.example/whiteboard";
const DRAWN: &str = "notifications/com.example/drawn";
const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Returns the extension of the tests, as another crate would define it.
fn whiteboard() -> Extension {
    Extension::new(ID)
        .settings(json!({"colors": 8}))
        .method(ExtensionMethod::request(Side::Client, Draw::METHOD).named_by("board"))
        .method(ExtensionMethod::request(Side::Server, Confirm::METHOD))
        .method(ExtensionMethod::notification(Side::Server, DRAWN).of_both_sides())
        .result_type(Draw::METHOD, "sketch")
        .listen_key("boards")
}

#[derive(Deserialize, Serialize)]
struct Draw {
    board: String,
}

impl ClientRequest for Draw {
    const METHOD: &'static str = "com.example/draw";
    type Result = Serialized<Drawing>;
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Drawing {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<String>,
    shapes: u32,
}

#[derive(Deserialize, Serialize)]
struct Confirm {
    text: String,
}

impl ServerRequest for Confirm {
    const METHOD: &'static str = "com.example/confirm";
    type Result = Raw;
}

macro_rules! by_serde {
    ($($type:ty),*) => {$(
        impl Decode for $type {
            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                Ok(Serialized::read(reader)?.0)
            }
        }

        impl Encode for $type {
            fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
                Serialized(self).encode(revision, out)
            }
        }
    )*};
}

by_serde!(Draw, Confirm);

fn draw(board: &str) -> Draw {
    Draw { board: board.to_owned() }
}

fn sketch(shapes: u32) -> Serialized<Drawing> {
    Serialized(Drawing { result_type: Some("sketch".to_owned()), shapes })
}

fn drawing_server() -> Server {
    server().extension(whiteboard()).add(MethodHandler::new(|draw: Draw, cx: Cx| {
        let colors = cx.peer().extension(ID).map(|settings| settings.to_string());
        if colors.as_deref() != Some(r#"{"colors":8}"#) || draw.board.is_empty() {
            return Err(HandlerError::failed("no board"));
        }
        Ok(sketch(u32::try_from(draw.board.len()).unwrap_or_default()))
    }))
}

fn drawing_client(revision: Revision) -> Client {
    client().revisions(&[revision]).extension(whiteboard())
}

async fn requests_of_an_extension_are_served<R: Runtime>() {
    for revision in ERAS {
        let served_async =
            server().extension(whiteboard()).add(MethodHandler::new(async |draw: Draw, cx: Cx| {
                cx.sleep(std::time::Duration::from_millis(1)).await;
                sketch(u32::try_from(draw.board.len()).unwrap_or_default())
            }));
        for server in [drawing_server(), served_async] {
            let (connection, _serving) = pair::<R>(drawing_client(revision), server).await;
            let settings = connection.peer().extension(ID).unwrap();
            assert_eq!(settings.as_str(), r#"{"colors":8}"#);
            let Serialized(drawing) = connection.call(draw("b12")).await.unwrap();
            assert_eq!(drawing.shapes, 3, "{revision}");
            assert_eq!(drawing.result_type.as_deref(), Some("sketch"), "{revision}");
        }
    }
}

// LIF-34
async fn a_peer_without_the_extension_is_refused<R: Runtime>() {
    for revision in ERAS {
        // The server lacks it: refused without sending.
        let (connection, _serving) = pair::<R>(drawing_client(revision), server()).await;
        assert!(connection.peer().extension(ID).is_none());
        let refused = connection.call(draw("b1")).await;
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Undeclared))), "{revision}");
        let refused = connection.notify_raw(DRAWN, None).await;
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Undeclared))), "{refused:?}");

        // The client lacks it: the server names what is required.
        let (connection, _serving) =
            pair::<R>(client().revisions(&[revision]), drawing_server()).await;
        let refused = connection.call_raw(Draw::METHOD, json!({"board": "b1"})).await;
        let error = refusal(refused);
        // The code is defined since 2026-07-28.
        let is_modern = revision == Revision::V2026_07_28;
        let wanted = if is_modern { code::MISSING_CLIENT_CAPABILITY } else { code::INTERNAL_ERROR };
        assert_eq!(error.code, wanted, "{revision}");
        assert!(error.data.unwrap().as_str().contains(ID));
    }
}

async fn invalid_params_and_failures_are_errors<R: Runtime>() {
    for revision in ERAS {
        let (connection, _serving) = pair::<R>(drawing_client(revision), drawing_server()).await;
        for (params, wanted) in [
            (json!({"board": 1}), code::INVALID_PARAMS),
            (json!({"board": ""}), code::INTERNAL_ERROR),
        ] {
            let failed = connection.call_raw(Draw::METHOD, params).await;
            let error = refusal(failed);
            assert_eq!(error.code, wanted, "{error:?}");
        }
    }
}

async fn servers_send_requests_in_sessions<R: Runtime>() {
    let asking = || {
        server().extension(whiteboard()).add(Tool::define(tool("ask"), |cx: Cx| {
            let answer = cx.client().request(Confirm { text: "really?".to_owned() }).wait();
            Ok(answer.map_or_else(|error| error.to_string(), |answer| answer.to_string()))
        }))
    };
    let confirming = |revision| {
        drawing_client(revision)
            .method(|confirm: Confirm| Raw::from(json!({"confirmed": confirm.text})))
    };
    let by_future = client()
        .revisions(&Revision::LEGACY)
        .extension(whiteboard())
        .method(async |confirm: Confirm| Raw::from(json!({"confirmed": confirm.text})));
    for client in [confirming(Revision::V2025_11_25), by_future] {
        let (connection, _serving) = pair::<R>(client, asking()).await;
        let result = connection.call_tool("ask", &()).await.unwrap();
        assert_eq!(result.content[0].as_text(), Some(r#"{"confirmed":"really?"}"#));
    }
    let modern = confirming(Revision::V2026_07_28);
    let (connection, _serving) = pair::<R>(modern, asking()).await;
    let result = connection.call_tool("ask", &()).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some(&*Misuse::Unsupported.to_string()));
}

async fn notifications_pass_both_ways<R: Runtime>() {
    let (says, received) = unbounded();
    let server_says = says.clone();
    let server = server().extension(whiteboard()).on_notification(move |method, params, client| {
        let _full = server_says.try_send(format!("server {method} {}", params.unwrap()));
        client.notify_raw(method, params.map(|params| params as _)).unwrap();
    });
    let client = drawing_client(Revision::V2025_11_25).on_notification(move |method, params, _| {
        let _full = says.try_send(format!("client {method} {}", params.unwrap()));
    });
    let (connection, _serving) = pair::<R>(client, server).await;
    connection.notify_raw(DRAWN, Some(&json!({"board": "b1"}))).await.unwrap();
    for side in ["server", "client"] {
        let wanted = format!(r#"{side} {DRAWN} {{"board":"b1"}}"#);
        assert_eq!(received.recv().await.unwrap(), wanted);
    }
}

// STL-29
async fn subscribers_of_an_element_are_notified<R: Runtime>() {
    for revision in ERAS {
        let (says, received) = unbounded();
        let mut server = drawing_server();
        let changes = server.changes();
        let client = drawing_client(revision).on_notification(move |method, params, _| {
            let board = params.and_then(|params| params.member("board"));
            says.try_send(format!("{method} {}", board.unwrap())).unwrap();
        });
        let (connection, _serving) = pair::<R>(client, server).await;
        let filter = Filter::new().element("boards", "b1").element("boards", "b2");
        let listening = connection.subscribe(&filter).await.unwrap();
        // Sessions have no subscriptions to elements: their clients are notified of all.
        let is_modern = revision == Revision::V2026_07_28;
        let wanted = if is_modern { filter } else { Filter::new() };
        assert_eq!(listening.acknowledged(), wanted, "{revision}");
        for board in ["b1", "other", "b2"] {
            let params = Raw::from(json!({"board": board}));
            changes.element_changed("boards", board, DRAWN, Some(&params)).unwrap();
        }
        let boards: &[&str] = if is_modern { &["b1", "b2"] } else { &["b1", "other", "b2"] };
        for board in boards {
            assert_eq!(received.recv().await.unwrap(), format!("{DRAWN} {board:?}"));
        }
        let undeclared = changes.element_changed("boards", "b1", "x/y", None);
        assert_eq!(undeclared, Err(Misuse::Undeclared));
    }
}

// SEC-02
async fn the_application_decides_about_elements<R: Runtime>() {
    let server = drawing_server().subscriptions(SubscriptionSettings::new().accept_elements(
        |key, board, _cx| {
            assert_eq!(key, "boards");
            board != "secret"
        },
    ));
    let (connection, _serving) = pair::<R>(drawing_client(ERAS[1]), server).await;
    let filter = Filter::new().element("boards", "b1").element("boards", "secret");
    let listening = connection.subscribe(&filter).await.unwrap();
    assert_eq!(listening.acknowledged(), Filter::new().element("boards", "b1"));
}

async fn invalid_extensions_and_handlers_are_refused<R: Runtime>() {
    let done = || MethodHandler::new(|_: Draw| sketch(1));
    let servers = [
        (server().extension(Extension::new("whiteboard")), "needs a prefix"),
        (server().extension(whiteboard()).extension(whiteboard()), "already declared"),
        (server().add(done()), "no declared extension"),
        (server().extension(Extension::new(ID)).add(done()), "no declared extension"),
        (server().extension(whiteboard()).add(done()).add(done()), "two handlers"),
    ];
    for (server, why) in servers {
        let (ours, _theirs) = socket_pair();
        let refused = R::serve(server, ours.into()).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let done_once = done();
    let done = |_: Confirm| Raw::empty_object();
    let clients = [
        (client().extension(Extension::new("whiteboard")), "needs a prefix"),
        (client().method(done), "no declared extension"),
        (client().extension(whiteboard()).method(done).method(done), "two handlers"),
    ];
    for (client, why) in clients {
        let (ours, _theirs) = socket_pair();
        let Err(refused) = R::connect(client, ours.into()).await else { panic!("{why}") };
        assert!(refused.to_string().contains(why), "{refused}");
    }
    // In any order.
    let later = server().add(done_once).extension(whiteboard());
    let (connection, _serving) = pair::<R>(drawing_client(ERAS[1]), later).await;
    assert_eq!(connection.call(draw("b")).await.unwrap().0.shapes, 1);
}

async fn requests_outside_of_extensions_are_served_to_all<R: Runtime>() {
    let plain = |draw: &Draw| {
        let shapes = u32::try_from(draw.board.len()).unwrap_or_default();
        Serialized(Drawing { result_type: None, shapes })
    };
    let declared = || server().extension(Extension::new(ID).settings(json!({"colors": 8})));
    for revision in ERAS {
        let served =
            declared().add(MethodHandler::new(move |draw: Draw| plain(&draw)).without_extension());
        let served_async = declared().add(
            MethodHandler::new(move |draw: Draw, cx: Cx| async move {
                cx.sleep(std::time::Duration::from_millis(1)).await;
                plain(&draw)
            })
            .without_extension(),
        );
        for server in [served, served_async] {
            for client in [client().revisions(&[revision]), drawing_client(revision)] {
                let (connection, _serving) = pair::<R>(client, server.clone()).await;
                let result = connection.call(draw("b12")).await.unwrap();
                assert_eq!(result.0.shapes, 3, "{revision}");
                let failed = connection.call_raw(Draw::METHOD, json!({"board": 1})).await;
                assert_eq!(refusal(failed).code, code::INVALID_PARAMS);
            }
        }
    }
    let done = || MethodHandler::new(|_: Draw| sketch(1));
    let outside = || done().without_extension();
    let list = MethodHandler::new(|_: ListTools| ListToolsResult::new([])).without_extension();
    for (server, why) in [
        (server().add(list), "the protocol defines it"),
        (server().add(outside()).add(outside()), "two handlers"),
        (server().extension(whiteboard()).add(outside()), "without `without_extension`"),
        (server().add(outside()).extension(whiteboard()).add(done()), "two handlers"),
    ] {
        let (ours, _theirs) = socket_pair();
        let refused = R::serve(server, ours.into()).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}
