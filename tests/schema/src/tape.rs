//! Validates every line of a connection against the schema of its revision.

use std::collections::BTreeMap;

use mcp_proto::Side;
use serde_json::Value;

use crate::spec::Spec;

/// The number of lines checked, by kind and method; responses count by the method they answer.
#[derive(Debug, Default)]
pub struct Seen {
    /// Requests and notifications.
    pub sent: BTreeMap<String, usize>,
    /// Results.
    pub results: BTreeMap<String, usize>,
    /// Errors.
    pub errors: usize,
}

/// Validates every line.
///
/// # Errors
///
/// All violations, line by line.
pub fn look(spec: &Spec, lines: &[(Side, Value)]) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut open = Vec::new();
    let mut wrong = Vec::new();
    for (side, line) in lines {
        if line.is_array()
            && let Err(error) = spec.validate("JSONRPCMessage", line)
        {
            wrong.push(format!("{side:?} sent {line}\n  {error}"));
        }
        let members = line.as_array().map_or_else(|| vec![line], |batch| batch.iter().collect());
        for message in members {
            if let Err(error) = look_at(spec, *side, message, &mut open, &mut seen) {
                wrong.push(format!("{side:?} sent {message}\n  {error}"));
            }
        }
    }
    if wrong.is_empty() { Ok(seen) } else { Err(wrong.join("\n")) }
}

fn look_at(
    spec: &Spec,
    side: Side,
    message: &Value,
    open: &mut Vec<(Side, Value, String)>,
    seen: &mut Seen,
) -> Result<(), String> {
    let id = &message["id"];
    if let Some(method) = message["method"].as_str() {
        spec.validate("JSONRPCMessage", message)?;
        let definition = message_of(spec, method).ok_or("no such method in this revision")?;
        spec.validate(definition, message)?;
        *seen.sent.entry(method.to_owned()).or_default() += 1;
        if !id.is_null() {
            open.push((side, id.clone(), method.to_owned()));
        }
        return Ok(());
    }
    let asked = open.iter().position(|(asker, asked, _)| *asker != side && asked == id);
    let method = asked.map(|at| open.swap_remove(at).2);
    if message.get("error").is_some() {
        seen.errors += 1;
        let error = defined(spec, &["JSONRPCErrorResponse", "JSONRPCError"]);
        if id.is_null() && message.get("id").is_some() {
            // D-01: the early schemas have no form for an error about an unreadable id.
            let mut message = message.clone();
            message["id"] = 0.into();
            return spec.validate(error, &message);
        }
        spec.validate("JSONRPCMessage", message)?;
        return spec.validate(error, message);
    }
    spec.validate("JSONRPCMessage", message)?;
    spec.validate(defined(spec, &["JSONRPCResultResponse", "JSONRPCResponse"]), message)?;
    let method = method.ok_or("it answers no request")?;
    let request = message_of(spec, &method).ok_or("no such method in this revision")?;
    let result = result_of(spec, request);
    spec.validate(&result, &message["result"]).map_err(|error| format!("no {result}: {error}"))?;
    *seen.results.entry(method).or_default() += 1;
    Ok(())
}

/// Returns the definition of the message with this method, as opposed to unions and bases.
fn message_of<'a>(spec: &'a Spec, method: &str) -> Option<&'a str> {
    let is_it = |schema: &Value| schema["properties"]["method"]["const"] == method;
    spec.definitions().find(|(_, schema)| is_it(schema)).map(|(name, _)| name)
}

/// Returns the definition of the result of a request.
#[must_use]
pub fn result_of(spec: &Spec, request: &str) -> String {
    let result = request.replace("Request", "Result");
    if spec.definition(&result).is_some() { result } else { "EmptyResult".to_owned() }
}

fn defined<'a>(spec: &Spec, names: &[&'a str]) -> &'a str {
    names.iter().find(|name| spec.definition(name).is_some()).expect("one of them is defined")
}
