//! Cancellation and timeouts.

use std::time::Duration;

use mcp_wasm::proto::{CallError, Raw};
use mcp_wasm::{Connection, Error};

use super::{equal, success};
use crate::shop::json;
use crate::world::{Outcome, World};

/// Returns the arguments with a key.
fn keyed(key: &str) -> Raw {
    json(&format!(r#"{{"key":"{key}"}}"#))
}

/// Waits until a handler with the key was dropped.
async fn dropped(world: &World, connection: &Connection, key: &str) -> Outcome {
    loop {
        let count = success(connection.call_tool_raw("dropped", keyed(key)).await)?;
        if count != "0" {
            return equal(count, "1".into());
        }
        // Bounded by the time of the row.
        world.platform.sleep(Duration::from_millis(5)).await;
    }
}

/// Starts a call that never ends. Its handler runs before the answer to a further call.
async fn waiting(connection: &Connection, key: &str) -> Result<mcp_wasm::Pending<Raw>, String> {
    let pending = connection.call_tool_raw("wait", keyed(key)).start().await;
    let pending = pending.map_err(|error| error.to_string())?;
    success(connection.call_tool_raw("echo", json(r#"{"text":""}"#)).await)?;
    Ok(pending)
}

pub(super) async fn a_dropped_call_is_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key()?);
    drop(waiting(&connection, &key).await?);
    dropped(&world, &connection, &key).await?;
    connection.close().await;
    Ok(())
}

pub(super) async fn an_unsent_call_is_not_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key()?);
    drop(connection.call_tool_raw("wait", keyed(&key)));
    let count = success(connection.call_tool_raw("dropped", keyed(&key)).await)?;
    equal(count, "0".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_call_that_takes_too_long_times_out_and_is_cancelled(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key()?);
    let call = connection.call_tool_raw("wait", keyed(&key)).timeout(Duration::from_millis(200));
    let late = call.await;
    equal(matches!(late, Err(Error::Call(CallError::TimedOut))), true)?;
    dropped(&world, &connection, &key).await?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_cancelled_async_handler_is_dropped(world: World) -> Outcome {
    let (connection, key) = (world.open().await?, world.key()?);
    waiting(&connection, &key).await?.cancel("enough");
    dropped(&world, &connection, &key).await?;
    // The connection continues.
    let echo = connection.call_tool_raw("echo", json(r#"{"text":"still here"}"#)).await;
    equal(success(echo)?, "still here".into())?;
    connection.close().await;
    Ok(())
}
