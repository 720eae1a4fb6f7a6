//! Whose tokens a request carries, if clients share a store: those of its own client and user.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::Error;
use mcp_adapter::auth::{Auth, Browser, FileStore, MemoryStore, SealedStore, SigningKey};
use mcp_adapter::proto::schema::ListTools;
use mcp_adapter::proto::{CallError, Limits};
use mcp_adapter_tests::rows;
use mcp_http_client_tests::{Company, OverHttp, Site, browse, modern, result};
use serde_json::json;
use smol::channel::unbounded;
use smol::future::zip;

use crate::authorized::echo;
use crate::{failed, modern_client};

rows! {
    users_of_one_company_use_their_own_tokens_aut_06,
    workloads_use_their_own_tokens_aut_06,
    applications_use_their_own_tokens_aut_23,
    users_of_one_company_are_refused_together_aut_06,
    clients_with_other_secrets_or_keys_use_their_own_tokens_aut_06,
    cached_results_are_for_the_user_of_the_request_stl_41,
    a_result_for_another_user_than_the_call_is_not_cached_stl_41,
    a_cacheable_call_ends_while_its_authorization_blocks_tmo_01,
}

/// A directory that is deleted when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mcp-identities-{}-{}", process::id(), MADE.fetch_add(1, SeqCst));
        Self(env::temp_dir().join(name))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// Passes on each kind of store, as often as a process opens it.
async fn with_each_store(mut run: impl AsyncFnMut(&dyn Fn(Auth) -> Auth)) {
    let memory = MemoryStore::new();
    run(&|auth| auth.store(memory.clone())).await;
    let directory = Directory::new();
    run(&|auth| auth.store(FileStore::new(&directory.0))).await;
    // As with the keyring of the system, which keeps the key only.
    let directory = Directory::new();
    run(&|auth| auth.store(SealedStore::new(FileStore::new(&directory.0), [7; 32]))).await;
}

/// Calls a tool on its own connection; returns the credentials of the call.
async fn call<R: OverHttp>(server: &Company, auth: Auth) -> String {
    let remote = server.remote().authorized(auth);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(echo(&connection).await, "a");
    connection.close().await.unwrap();
    server.callers().pop().flatten().unwrap()
}

/// Lets two parties call in turn, each in new processes; returns their tokens.
async fn in_turn<R: OverHttp>(
    server: &Company,
    parties: [&dyn Fn() -> Auth; 2],
    names: [&str; 2],
) -> Vec<String> {
    let mut tokens = Vec::new();
    for at in [0, 1, 0, 1, 1] {
        let token = call::<R>(server, parties[at]()).await;
        assert!(token.starts_with(&format!("Bearer of-{}-", names[at])), "{token}: {names:?}");
        tokens.push(token);
    }
    tokens
}

async fn users_of_one_company_use_their_own_tokens_aut_06<R: OverHttp>() {
    with_each_store(async |store| {
        let server = &Company::new();
        let [ada, bob] = ["ada", "bob"].map(|user| move || store(server.enterprise(user)));
        let tokens = in_turn::<R>(server, [&ada, &bob], ["ada", "bob"]).await;
        assert_eq!(tokens[3], tokens[4], "Bob's own grant is found again");
    })
    .await;
}

async fn workloads_use_their_own_tokens_aut_06<R: OverHttp>() {
    with_each_store(async |store| {
        let server = &Company::new();
        let [one, two] = ["one", "two"].map(|name| move || store(server.workload(name)));
        let tokens = in_turn::<R>(server, [&one, &two], ["one", "two"]).await;
        assert_eq!(tokens[3], tokens[4]);
    })
    .await;
}

async fn applications_use_their_own_tokens_aut_23<R: OverHttp>() {
    let user = |name: &str| {
        Auth::user(name).browser(Browser::custom(|url| browse(&browse(url.expose())?).map(drop)))
    };
    with_each_store(async |store| {
        // Registered in advance, and under their names.
        let server = &Company::new();
        let [one, two] =
            ["one", "two"].map(|id| move || store(user("App").pre_registered(server.client(id))));
        let tokens = in_turn::<R>(server, [&one, &two], ["one", "two"]).await;
        assert_eq!((&tokens[0], &tokens[1]), (&tokens[2], &tokens[3]), "one login each");
        let [one, two] = ["left", "right"].map(|name| move || store(user(name)));
        let tokens = in_turn::<R>(server, [&one, &two], ["left", "right"]).await;
        assert_eq!((&tokens[0], &tokens[1]), (&tokens[2], &tokens[3]));
    })
    .await;
}

// Many refused requests cause one flow, but one for each user.
async fn users_of_one_company_are_refused_together_aut_06<R: OverHttp>() {
    with_each_store(async |store| {
        let server = &Company::new();
        let open = async |user: &'static str| {
            let remote = server.remote().authorized(store(server.enterprise(user)));
            R::connect_http(modern_client(), remote).await.unwrap()
        };
        let (ada, bob) = zip(open("ada"), open("bob")).await;
        zip(zip(echo(&ada), echo(&ada)), zip(echo(&bob), echo(&bob))).await;
        let callers = server.callers();
        let of = |user: &str| {
            let start = format!("Bearer of-{user}-");
            callers.iter().flatten().filter(|it| it.starts_with(&start)).count()
        };
        assert_eq!((of("ada"), of("bob")), (2, 2), "{callers:?}");
    })
    .await;
}

