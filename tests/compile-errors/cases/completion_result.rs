//! A completion returns one text.
use mcp_tokio::Template;

pub fn template() -> Template {
    Template::new("notes://{day}", "notes", || "buy milk").completion("day", || "today")
}
