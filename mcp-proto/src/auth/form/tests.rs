//! Tests of form encoding in both directions.

use alloc::vec;

use proptest::prelude::*;

use super::*;

#[test]
fn pairs_are_encoded_byte_by_byte() {
    let mut form = Form::new();
    form.push("a", "x y+z&=%*-._~/:");
    form.push_some("b", None);
    form.push_some("é", Some(""));
    let text = "p?a=x+y%2Bz%26%3D%25*-._%7E%2F%3A&%C3%A9=";
    assert_eq!(form.encode("p?").expose(), text);
    assert_eq!(Form::new().encode("").expose(), "");
}

#[test]
fn forms_are_read_strictly() {
    let parsed = |text| parse(text).map(|pairs| pairs.into_iter().unzip());
    for (text, names, values) in [
        ("", vec![], vec![]),
        ("a=1&b=2", vec!["a", "b"], vec!["1", "2"]),
        ("a=1&&a=2&", vec!["a", "a"], vec!["1", "2"]),
        ("a&=b&c==", vec!["a", "", "c"], vec!["", "b", "="]),
        ("%61=%2B+%2b", vec!["a"], vec!["+ +"]),
        ("a=%C3%A9\u{e9}", vec!["a"], vec!["\u{e9}\u{e9}"]),
    ] {
        let (found_names, found): (Vec<Cow<'_, str>>, Vec<Cow<'_, str>>) = parsed(text).unwrap();
        assert_eq!(
            (found_names, found),
            (
                names.into_iter().map(Cow::from).collect(),
                values.into_iter().map(Cow::from).collect(),
            ),
            "{text}"
        );
    }
    for text in ["a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=%C3", "a=%+1"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn the_number_of_pairs_is_limited() {
    assert_eq!(parse(&"a=1&".repeat(PAIRS_MAX)).unwrap().len(), PAIRS_MAX);
    assert_eq!(parse(&"a=1&".repeat(PAIRS_MAX + 1)), None);
}

proptest! {
    #[test]
    fn what_is_written_is_read(pairs in proptest::collection::vec((".{1,8}", ".{0,8}"), 0..8)) {
        let mut form = Form::new();
        for (name, value) in &pairs {
            form.push(name, value);
        }
        let text = form.encode("");
        prop_assert!(text.expose().bytes().all(|byte| byte.is_ascii_graphic()));
        let read: Vec<(String, String)> = parse(text.expose())
            .unwrap()
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        prop_assert_eq!(read, pairs);
    }
}
