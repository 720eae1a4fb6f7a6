//! Skills: files that a server offers, and their verification by a host.

use mcp_adapter::proto::schema::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
};
use mcp_adapter::proto::{CallError, Limits, Principal, Raw, Revision, code};
use mcp_adapter::skills::{
    self, BYTES_MAX, FILES_MAX, GetSkill, ListSkills, ReadDirectory, SkillError, SkillFault,
    SkillFiles, SkillManifest, SkillPage, Skills,
};
use mcp_adapter::testing::{TestPair, pair, pair_as};
use mcp_adapter::{Client, Error, HandlerError, ListError, Lists, MethodHandler, Server};
use mcp_adapter_tests::client;
use serde_json::{Value, json};

const URI: &str = "skill://shop/refunds/SKILL.md";
const FORMS: &str = "skill://shop/refunds/references/FORMS.md";
const REFUNDS: &str = "---\nname: refunds\ndescription: Refunds customers\nlicense: MIT\n\
    metadata: {version: 1.0}\n---\nSee references/FORMS.md";
const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn refunds() -> Skills {
    Skills::new()
        .file("shop/refunds/SKILL.md", "text/markdown", REFUNDS)
        .file("shop/refunds/references/FORMS.md", "text/markdown", "a form")
        .file("shop/refunds/references/eu/vat.bin", "application/octet-stream", [0xff, 0])
        .file("shop/refunds/run.sh", "application/x-sh", "echo")
}

fn server() -> Server {
    Server::new("server", "1").add(refunds())
}

fn host() -> Client {
    client().extension(skills::extension())
}

fn list(pair: &mut TestPair) -> Result<Vec<SkillManifest>, Error> {
    let connection = pair.client();
    pair.run(connection.list_skills())
}

fn minimal(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n")
}

/// Returns the manifest of the one skill, as a host lists it.
fn manifest() -> SkillManifest {
    list(&mut pair(&server(), host()).unwrap()).unwrap().remove(0)
}

fn contents(uri: &str, text: &str) -> ReadResourceResult {
    ResourceContents::text(uri, text).into()
}

fn fault<T: std::fmt::Debug>(result: Result<T, SkillError>) -> SkillFault {
    let error = result.unwrap_err();
    assert_eq!(error.skill, URI);
    error.fault
}

#[test]
fn a_host_lists_loads_and_reads_skills_in_both_eras() {
    for revision in ERAS {
        let mut pair = pair(&server(), host().revisions(&[revision])).unwrap();
        assert!(skills::is_supported_by(&pair.client().peer()));
        let listed = list(&mut pair).unwrap();
        let [skill] = &*listed else { panic!("{listed:?}") };
        assert_eq!((skill.name(), &*skill.uri), ("refunds", URI));
        let expected = json!({"name": "refunds", "description": "Refunds customers",
            "license": "MIT", "metadata": {"version": 1.0}});
        assert_eq!(Value::Object(skill.frontmatter.clone()), expected);
        assert_eq!(skill.check(), Ok(()));
        let got = pair.call(GetSkill { uri: URI.to_owned() }).unwrap();
        assert_eq!(&got.skill, skill);

        let result = pair.read_resource(URI).unwrap();
        assert_eq!(skill.load(&result).unwrap(), REFUNDS);
        for (reference, bytes) in [
            ("references/FORMS.md", &b"a form"[..]),
            ("./references/../references/eu/vat.bin", &[0xff, 0]),
            ("run.sh", b"echo"),
        ] {
            let file = skill.resolve(reference).unwrap();
            let result = pair.read_resource(&file.uri).unwrap();
            assert_eq!(skill.verify(&file.uri, &result).unwrap(), bytes, "{reference}");
        }
    }
}

