//! The properties of messages around params and results: the machines accept and answer them.
//!
//! Messages of every revision are passed to a session of the last legacy revision, whose envelope
//! is identical, except for batches, which only one revision has.

use std::time::Duration;

use mcp_proto::client;
use mcp_proto::schema::{
    Decode, DecodeError, ListTools, MissingCapabilities, UnsupportedVersion, UrlElicitationRequired,
};
use mcp_proto::server;
use mcp_proto::{CallError, CallOptions, MessageEndpoint, Raw, Revision};
use serde_json::{Value, json};

use crate::compare::difference;
use crate::pair::Pair;

/// Sessions that accept one message after the other.
#[derive(Debug)]
pub struct Envelope {
    pair: Pair,
}

impl Envelope {
    /// Creates sessions for the messages of `revision`.
    #[must_use]
    pub fn new(revision: Revision) -> Self {
        let session =
            if Revision::LEGACY.contains(&revision) { revision } else { Revision::V2025_11_25 };
        Self { pair: Pair::new(session) }
    }

    /// Passes `value`, of the definition `name`, to the machines.
    ///
    /// # Errors
    ///
    /// If they do not accept it as what it is.
    pub fn check(&mut self, name: &str, value: &Value) -> Result<(), String> {
        // T-18: replies to invalid messages are limited over time.
        self.pair.now += Duration::from_secs(2);
        match name {
            "JSONRPCBatchRequest" => self.requests(value),
            "JSONRPCBatchResponse" => self.responses(value),
            "JSONRPCNotification" => self.notification(value),
            "JSONRPCRequest" => self.request(value),
            _ if value.get("result").is_some() => self.result(value),
            _ if value.get("error").is_some() => self.error(&value["error"]),
            _ => self.error(value),
        }
    }

    /// Checks that a request is answered under its id.
    fn request(&mut self, request: &Value) -> Result<(), String> {
        self.pair.tell_server(request);
        let answer = self.answer().ok_or("is not answered")?;
        match difference(&request["id"], &answer["id"]) {
            Some(difference) => Err(format!("is answered under another id: {difference}")),
            None => Ok(()),
        }
    }

    /// Answers as the application if it was asked; otherwise the machine does.
    fn answer(&mut self) -> Option<Value> {
        while let Some(event) = self.pair.server.poll_event() {
            if let server::Event::Request { incoming, .. } = event {
                let answered =
                    self.pair.server.respond(self.pair.now, incoming, &Raw::empty_object());
                answered.expect("the request is open");
            }
        }
        self.pair.server_line()
    }

    /// Checks that a notification is neither answered nor reported as malformed.
    fn notification(&mut self, notification: &Value) -> Result<(), String> {
        self.pair.tell_server(notification);
        if let Some(answer) = self.answer() {
            return Err(format!("is answered: {answer}"));
        }
        Ok(())
    }

    /// Checks that each request of a batch is answered under its id, in one array.
    fn requests(&mut self, batch: &Value) -> Result<(), String> {
        let mut batch = batch.as_array().cloned().unwrap_or_default();
        // ID-01: ids of open requests differ.
        for (index, message) in
            batch.iter_mut().enumerate().filter(|(_, message)| message.get("id").is_some())
        {
            message["id"] = index.into();
        }
        let mut ids: Vec<i64> = batch.iter().filter_map(|message| message["id"].as_i64()).collect();
        self.pair.tell_server(&Value::Array(batch.clone()));
        let answer = self.answer();
        if batch.is_empty() {
            return answer.map(|_| ()).ok_or_else(|| "is empty and no error".to_owned());
        }
        let answers = answer.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let mut answered: Vec<i64> =
            answers.iter().filter_map(|answer| answer["id"].as_i64()).collect();
        ids.sort_unstable();
        answered.sort_unstable();
        if ids == answered {
            Ok(())
        } else {
            Err(format!("of {ids:?}, only {answered:?} are answered"))
        }
    }

    fn responses(&mut self, batch: &Value) -> Result<(), String> {
        let mut batch = batch.as_array().cloned().unwrap_or_default();
        for response in &mut batch {
            response["id"] = self.call();
        }
        self.pair.tell_client(&Value::Array(batch.clone()));
        for response in &batch {
            let outcome = self.outcome().ok_or("completes no call")?;
            if outcome.is_ok() != response.get("result").is_some() {
                return Err(format!("{response} is taken as {outcome:?}"));
            }
        }
        Ok(())
    }

    /// Checks that a result completes its call and arrives unchanged.
    fn result(&mut self, response: &Value) -> Result<(), String> {
        let mut response = response.clone();
        response["id"] = self.call();
        self.pair.tell_client(&response);
        match self.outcome() {
            Some(Ok(result)) => {
                let result = serde_json::from_str(result.as_str()).expect("JSON");
                difference(&response["result"], &result).map_or(Ok(()), Err)
            }
            other => Err(format!("is taken as {other:?}")),
        }
    }

    /// Checks that an error fails its call with its code, message and data.
    fn error(&mut self, error: &Value) -> Result<(), String> {
        let response = json!({ "jsonrpc": "2.0", "id": self.call(), "error": error });
        self.pair.tell_client(&response);
        let Some(Err(CallError::Refused(refusal))) = self.outcome() else {
            return Err("does not refuse the call".to_owned());
        };
        let same =
            error["code"].as_i64() == Some(refusal.code) && error["message"] == *refusal.message;
        if !same {
            return Err(format!("is taken as {refusal:?}"));
        }
        let data = refusal
            .data
            .as_ref()
            .map(|data| serde_json::from_str::<Value>(data.as_str()).expect("JSON"));
        match (error.get("data"), data) {
            (Some(sent), Some(taken)) => difference(sent, &taken).map_or(Ok(()), Err)?,
            (None, None) => {}
            (sent, taken) => return Err(format!("the data {sent:?} is taken as {taken:?}")),
        }
        match refusal.data {
            Some(data) if error.get("code").is_some() => typed_data(refusal.code, &data),
            _ => Ok(()),
        }
    }

    fn call(&mut self) -> Value {
        let options = CallOptions::default();
        self.pair
            .client
            .call(self.pair.now, &ListTools::new(), options)
            .expect("a call can be made");
        let line = self.pair.client.poll_outgoing().expect("it is sent");
        let line: Value = serde_json::from_slice(line.body).expect("JSON");
        line["id"].clone()
    }

    fn outcome(&mut self) -> Option<Result<Raw, CallError>> {
        while let Some(event) = self.pair.client.poll_event() {
            if let client::Event::Completed { outcome, .. } = event {
                return Some(outcome);
            }
        }
        None
    }
}

/// Checks the data of errors whose data has a type.
fn typed_data(code: i64, data: &Raw) -> Result<(), String> {
    let wrong = |error: DecodeError| format!("its data is not read: {error}");
    match code {
        -32021 => MissingCapabilities::decode(data).map(|_| ()).map_err(wrong),
        -32022 => UnsupportedVersion::decode(data).map(|_| ()).map_err(wrong),
        -32042 => match UrlElicitationRequired::decode(data) {
            Ok(data) if data.elicitations.broken.is_empty() => Ok(()),
            Ok(data) => {
                Err(format!("parts of its data are not read: {:?}", data.elicitations.broken))
            }
            Err(error) => Err(wrong(error)),
        },
        _ => Ok(()),
    }
}
