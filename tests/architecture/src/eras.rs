//! Only `connection/eras` branches on an era, or on whether servers may send requests.
//!
//! Passing an era on as a value is free everywhere.

use crate::Breach;
use crate::aliases::Aliases;
use crate::allowed::{Allowed, except};
use crate::branches::{self, is_compared};
use crate::plans::CORE;
use crate::revisions;
use crate::sources::{SourceFile, reads};
use std::collections::BTreeMap;

/// Tolerated branches outside of `connection/eras`, by file. The list may only shrink.
pub const ALLOWED: &[Allowed] = &[
    Allowed {
        file: "mcp-proto/src/http/admit.rs",
        count: 1,
        reason: "admits a request by its header alone, before any connection exists",
    },
    Allowed {
        file: "mcp-proto/src/http/validate.rs",
        count: 1,
        reason: "classifies a POST as legacy or modern, before any connection exists",
    },
    Allowed {
        file: "mcp-proto/src/http/validate/modern.rs",
        count: 1,
        reason: "rejects revisions that are not modern, before any connection exists",
    },
    Allowed {
        file: "mcp-proto/src/http/policy.rs",
        count: 1,
        reason: "selects the configured revisions of an era",
    },
];

/// The column of the revision table that implies the era.
const COLUMN: &str = "server_requests";

/// Finds lines of the core that branch on an era elsewhere and are not tolerated.
#[must_use]
pub fn branches(core: &[SourceFile], allowed: &[Allowed]) -> Vec<Breach> {
    let aliases = Aliases::new(core, "Era");
    let mut breaches = Vec::new();
    for file in core.iter().filter(|file| !is_home(&file.path)) {
        // One breach per line: `x.era() == Era::Legacy` is one branch.
        let mut lines: BTreeMap<usize, String> = BTreeMap::new();
        for branch in branches::branches(file, &aliases.within(file)) {
            lines.entry(branch.line).or_insert_with(|| format!("`{}` {}", branch.name, branch.how));
        }
        let tokens = &file.tokens;
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.in_test) {
            let length = if reads(tokens, at, &[".", "era", "(", ")"]) { 4 } else { 2 };
            let asks = reads(tokens, at, &[".", "era"]);
            let branches =
                is_compared(tokens, at, at + length) || reads(tokens, at + length, &["{"]);
            if token.is(COLUMN) {
                lines.entry(token.line).or_insert_with(|| format!("`{COLUMN}` asks for the era"));
            } else if asks && branches {
                lines
                    .entry(token.line)
                    .or_insert_with(|| "`era` is compared or matched".to_owned());
            }
        }
        let home = "what differs between the eras is in `connection/eras`";
        breaches.extend(
            lines
                .into_iter()
                .map(|(line, what)| (file, file.breach(line, format!("{what}: {home}")))),
        );
    }
    except(breaches, allowed)
}

fn is_home(path: &str) -> bool {
    let eras = path.strip_prefix(CORE).and_then(|path| path.strip_prefix("connection/eras"));
    revisions::is_home(path) || eras.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::branches;
    use crate::allowed::Allowed;
    use crate::sources::planted;

    fn found(path: &str, text: &str, allowed: &[Allowed]) -> Vec<String> {
        let revision = "pub enum Era { Legacy, Modern } if rules.server_requests {}";
        let files = planted(&[("mcp-proto/src/revision.rs", revision), (path, text)]);
        branches(&files, allowed).iter().map(ToString::to_string).collect()
    }

    const ROUTER: &str = "mcp-proto/src/connection/mod.rs";

    #[test]
    fn each_branch_is_reported() {
        for text in [
            "if revision.era() == Era::Modern {}",
            "if self.expected == Some(Era::Legacy) {}",
            "match revision.era() { Era::Legacy => 1, Era::Modern => 2 }",
            "match (side, era) { (Side::Client, Era::Legacy) => 1, _ => 2 }",
            "matches!(era, Era::Legacy)",
            "use crate::revision::Era::Legacy as Old; fn f() { if era == Old {} }",
            "use crate::Era as E; fn f() { if let E::Legacy = x {} }",
            "use crate::revision::Era::*;",
            "if self.rules().server_requests {}",
            "let Rules { server_requests, .. } = rules;",
            "if a.era() != b.era() {}",
            "if rules.era == era {}",
            "match revision.era() {\\n_ => 1 }",
        ] {
            assert_eq!(found(ROUTER, text, &[]).len(), 1, "{text}");
        }
        assert_eq!(
            found(ROUTER, "\nif x == Era::Legacy {}", &[]),
            ["mcp-proto/src/connection/mod.rs:2: `Era::Legacy` is compared with: what differs \
                 between the eras is \
              in `connection/eras`"]
        );
    }

    #[test]
    fn values_tests_and_the_home_are_free() {
        for text in [
            "newest(Era::Modern).is_some(); config.expect(Era::Legacy)",
            "let era = revision.era(); self.eras.respond(now)",
            "#[cfg(test)] mod tests { fn f() { assert!(era == Era::Legacy) } }",
            "/// `Era::Legacy == server_requests`\nfn f() { \"server_requests\" }",
        ] {
            assert_eq!(found(ROUTER, text, &[]), [""; 0], "{text}");
        }
        for path in [
            "connection/eras/mod.rs",
            "connection/eras/legacy.rs",
            "connection/eras.rs",
            "revision/era.rs",
        ] {
            assert_eq!(
                found(&format!("mcp-proto/src/{path}"), "if era == Era::Legacy {}", &[]),
                [""; 0]
            );
        }
        assert_eq!(
            found("mcp-proto/src/connection/erase.rs", "if era == Era::Legacy {}", &[]).len(),
            1
        );
    }

    #[test]
    fn what_is_allowed_is_left_out() {
        let allowed = [Allowed { file: ROUTER, count: 1, reason: "a test" }];
        assert_eq!(found(ROUTER, "if x == Era::Legacy {}", &allowed), [""; 0]);
        assert_eq!(
            found(ROUTER, "if x == Era::Legacy {}\nif x == Era::Modern {}", &allowed).len(),
            2
        );
        assert_eq!(found(ROUTER, "", &allowed).len(), 1);
    }
}