#[test]
fn the_digest_is_the_sha_256_of_the_bytes() {
    let SkillFiles::Listed(files) = manifest().resources else { panic!() };
    let digests: Vec<(&str, &str, u64)> =
        files.iter().map(|file| (&*file.uri, &*file.digest, file.size)).collect();
    // Computed with `sha256sum`.
    let expected = "sha256:092c79e8f80e559e404bcf660c48f3522b67aba9ff1484b0367e1a4ddef7431d";
    assert_eq!(digests[3], ("skill://shop/refunds/run.sh", expected, 4));
}

#[test]
fn all_clients_can_ask_for_skills() {
    for revision in ERAS {
        // Neither a declaration of the client nor its types are needed.
        let mut pair = pair(&server(), client().revisions(&[revision])).unwrap();
        assert_eq!(list(&mut pair).unwrap().len(), 1);
        let connection = pair.client();
        let page = pair.run(async { connection.call_raw("skills/list", json!({})).await }).unwrap();
        let first = page.member("skills").unwrap().elements().next().unwrap();
        assert_eq!(first.member("uri").unwrap().as_str(), format!("{URI:?}"));
        assert_eq!(page.member("ttlMs").unwrap().as_str(), "0");
        assert_eq!(page.member("cacheScope").unwrap().as_str(), "\"private\"");
        let is_modern = revision == Revision::V2026_07_28;
        assert_eq!(page.member("resultType").is_some(), is_modern, "{page}");
    }
}

#[test]
fn a_host_falls_back_if_the_server_has_no_skills() {
    // LIF-34
    let mut pair = pair(&Server::new("s", "1"), host()).unwrap();
    let peer = pair.client().peer();
    assert!(!skills::is_supported_by(&peer) && ReadDirectory::new(&peer, "skill://a").is_none());
    assert!(matches!(list(&mut pair), Err(Error::Misuse(_))));
    // A server that lists skills, but no directories.
    let extension = mcp_adapter::proto::Extension::new(skills::EXTENSION_ID);
    for settings in [json!({}), json!({"directoryRead": false}), json!({"directoryRead": "true"})] {
        let server = Server::new("s", "1").extension(extension.clone().settings(settings));
        let pair = mcp_adapter::testing::pair(&server, host()).unwrap();
        assert!(ReadDirectory::new(&pair.client().peer(), "skill://a").is_none());
    }
}

#[test]
fn resources_describe_the_files() {
    let mut pair = pair(&server(), host()).unwrap();
    let all = pair.list_resources().unwrap();
    let found = all.iter().find(|resource| resource.uri == URI).unwrap();
    assert_eq!(
        (&*found.name, found.description.as_deref()),
        ("refunds", Some("Refunds customers"))
    );
    assert_eq!(found.mime_type.as_deref(), Some("text/markdown"));
    assert_eq!(found.size, Some(REFUNDS.len() as u64));
}

#[test]
fn directories_have_their_direct_children() {
    let mut pair = pair(&server(), host()).unwrap();
    let peer = pair.client().peer();
    let mut read = |uri: &str| -> Result<Vec<(String, bool)>, i64> {
        let result = pair.call(ReadDirectory::new(&peer, uri).unwrap());
        let all: ListResourcesResult = result.map_err(|error| match error.into_error() {
            Error::Call(CallError::Refused(error)) => error.code,
            other => panic!("{other}"),
        })?;
        let is_directory = |it: &Resource| it.mime_type.as_deref() == Some(skills::DIRECTORY_TYPE);
        Ok(all.resources.iter().map(|it| (it.name.clone(), is_directory(it))).collect())
    };
    let names = |names: &[(&str, bool)]| {
        Ok(names.iter().map(|(name, is_directory)| ((*name).to_owned(), *is_directory)).collect())
    };
    let root = [("refunds", false), ("references", true), ("run.sh", false)];
    assert_eq!(read("skill://shop/refunds"), names(&root));
    let references = [("FORMS.md", false), ("eu", true)];
    assert_eq!(read("skill://shop/refunds/references"), names(&references));
    assert_eq!(read("skill://shop"), names(&[("refunds", true)]));
    for unknown in [
        "",
        "skill:",
        "skill:/",
        "skill://",
        "skill://shop/",
        "skill://sho",
        URI,
        "skill://shop/refunds/../refunds",
        "skill://shop/refunds/references/eu/..",
    ] {
        assert_eq!(read(unknown), Err(code::INVALID_PARAMS), "{unknown}");
    }
}

