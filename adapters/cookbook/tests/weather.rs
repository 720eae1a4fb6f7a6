//! Tests of a small server of one's own, in virtual time: none of them waits.
//!
//! ```sh
//! cargo test -p mcp-cookbook --test weather
//! ```

use std::time::Duration;

use mcp_tokio::proto::schema::{ElicitResult, Level};
use mcp_tokio::proto::{CallError, Filter, Instant, Progress, Raw};
use mcp_tokio::testing::pair;
use mcp_tokio::{Changed, Client, Cx, Error, HandlerError, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The time that the model takes for one day.
const DAY_TIME: Duration = Duration::from_secs(40);

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

async fn today(City { city }: City, cx: Cx) -> Result<String, HandlerError> {
    cx.log(Level::Info, &format!("asked for {city}")).await?;
    match &*city {
        "Oslo" => Ok("sunny".to_owned()),
        _ => Err(HandlerError::failed(format!("no station in {city}: try Oslo"))),
    }
}

async fn here(cx: Cx) -> Result<String, HandlerError> {
    let City { city } = cx.ask_form("city", "Where are you?")?;
    today(City { city }, cx).await
}

async fn forecast(cx: Cx) -> Result<&'static str, HandlerError> {
    for day in 1..=3 {
        cx.sleep(DAY_TIME).await;
        cx.progress(Progress::new(day.into()).with_total(3.0))?;
    }
    Ok("rain")
}

fn server() -> Server {
    Server::new("weather", "1.0.0")
        .logging()
        .tool("today", "Today's weather in a city", today)
        .tool("here", "Today's weather where the user is", here)
        .tool("forecast", "The weather of the next days", forecast)
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn client() -> Client {
    Client::new("test", "1.0.0")
}

#[test]
fn a_city_has_weather_and_another_one_an_error() -> Outcome {
    let mut pair = pair(&server(), client())?;
    let oslo = pair.call_tool("today", &json!({"city": "Oslo"}))?;
    assert_eq!(oslo.content[0].as_text(), Some("sunny"));
    let rome = pair.call_tool("today", &json!({"city": "Rome"}))?;
    assert!(rome.is_error);
    assert_eq!(rome.content[0].as_text(), Some("no station in Rome: try Oslo"));
    Ok(())
}

#[test]
fn the_user_is_asked_for_the_city() -> Outcome {
    let oslo = ElicitResult::accept(Raw::new(&json!({"city": "Oslo"}))?);
    let mut pair = pair(&server(), client().on_elicitation(move || oslo.clone()))?;
    let here = pair.call_tool("here", &())?;
    assert_eq!(here.content[0].as_text(), Some("sunny"));
    Ok(())
}

#[test]
fn a_forecast_reports_progress() -> Outcome {
    let mut pair = pair(&server(), client())?;
    let (client, mut days) = (pair.client(), Vec::new());
    let forecast = client.call_tool("forecast", &()).progress(|it| days.push(it.progress));
    pair.run(forecast)?;
    assert_eq!(days, [1.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn a_slow_forecast_times_out() -> Outcome {
    let mut pair = pair(&server(), client())?;
    let client = pair.client();
    let late = pair.run(client.call_tool("forecast", &()).timeout(DAY_TIME / 2)).unwrap_err();
    assert!(matches!(late, Error::Call(CallError::TimedOut)), "{late}");
    assert_eq!(pair.now(), Instant::ZERO + DAY_TIME / 2);
    Ok(())
}

#[test]
fn requests_are_logged() -> Outcome {
    let (sender, logged) = std::sync::mpsc::channel();
    let client = client().on_log(move |log, _| drop(sender.send(log.data.to_string())));
    let mut pair = pair(&server(), client)?;
    pair.call_tool("today", &json!({"city": "Oslo"}))?;
    pair.wait(Duration::ZERO); // delivers the log message
    assert_eq!(logged.try_recv()?, r#""asked for Oslo""#);
    Ok(())
}

#[test]
fn a_new_tool_is_announced() -> Outcome {
    let mut server = server();
    let changes = server.changes();
    let mut pair = pair(&server, client())?;
    let mut changed = pair.run(pair.client().subscribe(&Filter::new().tools()))?;
    changes.add(Tool::new("tides", || "high").description("The tides"))?;
    assert_eq!(pair.run(changed.next())?, Some(Changed::Tools));
    Ok(())
}
