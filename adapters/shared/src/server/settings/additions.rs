//! The values that can be added to a server while it is built.

use crate::server::catalog::catalog_edit::PutEntry;
use crate::server::settings::ServerSettings;

/// A value that [`Server::add`](crate::Server::add) accepts: an [`Entry`](crate::Entry), a
/// [`MethodHandler`](crate::MethodHandler), [`Unregistered`](crate::Unregistered) handlers, an app
/// or skills.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added to a server",
    label = "not an entry",
    note = "an entry has a handler: `Tool::define(definition, handler)` makes one of a definition, \
            as do `Resource`, `Template` and `Prompt`"
)]
#[expect(private_bounds, reason = "the trait is sealed")]
pub trait Addition: AddTo {}

/// Adds something to a server that is being built.
pub(crate) trait AddTo {
    fn add_to(self, server: &mut ServerSettings);
}

#[diagnostic::do_not_recommend]
impl<A: AddTo> Addition for A {}

#[diagnostic::do_not_recommend]
impl<E: PutEntry> AddTo for E {
    fn add_to(self, server: &mut ServerSettings) {
        server.builder.register(|edit| edit.add(self));
    }
}