#[test]
fn unknown_skills_and_cursors_are_refused() {
    let mut pair = pair(&server(), host()).unwrap();
    let peer = pair.client().peer();
    let mut directory = ReadDirectory::new(&peer, "skill://shop").unwrap();
    directory.cursor = Some("1".to_owned());
    let refused = |error: Error| match error {
        Error::Call(CallError::Refused(error)) => assert_eq!(error.code, code::INVALID_PARAMS),
        other => panic!("{other}"),
    };
    for uri in ["", "skill://refunds/SKILL.md", "skill://shop/refunds", FORMS, "../SKILL.md"] {
        let failed = pair.call(GetSkill { uri: uri.to_owned() });
        refused(failed.unwrap_err().into_error());
    }
    for cursor in ["1", "-1", "", "x", "99999999999999999999999"] {
        let failed = pair.call(ListSkills { cursor: Some(cursor.to_owned()) });
        refused(failed.unwrap_err().into_error());
    }
    refused(pair.call(directory).unwrap_err().into_error());
}

#[test]
fn long_lists_have_pages() {
    let mut skills = Skills::new();
    for skill in 0..30 {
        let name = format!("s{skill:02}");
        skills = skills.file(&format!("{name}/SKILL.md"), "text/markdown", minimal(&name));
        for file in 0..99 {
            skills = skills.file(&format!("{name}/{file}"), "text/plain", "");
        }
    }
    let server = Server::new("s", "1").add(skills);
    let mut pair = pair(&server, host()).unwrap();
    let page = pair.call(ListSkills::default()).unwrap();
    assert_eq!((page.skills.len(), page.next_cursor.as_deref()), (10, Some("10")));
    let names: Vec<String> =
        list(&mut pair).unwrap().iter().map(|skill| skill.name().to_owned()).collect();
    assert_eq!(names, (0..30).map(|skill| format!("s{skill:02}")).collect::<Vec<_>>());
}

#[test]
fn a_skill_has_the_files_of_the_skills_in_it() {
    let skills = Skills::new()
        .file("a/SKILL.md", "text/markdown", minimal("a"))
        .file("a/b/SKILL.md", "text/markdown", minimal("b"))
        .file("a-b/SKILL.md", "text/markdown", minimal("a-b"));
    let server = Server::new("s", "1").add(skills);
    let listed = list(&mut pair(&server, host()).unwrap()).unwrap();
    let uris = |skill: &SkillManifest| match &skill.resources {
        SkillFiles::Listed(files) => files.iter().map(|file| file.uri.clone()).collect(),
        SkillFiles::Dynamic => Vec::new(),
    };
    let found: Vec<(&str, Vec<String>)> =
        listed.iter().map(|skill| (skill.name(), uris(skill))).collect();
    let (a, b, a_b) = ("skill://a/SKILL.md", "skill://a/b/SKILL.md", "skill://a-b/SKILL.md");
    let owned = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>();
    let expected = [("a-b", owned(&[a_b])), ("a", owned(&[a, b])), ("b", owned(&[b]))];
    assert_eq!(found, expected);
}

