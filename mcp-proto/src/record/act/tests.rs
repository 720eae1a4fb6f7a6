//! Every act is read as it was written.

use alloc::format;
use core::time::Duration;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

fn written(texts: &[Option<&str>]) -> Written {
    Written(texts.iter().map(|text| text.map(|text| text.as_bytes().to_vec())).collect())
}

fn all() -> [Act; 17] {
    let incoming = IncomingId(300);
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::MAX),
        timeout_max: None,
        parent: Some(incoming),
        fresh: true,
    };
    let asked = |params| Asked { key: "k".into(), method: "roots/list".into(), params };
    let questions = [asked(None), asked(Some(None)), asked(Some(Some(raw("{}"))))].to_vec();
    [
        Act::Call {
            method: "x/y".into(),
            params: written(&[Some("{}"), Some("{}")]),
            options: options.clone(),
        },
        Act::Call { method: "".into(), params: written(&[]), options: CallOptions::default() },
        Act::Cancel { call: CallId(u64::MAX), reason: "é".into() },
        Act::Changed { change: Changed::Prompts },
        Act::Changed { change: Changed::Resource("file:///a".into()) },
        Act::Changed { change: Changed::Resources },
        Act::Changed { change: Changed::Tools },
        Act::Close {},
        Act::HangUp { incoming },
        Act::Listen { filter: Filter::new().tools().resource("a").resource("b"), options },
        Act::Log { incoming: None, level: Level::Emergency, logger: Some("l".into()), data: raw("7") },
        Act::Notify { method: "n".into(), params: written(&[None, Some(""), Some("{}")]) },
        Act::Progress { incoming, progress: Progress::new(-0.5).of(1e300).message("half") },
        Act::RefuseUndeclared { incoming, questions: questions.clone() },
        Act::RequestInput { incoming, questions, state: Some("s".into()) },
        Act::Respond { incoming, result: written(&[Some("{\"a\":1}")]) },
        Act::RespondError { incoming, error: ErrorObject::new(-1, "no").with_data(raw("[1]")) },
    ]
}

#[test]
fn what_is_written_is_read() {
    for act in
        all().into_iter().chain([Act::SetLogLevel { level: Level::Info, options: CallOptions::default() }])
    {
        let mut out = Vec::new();
        act.write(&mut out);
        let mut input = out.as_slice();
        let read = Act::read(&mut input).unwrap_or_else(|| panic!("{act:?} was not read"));
        assert_eq!(format!("{read:?}"), format!("{act:?}"));
        assert!(input.is_empty(), "{act:?}");
        for end in 0..out.len() {
            assert!(Act::read(&mut &out[..end]).is_none(), "half of {act:?} was read");
        }
    }
}

#[test]
fn texts_are_stored_once() {
    let long = "x".repeat(1000);
    let mut out = Vec::new();
    written(&[Some(&long), Some(&long), Some(&long)]).write(&mut out);
    assert!(out.len() < 1010);
}

#[test]
fn a_value_writes_again_what_it_wrote() {
    let spied = written(&[Some("1"), None, Some("2")]);
    let again = spied.again();
    let mut out = Vec::new();
    let revision = Revision::ALL[0];
    assert_eq!(again.encode(revision, &mut out), Ok(()));
    assert_eq!(again.encode(revision, &mut out), Err(Unencodable));
    assert_eq!(again.encode(revision, &mut out), Ok(()));
    assert_eq!(out, b"12");
}
