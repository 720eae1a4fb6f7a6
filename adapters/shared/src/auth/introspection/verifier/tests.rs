//! Tests against a server that is scripted here.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use event_listener::Event;
use futures_lite::future::{block_on, poll_once};

use super::*;
use crate::auth::system::unix_time;
use crate::http::test_runtime::TestRuntime;

/// An authorization server that answers `{"active":…}` by what a script says of the form.
fn server(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (IntrospectionVerifier, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}/introspect", listener.local_addr().unwrap());
    let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
    let counter = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            let answer = Arc::clone(&answer);
            thread::spawn(move || respond(stream, &*answer));
        }
    });
    (IntrospectionVerifier::new("https://i", &endpoint, "app:1", "s3cret").unwrap(), asked)
}

fn respond(mut stream: TcpStream, answer: &dyn Fn(&str) -> String) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {
        let last = head.trim_end().rsplit("\r\n").next().unwrap_or_default();
        if let Some(value) = last.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    // `app:1` and `s3cret`, encoded as in a form.
    assert!(head.contains("authorization: Basic YXBwJTNBMTpzM2NyZXQ="), "{head}");
    let mut form = vec![0; length];
    reader.read_exact(&mut form).unwrap();
    let body = answer(&String::from_utf8(form).unwrap());
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
    );
    let _gone = stream.write_all(format!("{reply}\r\n{body}").as_bytes());
}

fn verify(verifier: &IntrospectionVerifier, token: &str) -> Answer {
    block_on(verifier.verify_on(token.into(), None, Some(&TestRuntime::shared())))
}

fn subject(answer: &Answer) -> Option<&str> {
    answer.as_ref().ok()?.subject.as_deref()
}