#[test]
fn invalid_skills_are_refused_when_added() {
    let fail = |skills: Skills| {
        Server::new("s", "1")
            .add(skills)
            .machine(mcp_adapter::proto::Instant::ZERO)
            .unwrap_err()
            .to_string()
    };
    let one = |path: &str, text: &str| fail(Skills::new().file(path, "text/markdown", text));
    for (error, skill, why) in [
        (one("b/SKILL.md", &minimal("a")), "skill://b/SKILL.md", "must end in its name"),
        (one("SKILL.md", &minimal("a")), "skill://SKILL.md", "must end in its name"),
        (one("A/SKILL.md", &minimal("A")), "skill://A/SKILL.md", "must end in its name"),
        (one("a--b/SKILL.md", &minimal("a--b")), "skill://a--b/SKILL.md", "must end in its name"),
        (one("-a/SKILL.md", &minimal("-a")), "skill://-a/SKILL.md", "must end in its name"),
        (one("a/SKILL.md", "---\nname: a\n---\n"), "skill://a/SKILL.md", "`description`"),
        (one("a/SKILL.md", "# A"), "skill://a/SKILL.md", "frontmatter"),
        (one("a/b.md", "text"), "skill://a/b.md", "no directory with a `SKILL.md`"),
        (one("", "text"), "skill://", "no directory with"),
    ] {
        assert!(error.contains(skill) && error.contains(why), "{error}");
    }
    for path in ["a/../x", "a/./x", "a//x", "a/x\\y", "a/x y", "a/%2e%2E/x", "a/x?y", "a/x%2Fy"] {
        let skills = Skills::new().file("a/SKILL.md", "text/markdown", minimal("a"));
        let error = fail(skills.file(path, "text/plain", "")).to_string();
        assert!(error.contains("no file in its directory"), "{path}: {error}");
    }
    let mut many = Skills::new().file("a/SKILL.md", "text/markdown", minimal("a"));
    for file in 0..FILES_MAX {
        many = many.file(&format!("a/{file}"), "text/plain", "");
    }
    assert!(fail(many).contains("513 files of"));
    let huge = vec![b' '; usize::try_from(BYTES_MAX).unwrap()];
    let huge = Skills::new().file("a/SKILL.md", "text/markdown", minimal("a")).file(
        "a/huge",
        "text/plain",
        huge,
    );
    assert!(fail(huge).contains("2 files of 16777"));
}

// SEC-02
#[test]
fn hidden_skills_are_not_listed() {
    let skills = refunds().file("secret/SKILL.md", "text/markdown", minimal("secret"));
    // A template that matches the files reveals nothing of them.
    let server = Server::new("s", "1").add(skills);
    let server =
        server.template("skill://{+path}", "others", || Err::<&str, _>(HandlerError::not_found()));
    let server = server.lists(Lists::new().visible_to(|entry, cx| {
        !entry.name().contains("secret") || cx.principal().map(Principal::id) == Some("ada")
    }));
    let get = GetSkill { uri: "skill://secret/SKILL.md".to_owned() };
    let ada = Principal::new("ada").unwrap();
    for (mut pair, count) in
        [(pair(&server, host()).unwrap(), 1), (pair_as(&server, host(), ada).unwrap(), 2)]
    {
        assert_eq!(list(&mut pair).unwrap().len(), count);
        assert_eq!(pair.call(get.clone()).is_ok(), count == 2);
        let directory = ReadDirectory::new(&pair.client().peer(), "skill://secret").unwrap();
        assert_eq!(pair.call(directory).is_ok(), count == 2);
    }
}

