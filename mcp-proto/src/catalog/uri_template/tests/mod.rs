//! URI templates: the examples of RFC 6570, matching, and its cost.

mod encoding;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::parse::VARIABLES_MAX;
use super::*;

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap()
}

/// The result of a match, as `name=value` and `name=[item|item]`.
fn matched(pattern: &str, uri: &str) -> Option<String> {
    let variables = template(pattern).match_uri(uri)?;
    let shown = variables.iter().map(|(name, value)| match value {
        Variable::Text(text) => format!("{name}={text}"),
        Variable::List(list) => format!("{name}=[{}]", list.join("|")),
    });
    Some(shown.collect::<Vec<_>>().join(" "))
}

#[test]
fn text_and_list_accessors_are_exclusive() {
    let variables = Variables::new().with("text", "a").with("list", Vec::from(["b".to_string()]));
    assert_eq!((variables.text("text"), variables.list("text")), (Some("a"), None));
    assert_eq!(
        (variables.text("list"), variables.list("list")),
        (None, Some(&["b".to_string()][..]))
    );
    assert_eq!((variables.text("none"), variables.list("none")), (None, None));
}

#[test]
fn templates_are_equal_if_their_texts_are() {
    assert_eq!(template("file:///{path}"), template("file:///{path}"));
    assert_ne!(template("file:///{path}"), template("file:///{+path}"));
}

/// The variables of RFC 6570, section 3.2, without the associative array.
fn rfc() -> Variables {
    let list = |items: &[&str]| items.iter().map(ToString::to_string).collect::<Vec<String>>();
    Variables::new()
        .with("count", list(&["one", "two", "three"]))
        .with("dom", list(&["example", "com"]))
        .with("dub", "me/too")
        .with("hello", "Hello World!")
        .with("half", "50%")
        .with("var", "value")
        .with("who", "fred")
        .with("base", "http://example.com/home/")
        .with("path", "/foo/bar")
        .with("list", list(&["red", "green", "blue"]))
        .with("v", "6")
        .with("x", "1024")
        .with("y", "768")
        .with("empty", "")
        .with("empty_keys", list(&[]))
}

#[test]
fn expansion_follows_rfc_6570_sections_3_2_2_to_3_2_9() {
    for (pattern, uri) in [
        ("{count}", "one,two,three"),
        ("{count*}", "one,two,three"),
        ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("{&count*}", "&count=one&count=two&count=three"),
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+list*}", "red,green,blue"),
        ("{#var}", "#value"),
        ("{#hello}", "#Hello%20World!"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{.who,who2}", ".fred"),
        ("{.half}", ".50%25"),
        ("www{.dom*}", "www.example.com"),
        ("X{.empty}", "X."),
        ("X{.list*}", "X.red.green.blue"),
        ("X{.empty_keys}", "X"),
        ("{/who}", "/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/list*}", "/red/green/blue"),
        ("{;who}", ";who=fred"),
        ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,bar,who}", ";v=6;who=fred"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="),
    ] {
        assert_eq!(template(pattern).expand(&rfc()), uri, "{pattern}");
    }
    assert_eq!(template("a/é%C3%a9{x}").expand(&rfc()), "a/%C3%A9%C3%A91024");
}

