//! Tests of extensions over HTTP.

use super::*;
use crate::{Extension, ExtensionMethod, Side};

// HTTP-44
#[test]
fn mcp_name_repeats_the_member_that_an_extension_names_http_44() {
    let board = Extension::new("com.example/board")
        .method(ExtensionMethod::request(Side::Client, "com.example/draw").named_by("board"))
        .method(ExtensionMethod::request(Side::Client, "com.example/list"));
    let mut it = Fixture::new(config().extension(board).unwrap());
    let probe = it.post("server/discover");
    let declared = r#""extensions":{"com.example/board":{}},"tools":{"#;
    it.reply(&probe, 200, JSON, &DISCOVERED.replace(r#""tools":{"#, declared));
    it.events();
    for (method, params, name) in [
        ("com.example/draw", r#"{"board":"b1"}"#, Some("b1")),
        ("com.example/draw", "{}", None),
        ("com.example/list", r#"{"board":"b1"}"#, None),
    ] {
        it.call_with(method, Some(params));
        let send = it.post(method);
        assert_eq!(send.header("mcp-method"), Some(method));
        assert_eq!(send.header("mcp-name"), name, "{method} {params}");
    }
}
