//! Which path gets what: a fixed table, below the token.

use super::address::is_host;
use super::page::Page;
use super::request::Request;
use super::response::Response;
use super::token::Token;
use super::windows::Windows;

/// What is served.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) token: Token,
    /// The port, if it is served on one.
    pub(super) port: Option<u16>,
    pub(super) page: Page,
    pub(super) windows: Windows,
}

/// Answers a request.
pub(super) fn answer(request: &Request, served: &Served) -> Response {
    if request.method != "GET" {
        return Response::text(405, "only GET");
    }
    if !request.host.as_ref().is_some_and(|host| is_host(host, served.port)) {
        return Response::text(403, "only localhost");
    }
    let path = request.path.strip_prefix('/').unwrap_or_default();
    let (token, path) = path.split_once('/').unwrap_or((path, ""));
    if !served.token.is(token) {
        return Response::text(403, "the address needs the token that replay-show serve has printed");
    }
    match path {
        "" => Response {
            policy: served.page.policy.clone(),
            ..Response::new(200, "text/html; charset=utf-8", served.page.bytes.clone())
        },
        "window.json" => served.windows.answer(&request.query),
        _ => Response::text(404, "nothing here"),
    }
}