#[test]
fn matching_inverts_expansion() {
    for (pattern, uri, variables) in [
        ("file:///{name}.txt", "file:///my%20notes.txt", "name=my notes"),
        ("file:///{+path}", "file:///a/b%20c/d.txt", "path=a/b c/d.txt"),
        ("db://{table}/{id}", "db://users/4%2F2", "table=users id=4/2"),
        ("{x,y}", "1024,768", "x=1024 y=768"),
        ("{x,y}", "1024", "x=1024"),
        ("{x,y}", "1024,", "x=1024 y="),
        ("{+x,y}", "a/b,c/d", "x=a/b y=c/d"),
        ("doc{#part}", "doc#a/b", "part=a/b"),
        ("doc{#part}", "doc", ""),
        ("doc{#part}", "doc#", "part="),
        ("www{.dom*}", "www.example.com", "dom=[example|com]"),
        ("x{.a,b}", "x.tar.gz", "a=tar b=gz"),
        ("x{.a}", "x.tar.gz", "a=tar.gz"),
        ("repo{/path*}{?ref}", "repo/src/lib.rs?ref=v1", "path=[src|lib.rs] ref=v1"),
        ("repo{/path*}{?ref}", "repo", ""),
        ("repo{/a,b}", "repo/", "a="),
        ("m{;x,y}", "m;x=1;y", "x=1 y="),
        ("m{;x,y}", "m;y=2", "y=2"),
        ("m{;l*}", "m;l=1;l;l=3", "l=[1||3]"),
        ("s{?q,page}", "s?page=2", "page=2"),
        ("s{?q,page}", "s?page=2&q=1", "q=1 page=2"),
        ("s{?q,page,size}", "s?size=3&q=a%26b", "q=a&b size=3"),
        ("s{?tag*,page}", "s?tag=a&page=1&tag=b", "tag=[a|b] page=1"),
        ("s?v=1{&q,page}", "s?v=1&page=2&q=", "q= page=2"),
        ("s{?q}{&page}#top", "s?page=2&q=1#top", "q=1 page=2"),
        ("s{;a,b}/t{?c,d}", "s;b=2;a=1/t?d=4&c=3", "a=1 b=2 c=3 d=4"),
        ("s{?q,page}", "s?q=a%26b&page=", "q=a&b page="),
        ("s{?q,page,size}", "s?page=2&size=3", "page=2 size=3"),
        ("s{?tag*,page}", "s?tag=a&tag=b&page=1", "tag=[a|b] page=1"),
        ("s?v=1{&q}", "s?v=1&q=x", "q=x"),
        ("s{?q}", "s?q=a/b?c", "q=a/b?c"),
        ("{a}{b}", "xyz", "a=xy b=z"),
        ("{scheme}:{+rest}", "a:b:c", "scheme=a rest=b:c"),
        ("greet://{name}", "greet://José Müller", "name=José Müller"),
        ("caf%C3%A9/{x}", "café/1", "x=1"),
        ("café/{x}", "caf%c3%a9/1", "x=1"),
        ("{x}{y}", "%C3%A9%C3%A9", "x=é y=é"),
        ("a%20b/{x}", "a%20b/1", "x=1"),
    ] {
        assert_eq!(matched(pattern, uri).as_deref(), Some(variables), "{pattern} {uri}");
    }
}

#[test]
fn a_uri_that_no_expansion_yields_does_not_match() {
    for (pattern, uri) in [
        ("file:///{name}", "file:///"),
        ("file:///{name}", "file:///a/b"),
        ("file:///{name}", "file:///a?b"),
        ("file:///{name}", "FILE:///a"),
        ("file:///{+path}", "file:///"),
        ("file:///{+path}", "file://"),
        ("a/{x}/b", "a//b"),
        ("a/{x}/b", "a/1/b/"),
        ("{a}{b}", "x"),
        ("s{?q}", "s?"),
        ("s{?q}", "s?q"),
        ("s{?q}", "s?r=1"),
        ("s{?q,page}", "s?q=1&q=2"),
        ("s{?q,page}", "s?page=1&page=2"),
        ("s{?q}", "s?q=1#f"),
        ("x/{a}", "x/%"),
        ("x/{a}", "x/%4"),
        ("x/{a}", "x/%zz"),
        ("x/{a}", "x/%FF"),
        ("x/{a}", "x/%C3"),
        ("x/{a}", "x/%C3%28"),
        ("x/{a}", "x/%ED%A0%80"),
        ("x/{a}", "x/%+41"),
        ("a/b", "a%2Fb"),
    ] {
        assert_eq!(matched(pattern, uri), None, "{pattern} {uri}");
    }
    let long = format!("x/{}", "a".repeat(URI_BYTES_MAX));
    assert_eq!(matched("x/{a}", &long), None);
    assert!(matched("x/{a}", &long[2..]).is_none() && matched("{a}", &long[2..]).is_some());
}

