//! Actions and events as lines, with names in place of secrets.

use mcp_proto::auth::{
    AuthAction, AuthEvent, AuthLimits, ClientRecord, Fetch, FlowSecrets, GrantRecord, Reach,
    UriPolicy,
};

/// The signature of the driver: 64 bytes of 7 in base64url.
const SIGNATURE: &str =
    "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw";

/// Replaces the secrets in a line by their names.
pub(super) fn line(line: &str, secrets: &[FlowSecrets], signed: &[String]) -> String {
    let mut line = line.replace(SIGNATURE, "<signature>");
    for (n, input) in signed.iter().enumerate() {
        line = line.replace(input, &format!("<assertion {}>", n + 1));
    }
    for (n, flow) in secrets.iter().enumerate() {
        let n = n + 1;
        line = line.replace(flow.verifier().expose(), &format!("<verifier {n}>"));
        line = line.replace(&flow.challenge(), &format!("<challenge {n}>"));
        line = line.replace(flow.state().expose(), &format!("<state {n}>"));
    }
    line
}

/// Asserts that no secret is in a Debug output.
pub(super) fn assert_hidden(text: &str, secrets: &[FlowSecrets]) {
    for planted in ["code-", "access-", "refresh-", "s3cret", "identity-"] {
        assert!(!text.contains(planted), "{planted} in {text}");
    }
    for flow in secrets {
        assert!(!text.contains(flow.verifier().expose()), "a verifier in {text}");
        assert!(!text.contains(flow.state().expose()), "a state in {text}");
    }
}

/// Writes an action.
pub(super) fn action(action: &AuthAction) -> String {
    assert_hidden(&format!("{action:?}"), &[]);
    match action {
        AuthAction::Acquire { key, .. } => {
            format!("< Acquire {} {}", key.kind(), key.parts().collect::<Vec<_>>().join(" "))
        }
        AuthAction::Save { record: Some(record), .. } => {
            format!("< Save {}", stored(record.expose()))
        }
        AuthAction::Save { record: None, .. } => "< Save nothing".to_owned(),
        AuthAction::Release { .. } => "< Release".to_owned(),
        AuthAction::Listen { port, path, .. } => format!("< Listen {path} {port:?}"),
        AuthAction::Fetch(fetch) => request(fetch),
        AuthAction::Abort(_) => "< Abort".to_owned(),
        AuthAction::Sign { input, .. } => format!("< Sign {} bytes", input.len()),
        AuthAction::Show { url, .. } => format!("< Show {}", url.expose()),
        other => format!("< {other:?}"),
    }
}

fn request(fetch: &Fetch) -> String {
    let mut text = format!("< {:?} {}", fetch.method, fetch.url);
    if fetch.authorization.is_some() {
        text += "\n    with credentials";
    }
    if !fetch.body.is_empty() {
        text += "\n    ";
        text += fetch.body.expose();
    }
    text
}

fn stored(record: &str) -> String {
    let (bytes, limits) = (record.as_bytes(), AuthLimits::default());
    if let Ok(client) = ClientRecord::parse(bytes, &limits) {
        let doubtful = if client.is_doubtful { " doubtful" } else { "" };
        return format!(
            "client {} of {} at {}{doubtful}",
            client.client.client_id, client.issuer, client.redirect_uri
        );
    }
    let policy = UriPolicy::of_server(Reach::Public);
    match GrantRecord::parse(bytes, &policy, &limits) {
        Ok(grant) => {
            let tokens = grant.tokens.as_ref().map_or_else(
                || "no tokens".to_owned(),
                |tokens| {
                    let refresh = tokens.refresh_token.as_ref().map(|token| token.expose());
                    format!("{} {}", tokens.access_token.expose(), refresh.unwrap_or("alone"))
                },
            );
            format!("grant {} of {}: {tokens}", grant.generation, grant.server.issuer)
        }
        Err(error) => panic!("an unreadable record: {error}"),
    }
}

/// Writes an event; times are relative to the start.
pub(super) fn event(event: &AuthEvent, start: u64) -> String {
    assert_hidden(&format!("{event:?}"), &[]);
    match event {
        AuthEvent::Granted { generation, scopes, expires } => {
            let expires = expires.map(|unix| unix.saturating_sub(start));
            format!("! Granted {generation:?} scopes={scopes:?} expires={expires:?}")
        }
        other => format!("! {other:?}"),
    }
}
