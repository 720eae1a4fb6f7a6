//! The operations of a worker, each of which checks what it gets.

use std::future::{Future, IntoFuture};
use std::time::Duration;

use mcp_adapter::proto::schema::CallToolResult;
use mcp_adapter::proto::{CallError, Era, Filter, Misuse};
use mcp_adapter::{Changed, Connection, Error};
use mcp_adapter_tests::{text_of, timer};
use serde_json::json;
use smol::future::{or, poll_once};

use crate::random::Random;
use crate::server::{COUNT, NOTE};

/// An operation on a connection that other workers use as well.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A call of a tool that answers with the number it was given.
    Call(&'static str),
    Large,
    Cancel,
    Drop,
    /// Drops a call that was polled once.
    DropFuture,
    TimeOut,
    Panic,
    Progress,
    Subscribe,
    List,
    Ping,
    /// Subscribes and keeps the subscription, which reconnecting resumes.
    Keep,
    /// Drops a subscription that was kept.
    Forget,
    /// Ends the server process, if it is one.
    Exit,
    Reconnect,
    /// Closes the connection and waits for its end.
    Close,
    /// Drops the connection.
    Abandon,
    /// Connects, and stops to wait for it.
    DropConnect,
}

/// The operations and how often each is drawn.
const WEIGHTS: &[(Operation, usize)] = &[
    (Operation::Call("echo"), 200),
    (Operation::Call("echo_plain"), 200),
    (Operation::Call("slow"), 60),
    (Operation::Call("slow_plain"), 60),
    (Operation::Call("ask"), 40),
    (Operation::Call("ask_plain"), 40),
    (Operation::Large, 20),
    (Operation::Cancel, 50),
    (Operation::Drop, 50),
    (Operation::DropFuture, 30),
    (Operation::TimeOut, 30),
    (Operation::Panic, 3),
    (Operation::Progress, 30),
    (Operation::Subscribe, 30),
    (Operation::List, 20),
    (Operation::Ping, 20),
    (Operation::Keep, 10),
    (Operation::Forget, 8),
    (Operation::Exit, 1),
    (Operation::Reconnect, 4),
    (Operation::Close, 2),
    (Operation::Abandon, 2),
    (Operation::DropConnect, 2),
];

/// How long a change may take to arrive.
const SOON: Duration = Duration::from_secs(20);