#[test]
fn unsupported_templates_are_rejected_with_the_place() {
    for (pattern, at, reason) in [
        ("a{", 1, "unclosed brace"),
        ("a{b", 1, "unclosed brace"),
        ("a}b", 1, "character not allowed in a URI"),
        ("a b", 1, "character not allowed in a URI"),
        ("a%", 1, "invalid percent-encoding"),
        ("a%FFb", 1, "invalid percent-encoding"),
        ("{}", 1, "invalid variable name"),
        ("{+}", 2, "invalid variable name"),
        ("{a,}", 3, "invalid variable name"),
        ("{a b}", 1, "invalid variable name"),
        ("{a..b}", 1, "invalid variable name"),
        ("{=a}", 1, "invalid variable name"),
        ("{|a}", 1, "invalid variable name"),
        ("{{a}}", 1, "invalid variable name"),
        ("{a**}", 1, "invalid variable name"),
        ("x{a,b:3}", 5, "prefix modifiers are not supported"),
        ("{a}/{a}", 0, "repeated variable"),
    ] {
        assert_eq!(UriTemplate::parse(pattern), Err(TemplateError { at, reason }), "{pattern}");
    }
    let many = |count: usize| (0..count).map(|n| format!("{{v{n}}}")).collect::<String>();
    assert!(UriTemplate::parse(&many(VARIABLES_MAX)).is_ok());
    assert!(UriTemplate::parse(&many(VARIABLES_MAX + 1)).is_err());
    assert!(UriTemplate::parse(&"x".repeat(TEMPLATE_BYTES_MAX)).is_ok());
    assert!(UriTemplate::parse(&"x".repeat(TEMPLATE_BYTES_MAX + 1)).is_err());
    assert_eq!(template("{a.b_1,%C3%A9}").names().collect::<Vec<_>>(), ["a.b_1", "%C3%A9"]);
}

#[test]
fn the_more_specific_template_ranks_first() {
    let ranked = [
        "file:///a/{x}.txt",
        "file:///a/{x}",
        "file:///{x}",
        "file:///{x}{y}",
        "file:///{+x}",
        "{x}",
        "{+x}",
    ];
    assert!(ranked.windows(2).all(|pair| template(pair[0]).rank() < template(pair[1]).rank()));
    assert_eq!(template("a/{x}").rank(), template("b/{y*}").rank());
}

/// The work to match a URI of `parts` copies of `part`.
fn work(pattern: &str, part: &str, parts: usize) -> usize {
    let mut work = 0;
    let _matched = template(pattern).program.run(&part.repeat(parts), &mut work);
    work
}

/// The following test bounds `work`; this one checks that `work` counts everything.
#[test]
fn work_counts_visits_and_attempts_sec_18() {
    // Three visits (two letters and the end), and one attempt per letter.
    assert_eq!(work("ab", "ab", 1), 5);
}

#[test]
fn no_instruction_runs_twice_per_character_sec_18() {
    for (pattern, part) in
        [("{a}{b}", "x"), ("{a}{b}{c}", "x"), ("{+a}/{+b}", "/"), ("{/a*}{/b*}", "/x")]
    {
        let parts = 40;
        let steps = template(pattern).program.instructions.len();
        // Each instruction is visited and tried once.
        let most = 2 * steps * (parts * part.len() + 1);
        let work = work(pattern, part, parts);
        assert!(work <= most, "{pattern}: {work} of {most}");
    }
}

