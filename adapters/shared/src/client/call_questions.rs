//! The questions of a server about one call: its handlers, and the result that asks.

use mcp_proto::schema::{
    CreateMessage, CreateMessageResult, Decode, Elicit, ElicitResult, ElicitUrl, Encode, ListRoots,
    ListRootsResult, Map,
};
use mcp_proto::{Raw, Revision, Unencodable};

use crate::client::answerer::{Answerer, PreparedAnswerer};
use crate::client::call::{Call, Pending};
use crate::client::questions::{Answering, Asker};
use crate::client::request_handler::{FORM, ROOTS, SAMPLING, URL};
use crate::error::Error;

/// Handlers of the questions that a server asks because of this call. They precede those of the
/// [`Client`](crate::Client).
///
/// The client must have declared the capability: with its own handler, or with
/// [`Client::configure`](crate::Client::configure). Legacy servers over byte streams do not say
/// which call asks: their question belongs to the only open call that could have asked. If several
/// are open and one of them has handlers, the question goes to the handler of the client, or is
/// refused if there is none.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::Capability;
/// use mcp_tokio::proto::schema::{Elicit, ElicitResult};
/// use mcp_tokio::{Client, Connection, Error};
///
/// let client = Client::new("agents", "1.0.0")
///     .configure(|config| config.capability(Capability::ElicitationForm));
/// # drop(client);
///
/// async fn book(connection: &Connection, agent: &'static str) -> Result<(), Error> {
///     let call = connection.call_tool("book", &()).on_elicitation(move |form: Elicit| {
///         println!("{agent} is asked: {}", form.message);
///         ElicitResult::decline()
///     });
///     call.await.map(drop)
/// }
/// ```
impl<T> Call<'_, T> {
    /// Sets the function that answers the forms of this call, as
    /// [`Client::on_elicitation`](crate::Client::on_elicitation) does for all calls.
    pub fn on_elicitation<M>(self, answer: impl Answerer<Elicit, ElicitResult, M>) -> Self {
        self.handle(FORM, answer.prepare())
    }

    /// Sets the function that answers the URL elicitations of this call, as
    /// [`Client::on_url_elicitation`](crate::Client::on_url_elicitation) does for all calls.
    pub fn on_url_elicitation<M>(self, answer: impl Answerer<ElicitUrl, ElicitResult, M>) -> Self {
        self.handle(URL, answer.prepare())
    }

    /// Sets the function that answers the sampling requests of this call, as
    /// [`Client::on_sampling`](crate::Client::on_sampling) does for all calls.
    pub fn on_sampling<M>(
        self,
        sample: impl Answerer<CreateMessage, CreateMessageResult, M>,
    ) -> Self {
        self.handle(SAMPLING, sample.prepare())
    }

    /// Sets the function that returns the roots for this call, as
    /// [`Client::on_roots`](crate::Client::on_roots) does for all calls.
    pub fn on_roots<M>(self, roots: impl Answerer<ListRoots, ListRootsResult, M>) -> Self {
        self.handle(ROOTS, roots.prepare())
    }

    fn handle(mut self, key: &'static str, answerer: PreparedAnswerer) -> Self {
        self.answering.add(key, answerer.0);
        self
    }
}