#[test]
fn changed_files_are_refused() {
    let skill = manifest();
    let changed = |file: &str, what: &str, expected: &str, found: &str| SkillFault::Changed {
        file: file.to_owned(),
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    // Computed with `sha256sum`.
    let digest = |text: &str| match text {
        "a form" => "sha256:e9979206fc15cd663622a6f1efe711bebffbdd4cc8ce7329a1e031742f48648a",
        _ => "sha256:a500326d7cbc5cf33986e0f5a127886ac57baf25a90645390bf4fc2f12cfbd78",
    };
    let farm = skill.verify(FORMS, &contents(FORMS, "a farm"));
    let error = farm.clone().unwrap_err().to_string();
    assert!([URI, FORMS, digest("a form"), digest("a farm")].iter().all(|it| error.contains(it)));
    assert_eq!(fault(farm), changed(FORMS, "digest", digest("a form"), digest("a farm")));
    let longer = skill.verify(FORMS, &contents(FORMS, "a form "));
    assert_eq!(fault(longer), changed(FORMS, "size", "6", "7"));
    let loaded = fault(skill.load(&contents(URI, &REFUNDS.replace("See", "Eat"))));
    assert!(matches!(loaded, SkillFault::Changed { what, .. } if what == "digest"));
    for result in [
        ReadResourceResult::new([]),
        contents(URI, "a form"),
        ResourceContents::blob(FORMS, "?").into(),
    ] {
        let SkillFault::Invalid(why) = fault(skill.verify(FORMS, &result)) else { panic!() };
        assert!(why.contains("no contents"), "{why}");
    }
}

#[test]
fn unlisted_files_are_refused() {
    let skill = manifest();
    for uri in ["skill://shop/refunds/new.md", "skill://other/SKILL.md", "file:///etc/passwd", ""] {
        let unlisted = SkillFault::Unlisted(uri.to_owned());
        assert_eq!(fault(skill.verify(uri, &contents(uri, ""))), unlisted);
    }
    for reference in [
        "",
        ".",
        "..",
        "/run.sh",
        "../run.sh",
        "../refunds/run.sh",
        "references/../../refunds/run.sh",
        "references",
        "new.md",
        "run.sh/",
        FORMS,
        "file:///etc/passwd",
    ] {
        let unlisted = SkillFault::Unlisted(reference.to_owned());
        assert_eq!(fault(skill.resolve(reference).cloned()), unlisted);
    }
}

#[test]
fn a_different_frontmatter_is_refused() {
    for (field, value, read) in [
        ("description", json!("Steals"), "\"Refunds customers\""),
        ("allowed-tools", json!("Bash"), "absent"),
        ("license", Value::Null, "\"MIT\""),
        ("metadata", json!({"version": 2}), r#"{"version":1.0}"#),
    ] {
        let mut skill = manifest();
        skill.frontmatter.insert(field.to_owned(), value.clone());
        let (what, found) = (field.to_owned(), read.to_owned());
        let expected = value.to_string();
        let differs = SkillFault::Changed { file: URI.to_owned(), what, expected, found };
        assert_eq!(fault(skill.load(&contents(URI, REFUNDS))), differs);
    }
    // The form of a number makes no difference.
    let mut skill = manifest();
    skill.frontmatter.insert("metadata".to_owned(), json!({"version": 1}));
    assert!(skill.load(&contents(URI, REFUNDS)).is_ok());
}

#[test]
fn hostile_manifests_are_not_loaded() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::to_value(manifest()).unwrap();
        change(&mut value);
        let skill: SkillManifest = serde_json::from_value(value).unwrap();
        assert_eq!(skill.load(&contents(URI, REFUNDS)).map(drop), skill.check());
        skill.check().unwrap_err().fault
    };
    let file = |uri: &str| -> Value {
        json!({"uri": uri, "digest": format!("sha256:{:064}", 0), "size": 0})
    };
    let invalid: [&dyn Fn(&mut Value); 12] = [
        &|it| it["resources"][1]["uri"] = json!("skill://shop/other/FORMS.md"),
        &|it| it["resources"][1]["uri"] = json!("skill://shop/refunds/../x"),
        &|it| it["resources"][1]["uri"] = json!("skill://shop/refunds/%2E%2e/x"),
        &|it| it["resources"][1]["uri"] = json!("skill://shop/refunds/a\\..\\x"),
        &|it| it["resources"][1]["uri"] = json!("skill://shop/refunds"),
        &|it| it["resources"][1]["digest"] = json!("sha256:00"),
        &|it| it["resources"][1]["digest"] = json!(format!("sha256:{:A>64}", "")),
        &|it| it["resources"][1] = it["resources"][0].clone(),
        &|it| it["resources"] = json!([]),
        &|it| it["frontmatter"]["name"] = json!("other"),
        &|it| it["frontmatter"]["description"] = json!(["a"]),
        &|it| drop(it["frontmatter"].as_object_mut().unwrap().remove("name")),
    ];
    for (index, change) in invalid.into_iter().enumerate() {
        assert!(matches!(refused(change), SkillFault::Invalid(_)), "{index}");
    }
    let says = |fault: SkillFault, wanted: &str| {
        let SkillFault::Invalid(why) = fault else { panic!("{fault:?}") };
        assert!(why.contains(wanted), "{why}");
    };
    says(refused(&|it| it["resources"] = json!("dynamic")), "dynamic");
    let many: Vec<Value> = (0..=FILES_MAX).map(|n| file(&format!("skill://a/{n}"))).collect();
    says(refused(&|it| it["resources"] = json!(many)), "513 files of 0 bytes");
    let size = |size: u64| refused(&move |it| it["resources"][1]["size"] = json!(size));
    says(size(BYTES_MAX), "exceed the limit");
    says(size(u64::MAX), "exceed the limit");
}

