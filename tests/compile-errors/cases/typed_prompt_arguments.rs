//! A prompt has its arguments twice: as the fields of a type, and as an option.
use mcp_tokio::proto::schema::{PromptMessage, Role};

pub struct Trips;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Plan {
    days: u8,
}

#[mcp_tokio::server]
impl Trips {
    /// Plans a trip.
    #[prompt(required("days"))]
    fn plan(&self, plan: Plan) -> PromptMessage {
        PromptMessage::new(Role::User, plan.days.to_string())
    }
}
