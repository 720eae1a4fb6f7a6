//! Cancellation and timeouts.

use std::time::Duration;

use mcp_wasm::proto::{CallError, Raw};
use mcp_wasm::{Connection, Error, Pending, sleep};

use super::{call, close, equal, success};
use crate::world::{Outcome, World};

/// Returns the arguments with a key.
fn keyed(key: &str) -> String {
    format!(r#"{{"key":"{key}"}}"#)
}

/// Waits until a handler with the key was dropped.
async fn dropped(connection: &Connection, key: &str) -> Outcome {
    loop {
        let count = success(call(connection, "dropped", &keyed(key)).await)?;
        if count != "0" {
            return equal(count, "1".into());
        }
        // Bounded by the time of the row.
        sleep(Duration::from_millis(5)).await;
    }
}

/// Starts a call that never ends. Its handler runs before the answer to a further call.
async fn waiting(connection: &Connection, key: &str) -> Result<Pending<Raw>, String> {
    let pending = call(connection, "wait", &keyed(key)).start().await;
    let pending = pending.map_err(|error| error.to_string())?;
    success(call(connection, "echo", r#"{"text":""}"#).await)?;
    Ok(pending)
}

pub(super) async fn a_dropped_call_is_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key());
    drop(waiting(&connection, &key).await?);
    dropped(&connection, &key).await?;
    close(connection).await
}

pub(super) async fn an_unsent_call_is_not_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key());
    drop(call(&connection, "wait", &keyed(&key)));
    let count = success(call(&connection, "dropped", &keyed(&key)).await)?;
    equal(count, "0".into())?;
    close(connection).await
}

pub(super) async fn a_call_that_takes_too_long_times_out_and_is_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key());
    let call = call(&connection, "wait", &keyed(&key)).timeout(Duration::from_millis(200));
    let late = call.await;
    equal(matches!(late, Err(Error::Call(CallError::TimedOut))), true)?;
    dropped(&connection, &key).await?;
    close(connection).await
}

pub(super) async fn a_cancelled_async_handler_is_dropped(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key());
    waiting(&connection, &key).await?.cancel("enough");
    dropped(&connection, &key).await?;
    // The connection continues.
    let echo = call(&connection, "echo", r#"{"text":"still here"}"#).await;
    equal(success(echo)?, "still here".into())?;
    close(connection).await
}
