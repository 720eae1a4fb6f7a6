//! Tests of the stability and strictness of the stored format.

use alloc::format;
use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::auth::reach::Reach;

const POLICY: UriPolicy = UriPolicy::of_server(Reach::Public);

fn client(secret: Option<&str>) -> RegisteredClient {
    RegisteredClient {
        client_id: "c \"1\"".into(),
        secret: secret.map(Secret::new),
        secret_expires_at: secret.map(|_| 1_800_000_000),
        auth_method: ClientAuthMethod::Basic,
    }
}

fn client_record() -> ClientRecord {
    ClientRecord {
        issuer: "https://as.example/t/".into(),
        redirect_uri: "com.example.app:/callback".into(),
        client: client(Some("hidden-secret")),
        is_doubtful: true,
    }
}

fn grant_record() -> GrantRecord {
    let limits = AuthLimits::default();
    let issuer = Uri::parse("https://as.example/t/", &limits).unwrap();
    let body = br#"{
        "issuer":"https://as.example/t/","token_endpoint":"https://as.example/token",
        "token_endpoint_auth_methods_supported":["client_secret_basic"],
        "authorization_response_iss_parameter_supported":true
    }"#;
    let expected = ExpectedIssuer::Exact(&issuer);
    GrantRecord {
        resource: Some("https://MCP.example".into()),
        server: AuthorizationServerMetadata::parse(body, expected, &POLICY, &limits).unwrap(),
        server_read_at: 1_790_000_000,
        client: client(None),
        requested: Scopes::parse("a b", &limits).unwrap(),
        subject: Some("c3ViamVjdA".into()),
        generation: u64::MAX,
        tokens: Some(StoredTokens {
            access_token: Secret::new("hidden-\"access\\"),
            token_type: TokenType::Dpop,
            key_thumbprint: Some("key-1".into()),
            issued_at: 1_790_000_001,
            expires_at: Some(1_790_003_601),
            refresh_token: Some(Secret::new("hidden refresh")),
            granted: Scopes::parse("a", &limits).unwrap(),
        }),
    }
}

fn parse_client(text: &str) -> Result<ClientRecord, InvalidRecord> {
    ClientRecord::parse(text.as_bytes(), &AuthLimits::default())
}

fn parse_grant(text: &str) -> Result<GrantRecord, InvalidRecord> {
    GrantRecord::parse(text.as_bytes(), &POLICY, &AuthLimits::default())
}

#[test]
fn what_is_stored_is_read_back_aut_62() {
    let record = client_record();
    assert_eq!(parse_client(record.to_json().expose()), Ok(record));

    let full = grant_record();
    let mut bare = full.clone();
    bare.resource = None;
    bare.requested = Scopes::new();
    bare.tokens = None;
    let mut no_refresh = full.clone();
    let tokens = no_refresh.tokens.as_mut().unwrap();
    (tokens.refresh_token, tokens.expires_at, tokens.granted) = (None, None, Scopes::new());
    for record in [full, bare, no_refresh] {
        assert_eq!(parse_grant(record.to_json().expose()), Ok(record));
    }
}

#[test]
fn the_format_does_not_change_unnoticed() {
    let text = concat!(
        r#"{"version":1,"kind":"client","issuer":"https://as.example/t/","#,
        r#""redirect_uri":"com.example.app:/callback","doubtful":true,"#,
        r#""client":{"client_id":"c \"1\"","auth_method":"client_secret_basic","#,
        r#""secret_expires_at":1800000000,"client_secret":"hidden-secret"}}"#,
    );
    assert_eq!(client_record().to_json().expose(), text);
    let text = concat!(
        r#"{"version":1,"kind":"grant","resource":"https://MCP.example","#,
        r#""server":{"issuer":"https://as.example/t/","#,
        r#""token_endpoint":"https://as.example/token","#,
        r#""token_endpoint_auth_methods_supported":["client_secret_basic"],"#,
        r#""authorization_response_iss_parameter_supported":true,"#,
        r#""client_id_metadata_document_supported":false},"server_read_at":1790000000,"#,
        r#""requested":"a b","generation":18446744073709551615,"#,
        r#""client":{"client_id":"c \"1\"","auth_method":"client_secret_basic"},"#,
        r#""subject":"c3ViamVjdA","#,
        r#""tokens":{"token_type":"DPoP","key_thumbprint":"key-1","#,
        r#""issued_at":1790000001,"expires_at":1790003601,"#,
        r#""granted":"a","access_token":"hidden-\"access\\","refresh_token":"hidden refresh"}}"#,
    );
    assert_eq!(grant_record().to_json().expose(), text);
}

