//! The client: it paints the sky and flies twice, driven once per frame like the game.

use std::error::Error;
use std::io;

use mcp_proto::client::{Client, Config, Event};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallId, CallOptions, Instant, Raw};
use serde_json::json;

use crate::{EVENTS_PER_FRAME, Pipe, begin_frame, end_frame};

pub(crate) struct Pilot {
    pub(crate) machine: Stdio<Client>,
    /// The latest flight.
    flight: Option<CallId>,
    /// The number of completed flights.
    legs: u32,
}

impl Pilot {
    pub(crate) fn new() -> Self {
        let config = Config::new("pilot", "1.0.0");
        Self { machine: Stdio::new(Client::new(Instant::ZERO, config)), flight: None, legs: 0 }
    }

    pub(crate) fn frame(
        &mut self,
        now: Instant,
        from: &mut Pipe,
        to: &mut Pipe,
        mut print: impl FnMut(String) -> io::Result<()>,
    ) -> Result<(), Box<dyn Error>> {
        begin_frame(now, &mut self.machine, from);
        for _ in 0..EVENTS_PER_FRAME {
            match self.machine.poll_event() {
                Some(Event::Ready(peer)) => {
                    print(format!("aboard {} {}", peer.info.name, peer.info.version))?;
                    self.call(now, "paint_sky", &json!({"color": "green"}))?;
                    self.flight = Some(self.call(now, "fly", &json!({"to": 20}))?);
                }
                Some(Event::Progress { call, progress }) => {
                    print(format!(
                        "flown {} of {}",
                        progress.progress,
                        progress.total.unwrap_or_default()
                    ))?;
                    // Cancel the second flight on the way.
                    if self.legs == 1 && progress.progress >= 5.0 {
                        self.machine.cancel(now, call, "that is far enough")?;
                    }
                }
                Some(Event::Completed { call, outcome }) => {
                    match outcome {
                        Ok(result) => {
                            let result = CallToolResult::decode(&result)?;
                            print(
                                result
                                    .content
                                    .first()
                                    .and_then(|text| text.as_text())
                                    .unwrap_or("?")
                                    .into(),
                            )?;
                        }
                        Err(error) => print(error.to_string())?,
                    }
                    if self.flight == Some(call) {
                        self.next_leg(now)?;
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        end_frame(&mut self.machine, to);
        Ok(())
    }

    fn next_leg(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        self.legs += 1;
        if self.legs == 1 {
            self.flight = Some(self.call(now, "fly", &json!({"to": 0}))?);
        } else {
            self.machine.close(now);
        }
        Ok(())
    }

    fn call(
        &mut self,
        now: Instant,
        tool: &str,
        arguments: &serde_json::Value,
    ) -> Result<CallId, Box<dyn Error>> {
        let call = CallTool::new(tool).arguments(Raw::new(arguments)?);
        Ok(self.machine.call(
            now,
            &call,
            CallOptions { progress: true, ..CallOptions::default() },
        )?)
    }
}
