//! A resource returns a type that is no resource.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::Resource;

pub fn server() -> Server {
    Server::new("s", "1")
        .resource_async(Resource::new("notes://all", "all"), |_read, _cx| async { Ok("notes") })
}
