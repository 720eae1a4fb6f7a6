//! Logins at servers behind redirects, with registered redirect URIs, and with refused refreshes.

use std::net::TcpListener;
use std::sync::atomic::Ordering::SeqCst;

use mcp_adapter::auth::{Auth, Browser, LoopbackHost, MemoryStore, Redirect};
use mcp_adapter_tests::rows;
use mcp_http_client_tests::{Company, Guarded, OverHttp, Site, browse};
use serde_json::json;
use smol::channel::unbounded;

use crate::authorized::{echo, user};
use crate::modern_client;

rows! {
    metadata_describe_the_url_that_redirects_lead_to,
    a_registered_redirect_uri_is_used_aut_48,
    a_taken_port_of_a_registered_redirect_uri_fails_before_the_login,
    a_refused_refresh_leads_to_a_login_aut_61,
    a_refused_login_says_who_refused_and_why,
}

/// A server that redirects from `/mcp` to `to`, as mounted applications do, and whose metadata
/// describe only that URL.
fn redirecting(to: &'static str) -> Site {
    let company = Company::new();
    Site::new(move |request, answer| {
        let origin = format!("http://{}", request.field("host").unwrap());
        let metadata = format!("/.well-known/oauth-protected-resource{to}");
        match &*request.path {
            "/mcp" => answer.status(307, &[("location", to)], ""),
            path if path == to => {
                let mut request = request.clone();
                request.path = "/mcp".to_owned();
                let is_known = request.field("authorization").is_some();
                if is_known {
                    return company.play(&request, answer);
                }
                let challenge = format!("Bearer resource_metadata=\"{origin}{metadata}\"");
                answer.status(401, &[("www-authenticate", &challenge)], "");
            }
            path if path == metadata => {
                let resource = format!("{origin}{to}");
                answer.json(&[], &json!({"resource": resource, "authorization_servers": [origin]}));
            }
            _ => company.play(request, answer),
        }
    })
}

// RFC 9728 §3.3
async fn metadata_describe_the_url_that_redirects_lead_to<R: OverHttp>() {
    for to in ["/mcp/", "/v2/tools"] {
        let site = redirecting(to);
        let remote = site.remote().authorized(user());
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        assert_eq!(echo(&connection).await, "a", "{to}");
        let logins = site.heard().into_iter().filter(|it| it.path.starts_with("/authorize"));
        let urls: Vec<_> = logins.map(|it| it.path).collect();
        let resource = to.replace('/', "%2F");
        let is_right = |pair: &str| pair.starts_with("resource=") && pair.ends_with(&resource);
        assert!(urls.len() == 1 && urls[0].split('&').any(is_right), "{to}: {urls:?}");
    }
}

/// Returns the authorization of a registered client, whose browser passes its URL on.
fn registered(server: &Company, port: u16) -> (Auth, smol::channel::Receiver<String>) {
    let (says, urls) = unbounded();
    let browser = Browser::custom(move |url| {
        says.try_send(url.expose().to_owned()).unwrap();
        browse(&browse(url.expose())?).map(drop)
    });
    let redirect =
        Redirect::Loopback { host: LoopbackHost::Localhost, port: Some(port), path: "/cb".into() };
    let auth = Auth::user("row").store(MemoryStore::new()).browser(browser).redirect(redirect);
    (auth.pre_registered(server.client("known")), urls)
}

async fn a_registered_redirect_uri_is_used_aut_48<R: OverHttp>() {
    let server = Company::new();
    // Another program may take the port first.
    for _ in 0..10 {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (auth, urls) = registered(&server, free);
        let remote = server.remote().authorized(auth);
        let Ok(connection) = R::connect_http(modern_client(), remote).await else { continue };
        assert_eq!(echo(&connection).await, "a");
        let url = urls.recv().await.unwrap();
        let uri = format!("redirect_uri=http%3A%2F%2Flocalhost%3A{free}%2Fcb&");
        assert!(url.contains(&uri), "{url}");
        return;
    }
    panic!("no port was free");
}

async fn a_taken_port_of_a_registered_redirect_uri_fails_before_the_login<R: OverHttp>() {
    let server = Company::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let (auth, urls) = registered(&server, port);
    let connected = R::connect_http(modern_client(), server.remote().authorized(auth)).await;
    let error = connected.unwrap_err().to_string();
    assert!(error.contains(&format!("port {port}")), "{error}");
    assert!(urls.is_empty(), "no browser was opened");
}

async fn a_refused_refresh_leads_to_a_login_aut_61<R: OverHttp>() {
    for refusal in [
        (400, r#"{"error":"invalid_request"}"#),
        (400, r#"{"error":"invalid_token"}"#),
        (403, r#"{"error":"access_denied"}"#),
        (404, "no such page"),
        (200, "<html>Welcome</html>"),
    ] {
        let server = Guarded::new();
        let connection =
            R::connect_http(modern_client(), server.remote().authorized(user())).await.unwrap();
        assert_eq!(echo(&connection).await, "a");
        server.rules.refuse_refreshes(refusal);
        server.rules.revoke();
        assert_eq!(echo(&connection).await, "a", "{refusal:?}");
        assert_eq!((server.refreshes(), server.count("/authorize")), (1, 2), "{refusal:?}");
    }
}

async fn a_refused_login_says_who_refused_and_why<R: OverHttp>() {
    let server = Guarded::new();
    server.rules.users_refuse.store(true, SeqCst);
    let connected = R::connect_http(modern_client(), server.remote().authorized(user())).await;
    let error = connected.unwrap_err().to_string();
    let origin = server.site.url().replace("/mcp", "");
    for part in ["`access_denied`", "Ask your administrator.", &*origin] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