/// Returns a server whose list of skills has these pages.
fn listing(page: impl Fn(ListSkills) -> SkillPage + Send + Sync + 'static) -> Server {
    Server::new("s", "1")
        .extension(mcp_adapter::proto::Extension::new(skills::EXTENSION_ID))
        .add(MethodHandler::new(move |request: ListSkills| page(request)).without_extension())
}

#[test]
fn endless_lists_are_bounded() {
    let skill = manifest();
    let limits = || Limits { list_entries_max: 100, list_bytes_max: 40_000, ..Limits::default() };
    let host = || host().limits(limits());
    let next = |request: &ListSkills| {
        let page: u32 = request.cursor.as_ref().map_or(0, |cursor| cursor.parse().unwrap());
        Some((page + 1).to_string())
    };
    let failure = |server: Server| match list(&mut pair(&server, host()).unwrap()) {
        Err(Error::List(error)) => error,
        other => panic!("{other:?}"),
    };
    let small = SkillManifest { resources: SkillFiles::Dynamic, ..skill.clone() };
    let endless = listing(move |request| SkillPage {
        skills: vec![small.clone(); 3],
        next_cursor: next(&request),
    });
    assert_eq!(failure(endless), ListError::TooManyEntries { max: 100 });
    let large = listing(move |request| SkillPage {
        skills: vec![skill.clone(); 20],
        next_cursor: next(&request),
    });
    assert_eq!(failure(large), ListError::TooManyBytes { max: 40_000 });
    let empty = listing(|_| SkillPage { skills: Vec::new(), next_cursor: Some("x".to_owned()) });
    assert_eq!(failure(empty), ListError::RepeatedCursor);
}

#[test]
fn malformed_entries_are_left_out() {
    let valid = serde_json::to_value(manifest()).unwrap();
    let mut without_files = valid.clone();
    without_files.as_object_mut().unwrap().remove("resources");
    let mut odd = valid.clone();
    odd["resources"] = json!("static");
    let mut negative = valid.clone();
    negative["resources"][0]["size"] = json!(-1);
    let page = json!({"skills": [7, without_files, odd, valid, negative, {}]});
    let decode =
        |page: Value| <SkillPage as mcp_adapter::proto::schema::Decode>::decode(&Raw::from(page));
    let read = decode(page).unwrap();
    assert_eq!(read.skills, [manifest()]);
    for page in [json!({}), json!({"skills": {}}), json!({"skills": [], "nextCursor": 7})] {
        assert!(decode(page.clone()).is_err(), "{page}");
    }
}

#[test]
fn files_larger_than_a_message_end_the_call_and_not_the_connection() {
    let server = server().resource("skill://shop/huge", "huge", || {
        ResourceContents::text("skill://shop/huge", "x".repeat(100_000))
    });
    let limits = Limits { message_bytes_max: 10_000, ..Limits::default() };
    let mut pair = pair(&server, host().limits(limits)).unwrap();
    assert!(pair.read_resource("skill://shop/huge").is_err());
    assert_eq!(list(&mut pair).unwrap().len(), 1);
}
