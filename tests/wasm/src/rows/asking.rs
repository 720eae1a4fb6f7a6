//! Questions to the client, and the state between their rounds.

use mcp_wasm::proto::{Raw, code};
use mcp_wasm::{Client, Error};

use super::{equal, refusal, success};
use crate::world::{Outcome, World};

pub(super) async fn a_question_is_answered(world: World) -> Outcome {
    let connection = world.open().await?;
    let asked = connection.call_tool_raw("ask", Raw::empty_object()).await;
    equal(success(asked)?, "hello Ada".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn answers_of_all_rounds_are_kept(world: World) -> Outcome {
    let connection = world.open().await?;
    let asked = connection.call_tool_raw("ask_twice", Raw::empty_object()).await;
    equal(success(asked)?, "hello Ada, green".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_key_names_one_question(world: World) -> Outcome {
    let connection = world.open().await?;
    let asked = connection.call_tool_raw("ask_same", Raw::empty_object()).await;
    equal(refusal(asked)?, code::INTERNAL_ERROR)?;
    connection.close().await;
    Ok(())
}

pub(super) async fn state_comes_back(world: World) -> Outcome {
    let connection = world.open().await?;
    let again = connection.call_tool_raw("again", Raw::empty_object()).await;
    equal(success(again)?, "welcome back".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_client_that_cannot_answer_is_refused(world: World) -> Outcome {
    let client = Client::new("mute", "1.0.0").revisions(&[world.revision]);
    let connection = world.connect(client).await.map_err(|error| error.to_string())?;
    let asked = connection.call_tool_raw("ask", Raw::empty_object()).await;
    equal(matches!(asked, Err(Error::Call(_))), true)?;
    connection.close().await;
    Ok(())
}
