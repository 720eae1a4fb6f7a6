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
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

struct Notes(Mutex<Connection>);

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// The text of the note, or the part of it to search for.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Id {
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
    let table = "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, owner TEXT, text TEXT)";
    database.execute(table, ())?;
    let notes = Arc::new(Notes(Mutex::new(database)));
    let owned = Arc::clone(&notes);
    let may_subscribe = SubscriptionSettings::new().accept(move |uri, caller| {
        let id = uri.strip_prefix("note://").and_then(|id| id.parse().ok());
        id.is_some_and(|id| owned.note(id, caller.principal()).is_ok())
    });
    let template = Template::new("note://{id}", "note", Notes::read)
        .description("A note, by its number")
        .mime_type("text/plain")
        .completion("id", Notes::complete);
    Ok(Server::new("notes", "1.0.0")
        .handlers(notes)
        .add(template)
        .add(Unregistered::new().list_resources(Notes::resources))
        .lists(Lists::new().announce_changes())
        .subscriptions(may_subscribe))
}

#[mcp_blocking::server]
impl Notes {
    /// Adds a note.
    #[tool(destructive = false)]
    fn add(&self, Text { text }: Text, cx: Cx) -> Result<Json<Note>, HandlerError> {
        let database = self.database();
        let row = (owner(cx.principal()), &text);
        database.execute("INSERT INTO note (owner, text) VALUES (?1, ?2)", row)?;
        cx.changes().resources_list_changed()?;
        Ok(Json(Note { id: database.last_insert_rowid(), text }))
    }

    /// Lists all notes.
    #[tool(read_only)]
    fn list(&self, cx: Cx) -> Result<Json<Found>, HandlerError> {
        Ok(Json(Found { notes: self.notes("", &cx)? }))
    }

    /// Finds the notes that contain a text.
    #[tool(read_only)]
    fn search(&self, part: Text, cx: Cx) -> Result<Json<Found>, HandlerError> {
        Ok(Json(Found { notes: self.notes(&part.text, &cx)? }))
    }

    /// Deletes a note, if the user agrees.
    #[tool(destructive)]
    fn delete(&self, Id { id }: Id, cx: Cx) -> Result<&'static str, HandlerError> {
        let note = self.note(id, cx.principal()).map_err(|_| "no such note")?;
        if !cx.confirm("delete", &format!("Delete “{}”?", note.text))? {
            return Ok("not deleted");
        }
        self.database().execute("DELETE FROM note WHERE id = ?1", [id])?;
        cx.changes().resource_updated(&format!("note://{id}"))?;
        cx.changes().resources_list_changed()?;
        Ok("deleted")
    }

    /// Summarizes all notes.
    #[prompt]
    fn summarize(&self, cx: Cx) -> Result<String, HandlerError> {
        let texts: Vec<_> = self.notes("", &cx)?.into_iter().map(|note| note.text).collect();
        Ok(format!("Summarize these notes:\n{}", texts.join("\n")))
    }
}

impl Notes {
    fn read(&self, of: Variables, cx: Cx) -> Result<String, HandlerError> {
        let id = of.text("id").and_then(|id| id.parse().ok());
        let note = id.and_then(|id| self.note(id, cx.principal()).ok());
        note.map(|note| note.text).ok_or_else(HandlerError::not_found)
    }

    fn resources(&self, cx: Cx) -> Result<Page<Resource>, HandlerError> {
        let notes = self.notes("", &cx)?.into_iter();
        let notes = notes.map(|note| Resource::new(format!("note://{}", note.id), note.text));
        Ok(Page::new(notes.collect()))
    }

    fn complete(&self, typed: Complete, cx: Cx) -> Result<Vec<String>, HandlerError> {
        let ids = self.notes("", &cx)?.into_iter().map(|note| note.id.to_string());
        Ok(ids.filter(|id| id.starts_with(&*typed.argument.value)).collect())
    }

    fn notes(&self, part: &str, cx: &Cx) -> Result<Vec<Note>, rusqlite::Error> {
        let database = self.database();
        let mut select = database
            .prepare("SELECT id, text FROM note WHERE owner = ?1 AND instr(text, ?2) > 0")?;
        select.query_map((owner(cx.principal()), part), note_of)?.collect()
    }

    fn note(&self, id: i64, user: Option<&Principal>) -> Result<Note, rusqlite::Error> {
        let select = "SELECT id, text FROM note WHERE owner = ?1 AND id = ?2";
        self.database().query_row(select, (owner(user), id), note_of)
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note_of(row: &rusqlite::Row<'_>) -> Result<Note, rusqlite::Error> {
    Ok(Note { id: row.get(0)?, text: row.get(1)? })
}

/// Returns the name of the authenticated user over HTTP, and that of the only one over stdio.
fn owner(user: Option<&Principal>) -> &str {
    user.map_or("", Principal::id)
}
