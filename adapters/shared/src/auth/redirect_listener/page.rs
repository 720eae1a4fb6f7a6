//! The three static pages that a user may see at the end of an authorization.

use std::io::{self, Write};

use mcp_proto::auth::RedirectPage;

/// Writes the response with a page, which shows nothing of the request.
pub(super) fn write(page: RedirectPage, stream: &mut impl Write) -> io::Result<()> {
    let (status, title, text) = match page {
        RedirectPage::Success => {
            ("200 OK", "Signed in", "You can close this page and return to the application.")
        }
        RedirectPage::Failure => {
            ("400 Bad Request", "Not signed in", "Return to the application to see why.")
        }
        RedirectPage::NotFound => {
            ("404 Not Found", "Not found", "Nothing is expected at this address.")
        }
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1><p>{text}</p></html>\n"
    );
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nconnection: close\r\n\
         content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n\
         referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\r\n{body}",
        body.len(),
    );
    stream.write_all(response.as_bytes())
}
