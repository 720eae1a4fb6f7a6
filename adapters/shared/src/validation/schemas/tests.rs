//! Tests of the checks against JSON Schemas, their errors and their bounds.

use super::*;

fn check(schema: &str, value: &str) -> Result<(), String> {
    check_as(Author::Peer, schema, value).map_err(|error| error.to_string())
}

fn check_as(author: Author, schema: &str, value: &str) -> Result<(), CheckError> {
    let [schema, value] = [schema, value].map(|json| Raw::from_text(json).unwrap());
    Schemas::new(author).check(&schema, &value)
}

#[test]
fn a_mismatch_names_the_place_but_not_the_value() {
    let schema = concat!(
        r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"##,
        r##""required":["n"],"$defs":{"n":{"type":"integer"}}}"##,
    );
    assert_eq!(check(schema, r#"{"n":1}"#), Ok(()));
    let wrong = check(schema, r#"{"n":"secret"}"#).unwrap_err();
    assert!(wrong.contains("/n") && wrong.contains("integer"), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
    assert!(check(schema, "{}").unwrap_err().contains("required"));
}

// JSON-26
#[test]
fn the_dialect_is_2020_12_unless_the_schema_says_otherwise_json_26() {
    // `prefixItems` exists in 2020-12 only.
    let tuple = r#"{"prefixItems":[{"type":"integer"}]}"#;
    assert!(check(tuple, r#"["a"]"#).is_err());
    let draft7 = concat!(
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","#,
        r#""prefixItems":[{"type":"integer"}]}"#,
    );
    assert_eq!(check(draft7, r#"["a"]"#), Ok(()));
    let unknown = r#"{"$schema":"https://example.com/dialect"}"#;
    assert!(check(unknown, "1").unwrap_err().contains("example.com/dialect"));
}

// JSON-27
#[test]
fn external_references_are_not_fetched_json_27() {
    for target in
        ["http://127.0.0.1:1/a.json", "file:///etc/hostname", "other.json", "#/$defs/nowhere"]
    {
        let wrong = check(&format!(r#"{{"$ref":"{target}"}}"#), "1").unwrap_err();
        assert!(wrong.contains(target) && wrong.contains("does not contain"), "{wrong}");
    }
}

// JSON-28
#[test]
fn hostile_schemas_are_refused_quickly_json_28() {
    let mut bomb = String::from(r##"{"$ref":"#/$defs/a0","$defs":{"##);
    for level in 0..18 {
        let next = level + 1;
        let reference = format!(r##"{{"$ref":"#/$defs/a{next}"}}"##);
        bomb += &format!(r#""a{level}":{{"allOf":[{reference},{reference}]}},"#);
    }
    bomb += r#""a18":{"type":"integer"}}}"#;
    assert!(check(&bomb, "1").unwrap_err().contains("too many steps"));
    let circle = r##"{"allOf":[{"$ref":"#"}]}"##;
    assert!(check(circle, "1").unwrap_err().contains("recursive"));
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    assert!(check(&deep, "1").unwrap_err().contains("too deeply"));
    let pattern = r#"{"pattern":"^(a+)+$"}"#;
    assert!(check(pattern, &format!("\"{}!\"", "a".repeat(50_000))).is_err());
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
    assert!(check(&long, "1").unwrap_err().contains("exceeds"));
}

#[test]
fn local_schemas_may_be_recursive() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    let list = Raw::from_text(list).unwrap();
    let schemas = Schemas::new(Author::Local);
    let value = |text| Raw::from_text(text).unwrap();
    assert_eq!(schemas.check(&list, &value(r#"{"next":{"next":{}}}"#)), Ok(()));
    assert!(
        schemas
            .check(&list, &value(r#"{"next":{"next":1}}"#))
            .is_err_and(|error| error.to_string().contains("/next/next"))
    );
}

#[test]
fn the_cache_is_bounded() {
    let schemas = Schemas::new(Author::Peer);
    for number in 0..3 * CACHED_MAX {
        schemas.compile(&Raw::from_text(&format!(r#"{{"minimum":{number}}}"#)).unwrap()).unwrap();
    }
    assert!(schemas.cache.lock().unwrap().compiled.len() <= CACHED_MAX);
}

#[test]
fn only_the_first_mismatch_is_described() {
    let schema = r#"{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;
    let wrong = check(schema, r#"{"a":"x","b":"y"}"#).unwrap_err();
    assert!(wrong.contains("/a") && !wrong.contains("/b"), "{wrong}");
}

#[test]
fn a_value_with_too_many_nodes_is_refused_before_it_is_parsed() {
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let schemas = Schemas::new(Author::Local);
    let check = |count| {
        let integers = Raw::from_text(r#"{"items":{"type":"integer"}}"#).unwrap();
        schemas.check(&integers, &Raw::from_text(&list(count)).unwrap())
    };
    // The array itself counts twice.
    let fits = usize::try_from(VALUE_NODES_MAX).unwrap() - 1;
    assert_eq!(check(fits), Ok(()));
    assert!(matches!(check(fits + 1), Err(CheckError::TooCostly(_))));
}

/// Each alternative of each element differs, and all of the differences would be kept.
#[test]
fn the_differences_of_a_large_value_are_not_collected() {
    let alternatives = vec![r#"{"type":"string"}"#; 50].join(",");
    let schema = format!(r#"{{"items":{{"anyOf":[{alternatives}]}}}}"#);
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    assert!(check(&schema, &list(10)).unwrap_err().contains("/0"));
    assert_eq!(check(&schema, &list(50_000)).unwrap_err(), "the value does not match the schema");
}

#[test]
fn the_work_for_a_value_is_bounded_by_schema_and_value_json_28() {
    let objects = |count: usize| {
        let one = r#"{"a":{"type":"integer"}}"#;
        format!(r#"{{"items":{{"allOf":[{}]}}}}"#, vec![one; count].join(","))
    };
    let list = format!("[{}0]", "0,".repeat(20_000));
    assert_eq!(check(&objects(50), &list), Ok(()));
    assert!(check(&objects(2_000), &list).unwrap_err().contains("too many steps"));
    assert_eq!(check(&objects(2_000), "[0,0,0]"), Ok(()));
    let many = format!(r#"{{"enum":[{}0]}}"#, "1,".repeat(30_000));
    assert!(check(&many, "0").unwrap_err().contains("too many steps"));
}

#[test]
fn the_work_for_patterns_is_bounded_together_json_28() {
    let patterns = |count: usize, pattern: &str| {
        let each = format!(r#"{{"pattern":"{pattern}"}}"#);
        format!(r#"{{"allOf":[{}]}}"#, vec![&*each; count].join(","))
    };
    let text = |length: usize| format!("\"{}\"", "a".repeat(length));
    assert_eq!(check(&patterns(64, "^a+$"), &text(1_000)), Ok(()));
    assert!(check(&patterns(65, "^a+$"), &text(1)).unwrap_err().contains("more than 64 patterns"));
    let slow = patterns(20, "(a|b)*a(a|b){500}");
    assert_eq!(check(&slow, &text(1_000)), Ok(()));
    assert!(check(&slow, &text(100_000)).unwrap_err().contains("too many steps"));
    // All patterns share one budget for their compiled size.
    let large = r"(\\p{L}{90}){9}";
    let large = check_as(Author::Peer, &patterns(60, large), &text(1));
    assert!(
        matches!(&large, Err(CheckError::PartlyChecked(them)) if them.len() == 60),
        "{large:?}"
    );
}

/// References that lead elsewhere than where the estimate looks.
#[test]
fn references_into_embedded_schemas_are_refused_json_28() {
    let costly = format!("[{}]", [r#"{"type":"integer"}"#; 9].join(","));
    for schema in [
        format!(r##"{{"$ref":"#/$defs/a","$defs":{{"a":{{"$id":"x:a","allOf":{costly}}}}}}}"##),
        format!(r##"{{"$ref":"#a","$defs":{{"a":{{"$anchor":"a","allOf":{costly}}}}}}}"##),
        format!(
            r##"{{"$dynamicRef":"#a","$defs":{{"a":{{"$dynamicAnchor":"a","allOf":{costly}}}}}}}"##
        ),
        format!(r##"{{"allOf":[{{"$defs":{{"a":{{"$id":"b"}}}}}}],"x":{costly}}}"##),
        r#"{"properties":{"a":{"$recursiveAnchor":true}}}"#.to_owned(),
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","not":{"id":"x:a"}}"#.to_owned(),
    ] {
        let refused = check_as(Author::Peer, &schema, "1");
        let Err(CheckError::UnusableSchema(why)) = refused else { panic!("{schema}: {refused:?}") };
        assert!(why.contains("below its root"), "{schema}: {why}");
    }
    // Properties of these names are no keywords, and the whole schema may have an id.
    let named = r##"{"$id":"https://a.example/b","properties":{"$id":{"type":"integer"},
        "id":{"$ref":"#/$defs/t"},"$anchor":{"type":"string"}},"$defs":{"t":{"type":"string"}}}"##;
    assert_eq!(check(named, r#"{"$id":1,"id":"x","$anchor":"y"}"#), Ok(()));
    assert!(check(named, r#"{"id":1}"#).unwrap_err().contains("/id"));
}

/// A cost hidden where keywords would not be evaluated, or behind another spelling.
#[test]
fn the_cost_of_properties_named_like_keywords_is_counted_json_28() {
    let mut defs = String::from(r#""b0":{"type":"integer"}"#);
    for level in 1..20 {
        let reference = format!(r##"{{"$ref":"#/$defs/b{}"}}"##, level - 1);
        defs += &format!(r#","b{level}":{{"allOf":[{reference},{reference}]}}"#);
    }
    for bomb in [
        r##"{"properties":{"default":{"$ref":"#/$defs/b19"}},"##,
        r##"{"properties":{"enum":{"$ref":"#/$defs/b19"}},"##,
        r##"{"patternProperties":{"const":{"$ref":"#/$defs/b19"}},"##,
        r##"{"dependentSchemas":{"examples":{"$ref":"#/$defs/b19"}},"##,
        r##"{"allOf":[{"$ref":"#/%24defs/b%31%39"}],"##,
    ] {
        let refused = check(&format!(r#"{bomb}"$defs":{{{defs},"b%31%39":true}}}}"#), "{}");
        assert!(refused.unwrap_err().contains("too many steps"), "{bomb}");
    }
}

#[test]
fn schemas_that_are_evaluated_again_count_again_json_28() {
    let nested = |levels: usize, keyword: &str, applicator: &str| {
        let inner = r#"{"type":["object","array"]}"#.to_owned();
        (0..levels).fold(inner, |schema, _| match applicator {
            "if" => format!(r#"{{"{keyword}":true,"if":{schema},"then":true}}"#),
            applicator => format!(r#"{{"{keyword}":true,"{applicator}":[{schema}]}}"#),
        })
    };
    for (keyword, value) in [("unevaluatedProperties", r#"{"a":1}"#), ("unevaluatedItems", "[1]")] {
        for applicator in ["allOf", "anyOf", "oneOf", "if"] {
            let refused = check(&nested(25, keyword, applicator), value);
            assert!(refused.unwrap_err().contains("too many steps"), "{keyword} {applicator}");
            assert_eq!(check(&nested(3, keyword, applicator), value), Ok(()));
        }
    }
    let wide = r#"{"type":"object","properties":{"a":{"type":"integer"}},
        "allOf":[{"properties":{"b":{"type":"integer"}}}],"unevaluatedProperties":false}"#;
    assert_eq!(check(wide, r#"{"a":1,"b":2}"#), Ok(()));
    assert!(check(wide, r#"{"c":1}"#).unwrap_err().contains("'c'"));
}

#[test]
fn long_texts_and_unique_elements_count_json_28() {
    let lengths = format!(r#"{{"allOf":[{}]}}"#, vec![r#"{"maxLength":9}"#; 5_000].join(","));
    let text = format!("\"{}\"", "x".repeat(10 << 20));
    assert!(check(&lengths, &text).unwrap_err().contains("too many steps"));
    // The hashes of these elements are equal.
    let unique = r#"{"uniqueItems":true}"#;
    let list = format!("[{}[]]", "[[[]]],".repeat(20_000));
    for author in [Author::Peer, Author::Local] {
        let refused = check_as(author, unique, &list);
        let is_too_costly = matches!(&refused, Err(CheckError::TooCostly(_)));
        assert!(is_too_costly, "{refused:?}");
        let texts: Vec<String> = (0..50_000).map(|number| format!("\"{number}\"")).collect();
        assert_eq!(check_as(author, unique, &format!("[{}]", texts.join(","))), Ok(()));
    }
}

#[test]
fn patterns_of_ecma_262_are_run_within_bounds() {
    let pattern = |pattern: &str| format!(r#"{{"type":"string","pattern":"{pattern}"}}"#);
    for (lookaround, fits, differs) in [
        (r"^(?!\\.)\\w+$", "\"ab\"", "\".a\""),
        (r"^(?=.*\\d).{3,}$", "\"ab1\"", "\"abc\""),
        (r"(?<!a)b$", "\"cb\"", "\"ab\""),
        (r"^(a+)-\\1$", "\"aa-aa\"", "\"a-aa\""),
    ] {
        for author in [Author::Peer, Author::Local] {
            assert_eq!(check_as(author, &pattern(lookaround), fits), Ok(()), "{lookaround}");
            let wrong = check_as(author, &pattern(lookaround), differs);
            assert!(matches!(wrong, Err(CheckError::Mismatch(_))), "{lookaround}: {wrong:?}");
        }
    }
    let catastrophic = pattern(r"^(?=(a+)+$)(a|aa)+\\1$");
    let text = format!("\"{}b\"", "a".repeat(30_000));
    for author in [Author::Peer, Author::Local] {
        let start = std::time::Instant::now();
        assert!(check_as(author, &catastrophic, &text).is_err());
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
        let large = format!("\"{}\"", "a".repeat(100_000));
        let refused = check_as(author, &catastrophic, &large);
        assert!(matches!(refused, Err(CheckError::TooCostly(_))), "{refused:?}");
    }
    let by_name = r#"{"patternProperties":{"^(?=(a+)+$)(a|aa)+\\1$":{"type":"null"}}}"#;
    let start = std::time::Instant::now();
    let named = format!("{{\"{}b\":1}}", "a".repeat(30_000));
    assert!(!matches!(check(by_name, &named), Err(why) if why.contains("cannot be used")));
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    let mail = format!(r#"{{"items":{}}}"#, pattern(r"^(?!\\.)\\w+@\\w+$"));
    let many = format!("[{}]", vec![r#""ada@example""#; 50_000].join(","));
    assert_eq!(check_as(Author::Local, &mail, &many), Ok(()), "many short texts");
}

#[test]
fn patterns_that_cannot_be_run_are_skipped_unless_that_refuses_more() {
    let odd = r#"{"properties":{"a":{"pattern":"("},"b":{"type":"integer"}}}"#;
    let skipped = || Err(CheckError::PartlyChecked(vec!["(".into()]));
    assert_eq!(check_as(Author::Peer, odd, r#"{"a":"x","b":1}"#), skipped());
    let wrong = check_as(Author::Peer, odd, r#"{"a":"x","b":"y"}"#);
    assert!(matches!(wrong, Err(CheckError::Mismatch(_))), "{wrong:?}");
    let by_name = r#"{"patternProperties":{"(":{"type":"null"},"^n":{"type":"integer"}},
        "additionalProperties":false}"#;
    assert_eq!(check_as(Author::Peer, by_name, r#"{"x":true,"n":1}"#), skipped());
    let wrong = check_as(Author::Peer, by_name, r#"{"x":true,"n":"1"}"#);
    assert!(matches!(&wrong, Err(CheckError::Mismatch(why)) if why.contains("/n")), "{wrong:?}");
    for (author, schema) in [
        (Author::Peer, r#"{"not":{"pattern":"("}}"#),
        (Author::Peer, r#"{"oneOf":[{"pattern":"("},{"type":"string"}]}"#),
        (Author::Local, odd),
    ] {
        let refused = check_as(author, schema, "1");
        let names_it = |why: &String| why.contains("`(`");
        assert!(
            matches!(&refused, Err(CheckError::UnusableSchema(why)) if names_it(why)),
            "{refused:?}"
        );
    }
}

#[test]
fn a_mismatch_of_alternatives_names_them() {
    let meal =
        r#"{"oneOf":[{"const":"Fish","description":"…"},{"type":"string","enum":["Soup","Pie"]}]}"#;
    let wrong = check(meal, r#""Rice""#).unwrap_err();
    assert_eq!(wrong, r#"the value: must be one of: "Fish", "Pie", "Soup"; found a string"#);
    let shape = r#"{"properties":{"s":{"anyOf":[{"type":"null"},{"oneOf":[
        {"type":"object","properties":{"Circle":{}},"required":["Circle"]},
        {"properties":{"kind":{"const":"point"}},"required":["kind"],"type":"object"}]}]}}}"#;
    let wrong = check(shape, r#"{"s":{"kind":"line"}}"#).unwrap_err();
    assert!(wrong.starts_with("/s: must be one of: "), "{wrong}");
    for allowed in [r#""point" at /kind"#, r#"an object with "Circle""#, "null", "found an object"]
    {
        assert!(wrong.contains(allowed), "{wrong}");
    }
}

/// The estimate must not be far below what a check takes.
#[test]
fn the_costliest_schemas_that_are_accepted_are_checked_quickly_json_28() {
    let members: Vec<String> = (0..50).map(|number| format!("\"a{number}\":{number}")).collect();
    let value = format!("{{{}}}", members.join(","));
    for applicator in ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"] {
        let nested = |levels: usize| {
            let inner = r#"{"properties":{"a0":{"type":"integer"}}}"#.to_owned();
            (0..levels).fold(inner, |schema, level| {
                let part = match applicator {
                    "if" => format!(r#""if":{schema},"then":{{"minProperties":{level}}}"#),
                    "dependentSchemas" => format!(r#""dependentSchemas":{{"a0":{schema}}}"#),
                    _ => format!(r#""{applicator}":[{schema}]"#),
                };
                format!(r#"{{"unevaluatedProperties":{{"type":"integer"}},{part}}}"#)
            })
        };
        let is_accepted = |levels: &usize| {
            !check(&nested(*levels), &value).is_err_and(|why| why.contains("too many steps"))
        };
        let levels = (1..40).take_while(is_accepted).last().unwrap();
        let start = std::time::Instant::now();
        assert_eq!(check(&nested(levels), &value), Ok(()), "{applicator} {levels}");
        assert!(start.elapsed().as_secs() < 20, "{applicator} {levels}: {:?}", start.elapsed());
    }
}