#[test]
fn only_complete_records_of_this_version_are_read() {
    let (client, grant) = (client_record().to_json(), grant_record().to_json());
    let (client, grant) = (client.expose(), grant.expose());
    for (from, to, error) in [
        ("\"version\":1", "\"version\":2", InvalidRecord::Version),
        ("\"version\":1,", "", InvalidRecord::Version),
        ("\"kind\":\"client\"", "\"kind\":\"grant\"", InvalidRecord::Member("kind")),
        ("\"doubtful\":true", "\"doubtful\":1", InvalidRecord::Member("doubtful")),
        ("\"doubtful\"", "\"dubious\"", InvalidRecord::Json),
        ("\"client_id\"", "\"id\"", InvalidRecord::Member("client_id")),
        ("\"client_id\"", "\"x\":1,\"client_id\"", InvalidRecord::Member("client")),
        ("client_secret_basic", "magic", InvalidRecord::Member("auth_method")),
        ("https://as.example/t/", "as", InvalidRecord::Member("issuer")),
        ("}}", "}", InvalidRecord::Json),
    ] {
        assert!(client.contains(from), "{from}");
        assert_eq!(parse_client(&client.replacen(from, to, 1)), Err(error), "{from}");
    }
    for (from, to, error) in [
        ("\"version\":1", "\"version\":\"1\"", InvalidRecord::Member("version")),
        ("\"kind\":\"grant\"", "\"kind\":null", InvalidRecord::Member("kind")),
        ("https://MCP.example", "/", InvalidRecord::Member("resource")),
        ("\"issuer\":", "\"iss\":", InvalidRecord::Member("issuer")),
        ("\"a b\"", "\"a\\tb\"", InvalidRecord::Member("requested")),
        ("\"generation\"", "\"gen\"", InvalidRecord::Json),
        ("18446744073709551615", "-1", InvalidRecord::Member("generation")),
        ("\"token_type\":\"DPoP\"", "\"token_type\":\"x\"", InvalidRecord::Member("token_type")),
        ("\"access_token\":", "\"refresh_token\":", InvalidRecord::Member("access_token")),
        ("\"granted\":\"a\"", "\"granted\":7", InvalidRecord::Member("granted")),
        ("\"issued_at\"", "\"issued\"", InvalidRecord::Member("tokens")),
    ] {
        assert!(grant.contains(from), "{from}");
        assert_eq!(parse_grant(&grant.replacen(from, to, 1)), Err(error), "{from}");
    }
    assert_eq!(parse_grant(client), Err(InvalidRecord::Member("kind")));
}

// AUT-67: a changed file cannot send tokens elsewhere than a server could.
#[test]
fn stored_endpoints_are_judged_again_aut_67() {
    let text = grant_record().to_json();
    let text = text.expose().replace("https://as.example/token", "http://as.example/token");
    assert!(parse_grant(&text).unwrap().server.token_endpoint.is_err());
}

#[test]
fn records_are_bounded() {
    let record = client_record();
    let text = record.to_json();
    let max = text.len();
    let parse = |bytes_max| {
        let limits = AuthLimits { record_bytes_max: bytes_max, ..AuthLimits::default() };
        ClientRecord::parse(text.expose().as_bytes(), &limits)
    };
    assert_eq!(parse(max), Ok(record));
    assert_eq!(parse(max - 1), Err(InvalidRecord::Length));
    assert!(InvalidRecord::Length.to_string().contains("record_bytes_max"));
}

// AUT-34.
#[test]
fn nothing_secret_is_shown_aut_34() {
    let (client, grant) = (client_record(), grant_record());
    let shown = format!("{client:?} {grant:?} {:?} {:?}", client.to_json(), grant.to_json());
    assert!(!shown.contains("hidden"), "{shown}");
}

proptest! {
    /// A damaged record is read as before, or refused; nothing panics.
    #[test]
    fn damage_does_not_panic(at: proptest::sample::Index, byte: u8, cut: bool) {
        for text in [client_record().to_json(), grant_record().to_json()] {
            let mut bytes = Vec::from(text.expose());
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] = byte;
            }
            let limits = AuthLimits::default();
            let _client = ClientRecord::parse(&bytes, &limits);
            let _grant = GrantRecord::parse(&bytes, &POLICY, &limits);
        }
    }
}
