//! Redirects: of requests to the MCP server, and of the user's browser.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::json;

use super::world::{AS, Driver, SERVER, World, user};
use crate::auth::*;

/// Signs in at a server that redirects requests to `url`, whose metadata are about `resource`.
fn signed_in(url: Option<&str>, location: &str, resource: &str) -> (World, Driver) {
    let mut world = World::new();
    world.documents.clear();
    let metadata = json!({"resource": resource, "authorization_servers": [AS]});
    world.documents.insert(location.into(), (200, metadata.to_string()));
    let mut driver = Driver::new(0, &world, user());
    driver.auth.redirected_to(url);
    let named = [("resource_metadata", location)];
    let params = if location.ends_with("custom") { &named[..] } else { &[] };
    driver.reject(&world, 401, params);
    driver.run(&mut world);
    (world, driver)
}

const WELL_KNOWN: &str = "https://mcp.example/.well-known/oauth-protected-resource";

// RFC 9728 §3.3: the metadata are of the URL that was challenged.
#[test]
fn metadata_may_describe_the_url_that_redirects_lead_to() {
    let named = "https://mcp.example/custom";
    let (slash, other) = ("https://mcp.example/mcp/", "https://mcp.example/v2/tools");
    let rows = [
        (Some(slash), format!("{WELL_KNOWN}/mcp"), slash),
        (Some(slash), named.into(), slash),
        (Some(slash), named.into(), SERVER),
        (Some(slash), named.into(), "https://mcp.example"),
        (Some(other), format!("{WELL_KNOWN}/v2/tools"), other),
        (Some(other), format!("{WELL_KNOWN}/v2/tools"), "https://mcp.example/v2"),
        (Some(other), format!("{WELL_KNOWN}/mcp"), SERVER),
        (Some(other), WELL_KNOWN.into(), other),
        (None, named.into(), SERVER),
    ];
    for (url, location, resource) in rows {
        let (mut world, mut driver) = signed_in(url, &location, resource);
        assert_eq!(driver.ends(), [Ok(())], "{url:?} {location} {resource}");
        assert_eq!(world.auth_server().count("authorize"), 1);
        world.assert_innocent();
    }
}

// AUT-38: and of no other URL.
#[test]
fn metadata_of_other_urls_are_refused_behind_redirects() {
    let named = "https://mcp.example/custom";
    let slash = "https://mcp.example/mcp/";
    for (url, resource) in [
        (None, slash),
        (Some(slash), "https://mcp.example/mcp/x"),
        (Some(slash), "https://mcp.example/other/"),
        (Some(slash), "https://evil.example/mcp/"),
        // Redirects do not leave the origin.
        (Some("https://evil.example/mcp/"), "https://evil.example/mcp/"),
        (Some("http://mcp.example/mcp/"), "http://mcp.example/mcp/"),
        (Some("?"), slash),
    ] {
        let (mut world, mut driver) = signed_in(url, named, resource);
        let denial = driver.denial();
        assert!(matches!(denial, Denial::ResourceMismatch { .. }), "{url:?}: {denial:?}");
        assert_eq!(world.auth_server().log, [""; 0]);
    }
}

fn redirected(host: LoopbackHost, port: Option<u16>) -> AuthConfig {
    user().redirect(Redirect::Loopback { host, port, path: "/back".into() })
}

/// Returns what the driver listens on, and the redirect URI that the user is sent with.
fn listening(config: AuthConfig, free: u16) -> (LoopbackHost, Option<u16>, Result<String, Denial>) {
    let mut world = World::new();
    world.auth_server().clients.insert("known".into(), None);
    let mut driver = Driver::new(0, &world, config.client(KnownClient::new(AS, "known")));
    driver.decides = false;
    driver.reject(&world, 401, &[]);
    let mut listened = None;
    while let Some(action) = driver.take() {
        if let AuthAction::Listen { host, port, path } = &action {
            assert_eq!(&**path, "/back");
            listened = Some((*host, *port));
            driver.listening = true;
            driver.auth.handle_listening(world.time, Some(free));
        } else {
            driver.perform(&mut world, action);
            driver.unlock(&mut world);
        }
    }
    driver.collect();
    let (host, port) = listened.unwrap();
    let Some(url) = driver.shown.pop() else {
        assert!(!driver.listening);
        return (host, port, Err(driver.denial()));
    };
    let (_, uri) = url.split_once("redirect_uri=").unwrap();
    let uri = uri.split('&').next().unwrap().replace("%3A", ":").replace("%2F", "/");
    (host, port, Ok(uri))
}

// AUT-48: a client that was registered in advance has one redirect URI.
#[test]
fn the_host_and_the_port_of_the_redirect_can_be_chosen() {
    for (host, shown) in [
        (LoopbackHost::V4, "127.0.0.1"),
        (LoopbackHost::V6, "%5B::1%5D"),
        (LoopbackHost::Localhost, "localhost"),
    ] {
        let uri = |port| Ok(format!("http://{shown}:{port}/back"));
        assert_eq!(listening(redirected(host, None), 4000), (host, None, uri(4000)));
        assert_eq!(listening(redirected(host, Some(3118)), 3118), (host, Some(3118), uri(3118)));
        // Another port would be refused, once the user has logged in.
        let (_, _, taken) = listening(redirected(host, Some(3118)), 4000);
        assert_eq!(taken, Err(Denial::PortTaken { port: 3118 }));
    }
}

// A registration with one redirect URI is not used with another.
#[test]
fn registrations_belong_to_their_redirect() {
    let mut world = World::new();
    let rows = [
        (redirected(LoopbackHost::V4, None), 1),
        (redirected(LoopbackHost::Localhost, None), 2),
        (redirected(LoopbackHost::Localhost, Some(5000)), 3),
        (redirected(LoopbackHost::Localhost, None), 3),
        (redirected(LoopbackHost::V4, None), 3),
    ];
    for (config, registrations) in rows {
        world.store.retain(|key, _| key.starts_with("client"));
        let mut driver = Driver::new(0, &world, config);
        driver.sign_in(&mut world);
        assert_eq!(driver.ends(), [Ok(())]);
        assert_eq!(world.auth_server().count("register"), registrations);
        world.assert_innocent();
    }
}