#[test]
fn work_is_linear_in_the_uri_sec_18() {
    let many: String = (0..VARIABLES_MAX).map(|n| format!("{{v{n}}}")).collect();
    let open: String = (0..VARIABLES_MAX).map(|n| format!("{{+v{n}}}")).collect();
    let paths: String = (0..VARIABLES_MAX).map(|n| format!("{{/v{n}*}}")).collect();
    let queries: String = (0..VARIABLES_MAX).map(|n| format!("{{;v{n}*}}")).collect();
    for pattern in [
        "{a}{b}",
        "{+path}",
        "{+a}/{+b}/{+c}x",
        "{/a*}{/b*}{/c*}!",
        "{a}{b}{c}{d}!",
        "{+a,b,c}{#d}",
        "{;a*}{;b*}!",
        &many,
        &open,
        &paths,
        &queries,
    ] {
        for part in ["/", "a", "a/", "%41", "/a,", ",", ";v0", ";v0=", "é", "?", "%"] {
            let most = 2 * template(pattern).program.instructions.len();
            let works = [500, 1000, 2000].map(|parts| work(pattern, part, parts));
            // Twice the additional input at most doubles the additional work.
            let (first, second) = (works[1] - works[0], works[2] - works[1]);
            assert!(second <= 2 * first + most, "{pattern} {part}: {works:?}");
            // Two passes, with a bounded number of instructions per character.
            let chars = 2000 * part.chars().count() + 1;
            assert!(works[2] <= 2 * chars * most, "{pattern} {part}: {works:?}");
        }
    }
}

/// A generated expression: an operator, and its variables with their optional items.
type Generated = (usize, Vec<(bool, Option<Vec<String>>)>);

const OPERATORS: [&str; 8] = ["", "+", "#", ".", "/", ";", "?", "&"];

fn generated(item: &'static str) -> impl Strategy<Value = Vec<Generated>> {
    let items = proptest::option::of(proptest::collection::vec(item, 1..4));
    let variables = proptest::collection::vec((any::<bool>(), items), 1..4);
    proptest::collection::vec((0..OPERATORS.len(), variables), 1..4)
}

/// The template, with `glue` around its expressions, and values that it must match.
fn build(generated: Vec<Generated>, glue: &str) -> (String, Variables) {
    let (mut text, mut values, mut count) = (String::from(glue), Variables::new(), 0);
    for (operator, variables) in generated {
        let named = operator >= 5;
        let (mut names, mut over) = (Vec::new(), false);
        for (at, (explode, items)) in variables.into_iter().enumerate() {
            let name = format!("v{count}");
            count += 1;
            names.push(format!("{name}{}", if explode { "*" } else { "" }));
            let must = at == 0 && operator < 2;
            let Some(mut items) = items.or_else(|| must.then(|| Vec::from(["q".into()]))) else {
                // A positional value requires the previous one.
                over |= !named;
                continue;
            };
            if over {
                continue;
            }
            if must && items[0].is_empty() {
                items[0].push('q');
            }
            // A positional list takes all remaining values.
            over |= explode && !named;
            let value =
                if explode { Variable::List(items) } else { Variable::Text(items[0].clone()) };
            values = values.with(&name, value);
        }
        text.push_str(&format!("{{{}{}}}{glue}", OPERATORS[operator], names.join(",")));
    }
    (text, values)
}

proptest! {
    #[test]
    fn matching_returns_the_expanded_values(generated in generated("[a-yé ~/?#&=;:@!'<|_-]{0,4}")) {
        let (text, values) = build(generated, "z");
        let pattern = template(&text);
        let uri = pattern.expand(&values);
        prop_assert_eq!(pattern.match_uri(&uri), Some(values), "{} {}", text, uri);
    }

    #[test]
    fn a_match_expands_to_the_matched_uri(generated in generated("[a-cé ._~-]{0,3}")) {
        let (text, values) = build(generated, "");
        let pattern = template(&text);
        let uri = pattern.expand(&values);
        let again = pattern.match_uri(&uri).map(|values| pattern.expand(&values));
        prop_assert_eq!(again.as_ref(), Some(&uri), "{} {:?}", text, values);
    }

    #[test]
    fn parsing_and_matching_never_panic(
        text in "[{}+#./;?&,*:%a-c0-9é ]{0,24}",
        uri in "[+#./;?&,=%a-c0-9é ]{0,24}",
    ) {
        if let Ok(pattern) = UriTemplate::parse(&text) {
            prop_assert_eq!(pattern.as_str(), &text);
            let variables = pattern.match_uri(&uri).unwrap_or_default();
            for (name, _) in variables.iter() {
                prop_assert!(pattern.names().any(|known| known == name));
            }
        }
    }
}