async fn clients_with_other_secrets_or_keys_use_their_own_tokens_aut_06<R: OverHttp>() {
    with_each_store(async |store| {
        let server = &Company::new();
        let secret =
            |secret: &str| store(Auth::client_credentials(server.client("batch").secret(secret)));
        let right = call::<R>(server, secret("right")).await;
        assert_ne!(call::<R>(server, secret("wrong")).await, right, "it must be checked");

        let [one, two] = [(); 2].map(|()| SigningKey::generate().unwrap());
        let signed = |key: &SigningKey| {
            let client = server.client("batch").signed(None);
            store(Auth::client_credentials(client).signing_key(key.clone()))
        };
        let first = call::<R>(server, signed(&one)).await;
        assert_ne!(call::<R>(server, signed(&two)).await, first);
        assert_eq!(call::<R>(server, signed(&one)).await, first);
        // Nothing is known of such a key.
        let external = || SigningKey::external(|_| Ok(vec![7; 64]));
        let third = call::<R>(server, signed(&external())).await;
        assert!(![&first, &call::<R>(server, signed(&external())).await].contains(&&third));
    })
    .await;
}

/// A server whose only tool is named for the user, in lists that may be cached.
fn listing(scope: &'static str) -> Site {
    Site::new(move |request, answer| {
        if request.what() != "tools/list" {
            return modern(request, answer);
        }
        let user = request.field("authorization").unwrap_or("Bearer none");
        let tool = json!({"name": &user["Bearer ".len()..], "inputSchema": {"type": "object"}});
        let list = json!({
            "resultType": "complete", "tools": [tool], "ttlMs": 60_000, "cacheScope": scope,
        });
        answer.json(&[], &result(request, &list));
    })
}

async fn cached_results_are_for_the_user_of_the_request_stl_41<R: OverHttp>() {
    let limits = Limits { cache_bytes_max: 1 << 20, ..Limits::default() };
    for (scope, is_async) in [("private", false), ("private", true), ("public", false)] {
        let site = listing(scope);
        let user = Arc::new(Mutex::new(Some("ada")));
        let current = Arc::clone(&user);
        let field = move || current.lock().unwrap().map(|user| format!("Bearer {user}"));
        let remote = match is_async {
            true => site.remote().authorization_async(move || std::future::ready(field())),
            false => site.remote().authorization(field),
        };
        let client = modern_client().limits(limits.clone());
        let connection = R::connect_http(client, remote).await.unwrap();
        let mut requests = Vec::new();
        for name in [Some("ada"), Some("ada"), Some("bob"), Some("ada"), None, None, Some("bob")] {
            *user.lock().unwrap() = name;
            let tools = connection.list_tools().await.unwrap();
            if scope == "private" {
                assert_eq!(tools[0].name, name.unwrap_or("none"));
            }
            requests.push(site.of("tools/list").len());
        }
        let expected = if scope == "private" { [1, 1, 2, 3, 4, 4, 5] } else { [1; 7] };
        assert_eq!(requests, expected, "{scope}");
    }
}

// The user changes after the cache was looked at, before the request is sent.
async fn a_result_for_another_user_than_the_call_is_not_cached_stl_41<R: OverHttp>() {
    let site = listing("private");
    let next = Arc::new(Mutex::new(Vec::new()));
    let queued = Arc::clone(&next);
    let remote = site.remote().authorization(move || {
        let user = queued.lock().unwrap().pop().unwrap_or("ada");
        Some(format!("Bearer {user}"))
    });
    let limits = Limits { cache_bytes_max: 1 << 20, ..Limits::default() };
    let connection = R::connect_http(modern_client().limits(limits), remote).await.unwrap();
    let list = async || connection.list_tools().await.unwrap()[0].name.clone();
    assert_eq!(list().await, "ada");
    // Looked up for Bob, and sent for Eve.
    next.lock().unwrap().extend(["eve", "bob"]);
    assert_eq!(list().await, "eve");
    next.lock().unwrap().extend(["bob", "bob"]);
    assert_eq!(list().await, "bob");
    assert_eq!([list().await, list().await], ["ada", "ada"]);
    assert_eq!(site.of("tools/list").len(), 4);
}

async fn a_cacheable_call_ends_while_its_authorization_blocks_tmo_01<R: OverHttp>() {
    let limits = Limits { cache_bytes_max: 1 << 20, ..Limits::default() };
    for closes in [false, true] {
        let site = listing("private");
        let (says, begun) = unbounded();
        let (release, released) = channel::<()>();
        let (blocks, released) = (Arc::new(AtomicBool::new(false)), Mutex::new(released));
        let is_blocking = Arc::clone(&blocks);
        let remote = site.remote().authorization(move || {
            if is_blocking.load(SeqCst) {
                says.try_send(()).unwrap();
                let _is_released = released.lock().unwrap().recv();
            }
            Some("Bearer ada".into())
        });
        let client = modern_client().limits(limits.clone());
        let connection = R::connect_http(client, remote).await.unwrap();
        assert_eq!(connection.list_tools().await.unwrap()[0].name, "ada");
        blocks.store(true, SeqCst);
        let list = || connection.call(ListTools::default());
        if closes {
            let closing = async {
                begun.recv().await.unwrap();
                connection.start_close();
            };
            let (listed, ()) = zip(list().into_future(), closing).await;
            let error = listed.unwrap_err();
            assert!(!matches!(error, Error::Call(CallError::TimedOut)), "{error}");
            drop(release);
        } else {
            let late = list().timeout(Duration::from_millis(20)).await;
            assert_eq!(failed(late), CallError::TimedOut);
            blocks.store(false, SeqCst);
            drop(release);
            assert_eq!(connection.list_tools().await.unwrap()[0].name, "ada");
        }
        assert_eq!(site.of("tools/list").len(), 1);
    }
}
