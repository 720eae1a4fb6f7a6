//! A server for the notes of several users, in a SQLite database.
//!
//! The programs in `examples` serve it over stdin and stdout (`sqlite_notes`) and inside a web
//! server with access tokens (`axum_notes`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_blocking::proto::Principal;
use mcp_blocking::proto::catalog::Variables;
use mcp_blocking::proto::schema::{Complete, Resource};
use mcp_blocking::{
    Cx, HandlerError, Json, Lists, Page, Server, SubscriptionSettings, Template, Unregistered,
};
use rusqlite::{Connection, OptionalExtension as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

struct Notes {
    database: Mutex<Connection>,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// What to remember.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Find {
    /// A part of the text of the notes.
    part: String,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The number of the note.
    id: i64,
}

#[derive(Serialize, JsonSchema)]
struct Note {
    id: i64,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    notes: Vec<Note>,
}

/// Creates the server. Each user sees only their own notes.
///
/// # Errors
/// Fails if the database has no table for notes and none can be created.
pub fn server(database: Connection) -> Result<Server, rusqlite::Error> {
    database.execute_batch(
        "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, owner TEXT, text TEXT)",
    )?;
    let notes = Arc::new(Notes { database: Mutex::new(database) });
    let owned = Arc::clone(&notes);
    let server =
        Server::new("notes", "1.0.0").lists(Lists::new().announce_changes()).handlers(notes);
    Ok(server
        .add(
            Template::new("note://{id}", "note", Notes::read)
                .description("A note, by its number")
                .mime_type("text/plain")
                .completion("id", Notes::complete),
        )
        .add(Unregistered::new().list_resources(Notes::list))
        .subscriptions(
            SubscriptionSettings::new()
                .accept(move |uri, cx| owned.is_of(uri, owner(cx.principal()))),
        ))
}

#[mcp_blocking::server]
impl Notes {
    /// Adds a note.
    #[tool(destructive = false)]
    fn add(&self, add: Add, cx: Cx) -> Result<Json<Note>, HandlerError> {
        let database = self.database();
        let note = (owner(cx.principal()), &add.text);
        database.execute("INSERT INTO note (owner, text) VALUES (?1, ?2)", note)?;
        Ok(Json(Note { id: database.last_insert_rowid(), text: add.text }))
    }

    /// Finds the notes that contain a text.
    #[tool(read_only)]
    fn find(&self, find: Find, cx: Cx) -> Result<Json<Found>, HandlerError> {
        Ok(Json(Found { notes: self.all(&find.part, &cx)? }))
    }

    /// Deletes a note, if the user agrees.
    #[tool(destructive)]
    fn delete(&self, delete: Delete, cx: Cx) -> Result<&'static str, HandlerError> {
        let note = self.note(delete.id, owner(cx.principal()))?.ok_or("no such note")?;
        if !cx.confirm("delete", &format!("Delete “{}”?", note.text))? {
            return Ok("not deleted");
        }
        self.database().execute("DELETE FROM note WHERE id = ?1", [note.id])?;
        cx.changes().resource_updated(&format!("note://{}", note.id))?;
        Ok("deleted")
    }

    /// Summarizes all notes.
    #[prompt]
    fn summarize(&self, cx: Cx) -> Result<String, HandlerError> {
        let texts: Vec<_> = self.all("", &cx)?.into_iter().map(|note| note.text).collect();
        Ok(format!("Summarize these notes:\n{}", texts.join("\n")))
    }
}

impl Notes {
    fn read(&self, of: Variables, cx: Cx) -> Result<String, HandlerError> {
        let id =
            of.text("id").and_then(|id| id.parse().ok()).ok_or_else(HandlerError::not_found)?;
        let note = self.note(id, owner(cx.principal()))?.ok_or_else(HandlerError::not_found)?;
        Ok(note.text)
    }

    fn list(&self, cx: Cx) -> Result<Page<Resource>, HandlerError> {
        let notes = self.all("", &cx)?.into_iter();
        let notes = notes.map(|note| Resource::new(format!("note://{}", note.id), note.text));
        Ok(Page::new(notes.collect()))
    }

    fn complete(&self, complete: Complete, cx: Cx) -> Result<Vec<String>, HandlerError> {
        let ids = self.all("", &cx)?.into_iter().map(|note| note.id.to_string());
        Ok(ids.filter(|id| id.starts_with(&*complete.argument.value)).collect())
    }

    fn all(&self, part: &str, cx: &Cx) -> Result<Vec<Note>, rusqlite::Error> {
        let database = self.database();
        let mut select = database
            .prepare("SELECT id, text FROM note WHERE owner = ?1 AND instr(text, ?2) > 0")?;
        select.query_map((owner(cx.principal()), part), note_of)?.collect()
    }

    fn note(&self, id: i64, owner: &str) -> Result<Option<Note>, rusqlite::Error> {
        let select = "SELECT id, text FROM note WHERE owner = ?1 AND id = ?2";
        self.database().query_row(select, (owner, id), note_of).optional()
    }

    /// Returns whether the URI is that of a note of this owner.
    fn is_of(&self, uri: &str, owner: &str) -> bool {
        let id = uri.strip_prefix("note://").and_then(|id| id.parse().ok());
        id.is_some_and(|id| matches!(self.note(id, owner), Ok(Some(_))))
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note_of(row: &rusqlite::Row<'_>) -> Result<Note, rusqlite::Error> {
    Ok(Note { id: row.get(0)?, text: row.get(1)? })
}

/// Returns who is asking: the authenticated user over HTTP, and one user over stdio.
fn owner(principal: Option<&Principal>) -> &str {
    principal.map_or("", Principal::id)
}
