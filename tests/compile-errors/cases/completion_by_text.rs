//! A completion names its prompt by a text.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::GetPrompt;

#[derive(Default)]
struct Trips;

#[mcp_tokio::server]
impl Trips {
    #[prompt(required("place"))]
    fn plan(&self, get: GetPrompt) -> String {
        get.argument("place").unwrap_or_default().to_owned()
    }

    #[completion("plan", "place")]
    fn places(&self) -> Vec<String> {
        Vec::new()
    }
}

pub fn server() -> Server {
    Server::new("s", "1").handlers(Trips)
}