impl<'c, T: Decode> Call<'c, T> {
    /// Returns the questions of the server as the result of the call, instead of answering them.
    ///
    /// The result is that of the method, or an
    /// [`InputRequired`](mcp_proto::schema::InputRequired) if its `resultType` is `input_required`.
    /// Decoding does not tell them apart. To continue, make the call again with the answers and the
    /// request state in its params. A gateway uses [`Cx::relay`](crate::Cx::relay), which does all
    /// this.
    ///
    /// Has no effect in the legacy era (before revision 2026-07-28), whose servers ask by requests.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{CallTool, CallToolResult, Decode, InputRequired};
    /// use mcp_tokio::{Connection, Error};
    ///
    /// async fn book(connection: &Connection) -> Result<(), Error> {
    ///     let result = connection.call(CallTool::new("book")).input_required().await?;
    ///     let kind = result.member("resultType");
    ///     if kind.is_some_and(|kind| kind.as_str() == r#""input_required""#) {
    ///         println!("asks for {:?}", InputRequired::decode(&result)?.input_requests);
    ///     } else {
    ///         println!("booked: {:?}", CallToolResult::decode(&result)?.content);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn input_required(mut self) -> Call<'c, Raw> {
        self.options.input_required = true;
        self.undecoded()
    }

    /// Sends the call on behalf of `asker`, and returns its questions instead of answering them:
    /// in the modern era as the result, and in a legacy session one by one.
    ///
    /// The call continues an earlier one with `answers` and `state`, if there are any.
    pub(crate) async fn send_held(
        self,
        asker: Asker,
        with_progress: bool,
        answers: Vec<(String, Raw)>,
        state: Option<String>,
    ) -> Result<Pending<Raw>, Error> {
        let mut call = self.input_required();
        call.options.progress |= with_progress;
        call.answering = Answering::Holder(asker);
        call.params = Box::new(RelayedParams { params: call.params, answers, state });
        call.send_pending().await
    }
}

/// Params of another connection, with the answers to the questions of an earlier result.
// STL-20, STL-21: answers under the keys of the server, and its state unchanged.
struct RelayedParams<P> {
    params: P,
    answers: Vec<(String, Raw)>,
    state: Option<String>,
}

/// The members that belong to the connection from which a call is relayed.
const OF_CONNECTION: [&str; 4] = ["_meta", "inputResponses", "requestState", "task"];

impl<P: Encode> Encode for RelayedParams<P> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let params = self.params.to_raw(revision)?;
        let mut members = Map::<Raw>::decode(&params).map_err(|_| Unencodable)?;
        let meta = members.get("_meta").and_then(relayed_meta);
        members.items.retain(|(name, _)| !OF_CONNECTION.contains(&&**name));
        if let Some(meta) = meta {
            members = members.with("_meta", meta.to_raw(revision)?);
        }
        if !self.answers.is_empty() {
            let add = |all: Map<Raw>, (key, answer): &(String, Raw)| all.with(key, answer.clone());
            let answers = self.answers.iter().fold(Map::new(), add).to_raw(revision)?;
            members = members.with("inputResponses", answers);
        }
        if let Some(state) = &self.state {
            members = members.with("requestState", Raw::new(state)?);
        }
        members.encode(revision, out)
    }
}

/// Returns the entries of `_meta` that do not belong to the protocol, such as `traceparent`.
///
/// The others describe the connection. A legacy server that reads that of a modern one would take
/// the request for a modern one.
fn relayed_meta(meta: &Raw) -> Option<Map<Raw>> {
    let mut meta = Map::<Raw>::decode(meta).ok()?;
    let is_of_protocol =
        |name: &str| name == "progressToken" || name.starts_with("io.modelcontextprotocol/");
    meta.items.retain(|(name, _)| !is_of_protocol(name));
    (!meta.items.is_empty()).then_some(meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_another_connection_is_not_relayed() {
        let params = Raw::from_text(
            r#"{"name":"t","inputResponses":{"a":{}},"requestState":"theirs","task":{},"_meta":{
            "progressToken":1,"traceparent":"00","io.modelcontextprotocol/protocolVersion":"x"}}"#,
        );
        let params = params.unwrap();
        let relayed = |answers, state| {
            let relayed = RelayedParams { params: params.clone(), answers, state };
            relayed.to_raw(Revision::V2026_07_28).unwrap().to_string()
        };
        let first = r#"{"name":"t","_meta":{"traceparent":"00"}}"#;
        assert_eq!(relayed(Vec::new(), None), first);
        let answers = vec![("k".into(), Raw::empty_object())];
        let next = concat!(
            r#"{"name":"t","_meta":{"traceparent":"00"},"inputResponses":{"k":{}},"#,
            r#""requestState":"s"}"#,
        );
        assert_eq!(relayed(answers, Some("s".into())), next);
    }
}