#[test]
fn answers_are_kept_for_a_while_but_not_beyond_the_expiry() {
    let now = unix_time();
    let (verifier, asked) = server(move |form| {
        let token = form.rsplit_once("token=").unwrap().1;
        match token {
            "ada" => format!(r#"{{"active":true,"sub":"ada","exp":{}}}"#, now + 3600),
            "old" => format!(r#"{{"active":true,"sub":"old","exp":{now}}}"#),
            _ => r#"{"active":false}"#.to_owned(),
        }
    });
    let count = |token, times: usize| {
        let before = asked.load(Ordering::SeqCst);
        let answers: Vec<Answer> = (0..times).map(|_| verify(&verifier, token)).collect();
        (answers.last().unwrap().clone(), asked.load(Ordering::SeqCst) - before)
    };
    let (answer, questions) = count("ada", 3);
    assert_eq!((subject(&answer), questions), (Some("ada"), 1));
    assert_eq!(count("forged", 3), (Err(VerifyError::Invalid), 1));
    // The guard refuses it; the cache does not keep it.
    let (answer, questions) = count("old", 3);
    assert_eq!((subject(&answer), questions), (Some("old"), 3));
    // Nothing is kept, if so configured.
    let (verifier, asked) = server(|_| r#"{"active":false}"#.to_owned());
    let verifier = verifier.cache_life(Duration::ZERO);
    for number in 1..4 {
        assert_eq!(verify(&verifier, "forged"), Err(VerifyError::Invalid));
        assert_eq!(asked.load(Ordering::SeqCst), number);
    }
}

#[test]
fn requests_with_one_token_share_a_question_that_none_of_them_can_end() {
    let open = Arc::new(Event::new());
    let opening = Arc::clone(&open);
    let is_open = Arc::new(OnceLock::new());
    let opened = Arc::clone(&is_open);
    let (verifier, asked) = server(move |_| {
        while opened.get().is_none() {
            let listener = opening.listen();
            if opened.get().is_none() {
                block_on(listener);
            }
        }
        r#"{"active":true,"sub":"ada"}"#.to_owned()
    });
    let runtime = TestRuntime::shared();
    let start = |token: &'static str| {
        let (verifier, runtime) = (verifier.clone(), Arc::clone(&runtime));
        let mut verified =
            Box::pin(async move { verifier.verify_on(token.into(), None, Some(&runtime)).await });
        assert!(block_on(poll_once(&mut verified)).is_none());
        verified
    };
    let first = start("ada");
    let waiting = [start("ada"), start("ada")];
    drop(first);
    is_open.set(()).unwrap();
    open.notify(usize::MAX);
    for waiting in waiting {
        assert_eq!(subject(&block_on(waiting)), Some("ada"));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// Begins questions about invented tokens of a client, which are never answered.
fn flood(verifier: &IntrospectionVerifier, address: u8, count: usize) -> Vec<Asking> {
    let max = verifier.settings.questions_max;
    (0..count)
        .map_while(|number| {
            let key = key_of(&format!("{address} {number}").into());
            let mut next = Box::pin(verifier.questions.next(key, client(address), max));
            match block_on(poll_once(&mut next))? {
                (_, Some(asking)) => Some(asking),
                (_, None) => panic!("asked already"),
            }
        })
        .collect()
}

fn client(number: u8) -> Option<IpAddr> {
    Some(IpAddr::from([10, 0, 0, number]))
}

#[test]
fn questions_in_flight_are_bounded_and_others_wait() {
    let (verifier, _) = server(|_| r#"{"active":false}"#.to_owned());
    let asking: Vec<Asking> = (1..6).flat_map(|number| flood(&verifier, number, 8)).collect();
    assert_eq!(asking.len(), QUESTIONS_MAX);
    let runtime = TestRuntime::shared();
    let mut waiting = Box::pin(verifier.verify_on("other".into(), client(9), Some(&runtime)));
    assert!(block_on(poll_once(&mut waiting)).is_none());
    // Questions that are given up are answered, and make room.
    let question = Arc::clone(&asking[0].question);
    drop(asking);
    assert_eq!(block_on(question.answer()), Err(VerifyError::Unavailable));
    assert_eq!(block_on(waiting), Err(VerifyError::Invalid));
}

#[test]
fn a_client_that_invents_tokens_keeps_no_other_waiting() {
    let (verifier, asked) = server(|_| r#"{"active":true,"sub":"ada"}"#.to_owned());
    let flooding = flood(&verifier, 1, 100);
    assert_eq!(flooding.len(), QUESTIONS_PER_ADDRESS_MAX);
    let runtime = TestRuntime::shared();
    let mut its_next = Box::pin(verifier.verify_on("1".into(), client(1), Some(&runtime)));
    assert!(block_on(poll_once(&mut its_next)).is_none());
    let answer = block_on(verifier.verify_on("ada".into(), client(2), Some(&runtime)));
    assert_eq!(subject(&answer), Some("ada"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // Answers that are known already need no slot.
    let known = block_on(verifier.verify_on("ada".into(), client(1), Some(&runtime)));
    assert_eq!(subject(&known), Some("ada"));
    drop(flooding);
    assert_eq!(subject(&block_on(its_next)), Some("ada"));

    let verifier = verifier.questions_per_address_max(0);
    assert_eq!(flood(&verifier, 3, 100).len(), 1, "each address has a slot");
}

#[test]
fn a_revoked_token_is_forgotten_immediately() {
    let is_revoked = Arc::new(OnceLock::new());
    let revoked = Arc::clone(&is_revoked);
    let (verifier, asked) = server(move |form| {
        let is_active = form.ends_with("=eve") || revoked.get().is_none();
        format!(r#"{{"active":{is_active},"sub":"ada"}}"#)
    });
    let handle = verifier.clone();
    assert!(verify(&verifier, "ada").is_ok() && verify(&verifier, "eve").is_ok());
    is_revoked.set(()).unwrap();
    assert!(verify(&verifier, "ada").is_ok(), "the answer is kept");
    handle.forget(&"ada".into());
    assert_eq!(verify(&verifier, "ada"), Err(VerifyError::Invalid));
    assert!(verify(&verifier, "eve").is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 3, "other answers are kept");
    handle.clear();
    assert!(verify(&verifier, "eve").is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

#[test]
fn without_an_answer_tokens_are_neither_good_nor_bad() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let endpoint = format!("http://{closed}/");
    let verifier = IntrospectionVerifier::new("https://i", &endpoint, "c", "s").unwrap();
    assert_eq!(verify(&verifier, "ada"), Err(VerifyError::Unavailable));
    assert_eq!(
        block_on(verifier.verify_on("ada".into(), None, None)),
        Err(VerifyError::Unavailable)
    );
    let (verifier, asked) = server(|_| "down for maintenance".to_owned());
    for number in 1..3 {
        assert_eq!(verify(&verifier, "ada"), Err(VerifyError::Unavailable));
        assert_eq!(asked.load(Ordering::SeqCst), number, "failures are not kept");
    }
    let shown = format!("{verifier:?}");
    assert!(shown.contains("app:1") && !shown.contains("s3cret"), "{shown}");
    assert!(IntrospectionVerifier::new("https://i", "http://as.example/", "c", "s").is_err());
}