impl Operation {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let all = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut left = random.below(all);
        for (operation, weight) in WEIGHTS {
            if left < *weight {
                return *operation;
            }
            left -= weight;
        }
        Self::List
    }

    /// Runs an operation that leaves the connection open.
    ///
    /// # Errors
    /// Returns what is wrong. An error of a connection that has ended is none.
    pub(crate) async fn run(
        self,
        connection: &Connection,
        number: u64,
        random: &mut Random,
    ) -> Result<(), String> {
        let outcome = match self {
            Self::Call(tool) => {
                let micros = random.next() % 3000;
                let call = connection.call_tool(tool, &json!({"number": number, "micros": micros}));
                call.await.map(|result| is(&result, &number.to_string()))
            }
            Self::Large => {
                let length = 1 << (10 + random.below(10));
                let call = json!({"number": number, "length": length, "text": "y".repeat(length)});
                let wanted = format!("{number}{}", "x".repeat(length));
                connection.call_tool("large", &call).await.map(|result| is(&result, &wanted))
            }
            Self::Cancel | Self::Drop => self.give_up(connection, number, random).await,
            Self::DropFuture => {
                let call = connection.call_tool("slow", &json!({"number": number, "micros": 500}));
                let _polled = poll_once(call.into_future()).await;
                Ok(Ok(()))
            }
            Self::TimeOut => {
                let tool = if random.below(2) == 0 { "hang" } else { "hang_plain" };
                let timeout = Duration::from_micros(random.next() % 20_000);
                let call = connection.call_tool(tool, &json!({})).timeout(timeout);
                match call.await {
                    Err(Error::Call(CallError::TimedOut) | Error::Misuse(Misuse::Blocked)) => {
                        Ok(Ok(()))
                    }
                    other => other.map(|result| Err(format!("`{tool}` answered {result:?}"))),
                }
            }
            Self::Panic => match connection.call_tool("panic", &json!({})).await {
                Err(Error::Call(CallError::Refused(_))) => Ok(Ok(())),
                other => other.map(|result| Err(format!("`panic` answered {result:?}"))),
            },
            Self::Progress => progress(connection, number).await,
            Self::Subscribe => subscribe(connection, number).await,
            Self::List => connection.list_tools().await.map(|tools| match tools.len() {
                13 => Ok(()),
                count => Err(format!("{count} tools")),
            }),
            Self::Ping if connection.era() == Era::Legacy => connection.ping().await.map(Ok),
            // The other operations are those of the world.
            _ => Ok(Ok(())),
        };
        match outcome {
            Ok(verdict) => verdict,
            Err(error) if has_ended(connection, &error).await => Ok(()),
            Err(error) => Err(format!("{error:?}")),
        }
    }

    /// Starts a call and ends it before, while or after it is answered.
    async fn give_up(
        self,
        connection: &Connection,
        number: u64,
        random: &mut Random,
    ) -> Result<Result<(), String>, Error> {
        let tool = ["slow", "slow_plain", "hang", "hang_plain", "ask", "echo"][random.below(6)];
        let micros = random.next() % 1000;
        let call = json!({"number": number, "micros": micros});
        let pending = connection.call_tool(tool, &call).start().await?;
        if random.below(2) == 0 {
            timer(Duration::from_micros(random.next() % 2000)).await;
        }
        if matches!(self, Self::Cancel) {
            pending.cancel("a test cancels");
        }
        Ok(Ok(()))
    }
}

fn is(result: &CallToolResult, wanted: &str) -> Result<(), String> {
    if !result.is_error && text_of(result) == wanted {
        return Ok(());
    }
    let shown: String = format!("{result:?}").chars().take(200).collect();
    Err(format!("the answer belongs to another call: {shown}"))
}

async fn progress(connection: &Connection, number: u64) -> Result<Result<(), String>, Error> {
    let mut last = 0.0;
    let mut is_growing = true;
    let call = connection.call_tool("count", &json!({"number": number})).progress(|progress| {
        is_growing &= progress.progress > last;
        last = progress.progress;
    });
    let result = call.await?;
    if !is_growing || last > COUNT.into() {
        return Ok(Err(format!("progress went to {last}")));
    }
    Ok(is(&result, &number.to_string()))
}

async fn subscribe(connection: &Connection, number: u64) -> Result<Result<(), String>, Error> {
    let mut listening = connection.subscribe(&Filter::new().resource(NOTE)).await?;
    let result = connection.call_tool("change", &json!({"number": number})).await?;
    let change = within(SOON, listening.next()).await.transpose()?;
    let has_ended = listening.ended().is_some();
    Ok(match change {
        Some(Some(Changed::Resource(uri))) if uri == NOTE => is(&result, &number.to_string()),
        Some(None) if has_ended => Ok(()),
        other => Err(format!("no change arrived: {other:?}")),
    })
}

async fn within<T>(patience: Duration, future: impl Future<Output = T>) -> Option<T> {
    or(async { Some(future.await) }, async {
        timer(patience).await;
        None
    })
    .await
}

/// Returns whether a call failed because its connection has ended.
pub(crate) async fn has_ended(connection: &Connection, error: &Error) -> bool {
    let fits = match error {
        Error::Call(CallError::Invalid(why)) => why.contains("the stream ended"),
        Error::Call(call) => matches!(
            call,
            CallError::Lost | CallError::LostRead | CallError::SessionEnded | CallError::Unsent
        ),
        Error::Misuse(Misuse::Closed) => true,
        _ => false,
    };
    // A lost call is reported just before the end of its connection.
    for _ in 0..500 {
        if !fits || connection.close_reason().is_some() {
            break;
        }
        timer(Duration::from_millis(2)).await;
    }
    fits && connection.close_reason().is_some()
}
