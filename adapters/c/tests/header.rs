//! The header and the exported functions agree: names, parameters, types and numbers.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

/// Returns a text without comments and with single spaces.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").unwrap().1;
    }
    code.push_str(rest);
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns each function of the header, in the syntax of Rust.
fn declared() -> Vec<String> {
    let header = without_comments(include_str!("../include/mcp.h"));
    let is_function = |part: &&str| part.contains('(') && !part.contains("#if");
    let mut functions: Vec<String> = header
        .split(';')
        .map(|part| part.rsplit('}').next().unwrap().trim())
        .filter(is_function)
        .map(|function| {
            let (head, parameters) = function.split_once('(').unwrap();
            let parameters = parameters.trim_end_matches(')');
            let parameters = parameters.split(',').map(str::trim).filter(|it| *it != "void");
            let parameters: Vec<String> = parameters.map(parameter).collect();
            let (result, name) = named(head);
            format!("{name}({}) -> {}", parameters.join(", "), rust_type(result))
        })
        .collect();
    functions.sort();
    functions
}

fn parameter(text: &str) -> String {
    let (type_, name) = named(text);
    format!("{name}: {}", rust_type(type_))
}

/// Splits a declaration into its type and its name.
fn named(text: &str) -> (&str, &str) {
    let at = text.rfind([' ', '*']).unwrap() + 1;
    let (type_, name) = text.split_at(at);
    (type_.trim().rsplit("\"C\" {").next().unwrap().trim(), name)
}

fn rust_type(c: &str) -> String {
    match c {
        "const char *" => "*const c_char".into(),
        "const uint8_t *" => "*const u8".into(),
        "uint8_t *" => "*mut u8".into(),
        "size_t *" => "*mut usize".into(),
        "uint64_t *" | "mcp_connection *" => "*mut u64".into(),
        "bool *" => "*mut bool".into(),
        "uint64_t" | "mcp_connection" => "u64".into(),
        "size_t" => "usize".into(),
        "mcp_status" => "Status".into(),
        other => panic!("unknown type `{other}`"),
    }
}

/// Returns each exported function, in that form.
fn exported() -> Vec<String> {
    let source = include_str!("../src/lib.rs").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut functions: Vec<String> = source
        .split("#[unsafe(no_mangle)] pub ")
        .skip(1)
        .map(|function| {
            let function = function.split(" {").next().unwrap();
            let (_, function) = function.split_once("extern \"C\" fn ").unwrap();
            function.replace("( ", "(").replace(", )", ")")
        })
        .collect();
    functions.sort();
    functions
}

#[test]
fn the_header_declares_what_is_exported() {
    assert_eq!(declared(), exported());
    assert_eq!(declared().len(), 17);
}

#[test]
fn the_numbers_of_statuses_agree() {
    let header = without_comments(include_str!("../include/mcp.h"));
    use mcp::Status as S;
    for (name, status) in [
        ("MCP_OK", S::Ok),
        ("MCP_NONE", S::None),
        ("MCP_TOO_SMALL", S::TooSmall),
        ("MCP_NULL", S::Null),
        ("MCP_UNKNOWN_CONNECTION", S::UnknownConnection),
        ("MCP_INVALID_JSON", S::InvalidJson),
        ("MCP_MISUSE", S::Misuse),
        ("MCP_FAULT", S::Fault),
    ] {
        let number = status as i32;
        let declared = [format!("{name} = {number},"), format!("{name} = {number} }}")];
        assert!(declared.iter().any(|text| header.contains(text)), "{name} = {number}");
    }
    assert_eq!(header.matches("MCP_").count(), 8 + 2, "a status is not compared");
}
