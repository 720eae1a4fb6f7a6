//! Only on tokio: a runtime that ends before its tasks, and code outside of a runtime.

use std::time::Duration;

use mcp_adapter::proto::{CallError, CloseReason};
use mcp_adapter::{Error, Tool, on_runtime};
use mcp_adapter_tests::{
    Runtime, Tokio, adapter_server, client, eventually, full_server, is_alive, pair, server,
    success, tool, with_timeout,
};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use crate::SERVER;
use crate::children::{impatient, sh};

fn runtimes() -> [Builder; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
}

#[test]
fn no_child_outlives_the_runtime() {
    with_timeout(|| {
        for mut builder in runtimes() {
            let runtime = builder.enable_all().build().unwrap();
            // The child reacts neither to the end of its input nor to SIGTERM.
            let script = "trap '' TERM; welcome; echo $$ >&2; sleep 3600; sleep 3600";
            let connection = runtime
                .block_on(on_runtime::client::<_, mcp_tokio::Tokio>(impatient()).spawn(sh(script)))
                .unwrap();
            let pending =
                runtime.block_on(connection.call_tool("any", &json!({})).start()).unwrap();
            runtime.block_on(eventually("it says its number", || !connection.stderr().is_empty()));
            let child: u32 = connection.stderr()[0].parse().unwrap();
            assert!(is_alive(child));
            drop(runtime);
            // The remaining handle reports the end, and nothing waits forever.
            let outcome = pending.wait();
            assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
            assert!(connection.call_tool("any", &json!({})).wait().is_err());
            connection.close().wait().unwrap();
            smol::block_on(eventually("the child is reaped", || !is_alive(child)));
        }
    });
}

#[test]
fn a_runtime_ends_immediately_while_it_serves_and_connects() {
    with_timeout(|| {
        for mut builder in runtimes() {
            let runtime = builder.enable_all().build().unwrap();
            let (connection, serving) = runtime.block_on(async {
                let (connection, serving) = pair::<Tokio>(client(), full_server()).await;
                drop(connection.call_tool("hang", &json!({})).start().await.unwrap());
                (connection, serving)
            });
            runtime.shutdown_timeout(Duration::from_secs(3600));
            assert_eq!(connection.close_reason(), Some(CloseReason::Local));
            drop((connection, serving));
        }
    });
}

#[test]
fn outside_of_a_runtime_there_is_an_error_instead_of_a_panic() {
    let served = smol::block_on(
        on_runtime::server::<_, mcp_tokio::Tokio>(full_server())
            .serve(tokio::io::empty(), tokio::io::sink()),
    );
    served.unwrap_err();
    let spawned = smol::block_on(
        on_runtime::client::<_, mcp_tokio::Tokio>(client()).spawn(adapter_server::<Tokio>(SERVER)),
    );
    assert!(matches!(spawned.map(|_| ()), Err(Error::Io(_))));
}

/// The documented way.
#[test]
fn a_handler_that_is_not_send_runs_on_a_local_set() {
    with_timeout(|| {
        let (ask, mut asked) = mpsc::channel::<(Value, oneshot::Sender<String>)>(16);
        let local = std::thread::spawn(move || {
            let serve = async {
                while let Some((arguments, answer)) = asked.recv().await {
                    let text = std::rc::Rc::new(arguments["text"].to_string());
                    tokio::task::spawn_local(async move {
                        tokio::task::yield_now().await;
                        let _ignored = answer.send(text.repeat(2));
                    });
                }
            };
            let runtime = Builder::new_current_thread().build().unwrap();
            runtime.block_on(LocalSet::new().run_until(serve));
        });
        Tokio::block_on(async {
            let server = server().add(Tool::define(tool("twice"), move |arguments: Value| {
                let ask = ask.clone();
                async move {
                    let (answer, answered) = oneshot::channel();
                    ask.send((arguments, answer)).await?;
                    Ok(answered.await?)
                }
            }));
            let (connection, serving) = pair::<Tokio>(client(), server).await;
            let twice = connection.call_tool("twice", &json!({"text": "hello"}));
            assert_eq!(success(twice.await), r#""hello""hello""#);
            drop(connection);
            serving.ends_well().await;
        });
        local.join().unwrap();
    });
}
