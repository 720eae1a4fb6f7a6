//! Authorization of clients over HTTP, without IO.
//!
//! The building blocks of an OAuth 2.1 client, as pure functions and types: strict URLs ([`Uri`])
//! and the addresses that a server may name ([`Reach`]), sets of scopes ([`Scopes`]), metadata of
//! [resources](ProtectedResourceMetadata) and [authorization
//! servers](AuthorizationServerMetadata), client registration ([`RegistrationRequest`]), the
//! [authorization request](AuthorizationRequest) and its [redirect](PendingAuthorization),
//! [token requests](TokenRequest) and [responses](TokenResponse), [signed](UnsignedJwt)
//! assertions and [proofs](DpopProver), and the [stored](GrantRecord) forms of all this.
//!
//! Everything that a server sends is bounded by [`AuthLimits`], and nothing secret is shown by
//! `Debug` or by errors.
//!
//! [Specification][spec]
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization

mod authorization;
mod authorization_request;
mod challenge;
mod client_auth;
mod document;
mod extensions;
mod flow_secrets;
mod form;
mod invalid_record;
mod limits;
mod loopback_host;
mod metadata_error;
mod oauth_error;
mod reach;
mod record;
mod redirect;
mod registration;
mod resource_metadata;
mod scopes;
mod server_metadata;
mod token_request;
mod token_response;
mod uri;

pub use authorization::{
    AuthAction, AuthConfig, AuthEvent, AuthInput, Authorization, Denial, DropReason, Fetch,
    FetchFailure, FetchId, Forget, IdentityProvider, KeyUse, KnownClient, Quirk, Quirks, RecordKey,
    Redirect, RedirectPage, RejectedRequest, SignId, StoreFailure, StoreId, Stored, Time, Verdict,
};
pub use authorization_request::{AuthorizationRequest, InvalidRequest};
pub use challenge::TokenChallenge;
pub use client_auth::{ClientAuthMethod, ClientAuthMethods, ClientAuthentication, CredentialKind};
pub use extensions::{DpopProof, DpopProver, PublicKey, UnsignedJwt};
pub use flow_secrets::FlowSecrets;
pub use invalid_record::InvalidRecord;
pub use limits::AuthLimits;
pub use loopback_host::LoopbackHost;
pub use metadata_error::MetadataError;
pub use oauth_error::OAuthError;
pub use reach::{Reach, UriPolicy, UriRefusal};
pub use record::{ClientRecord, GrantRecord, StoredTokens};
pub use redirect::{PendingAuthorization, RedirectFault, RedirectVerdict, query_of_redirect};
pub use registration::{RegisteredClient, RegistrationError, RegistrationRequest};
pub use resource_metadata::ProtectedResourceMetadata;
pub use scopes::{InvalidScopes, Scopes};
pub use server_metadata::{
    AuthorizationServerMetadata, EndpointError, ExpectedIssuer, GrantType, PkceSupport,
};
pub use token_request::{EncodedTokenRequest, TokenGrant, TokenRequest};
pub use token_response::{TokenError, TokenResponse, TokenType, is_temporary_status, renewal_time};
pub use uri::{InvalidUri, Scheme, Uri};
