//! The routes of paths: one `match` over method and path segments.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request};

use super::Routes;
use crate::api::{self, user_lists};
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::transports::engineio::requests;
use crate::transports::websocket::{echo, rooms};
use crate::transports::{Transports, polling, sockjs, sse};

impl Routes for Transports {
    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    async fn route(
        &self,
        request: Request<Incoming>,
        from: SocketAddr,
        slot: &Arc<Slot>,
    ) -> Result<Answer, Problem> {
        let hub = &self.hub;
        let path = request.uri().path().to_owned();
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let method = request.method().clone();
        match (method, segments.as_slice()) {
            (Method::GET, ["healthz"]) => api::health(hub),
            (Method::GET, ["metrics"]) => Ok(api::metrics(hub)),
            (Method::POST, ["auth", "login"]) => api::login(request, from.ip(), hub).await,
            (Method::POST, ["api", "auth", "login"]) => api::api_login(request, from.ip(), hub).await,
            (Method::GET, ["api", "user", "list-all"]) => user_lists::all(&request, hub).await,
            (Method::GET, ["api", "user", "list"]) => user_lists::list(&request, hub).await,
            (Method::GET, ["users", "getUserSecure", email]) => api::user(email, hub),
            (Method::GET, ["users", "friends"]) => api::friends(request.headers(), hub),
            (Method::POST, ["rooms", "find-or-create"]) => api::find_or_create(request, hub).await,
            (Method::GET, ["rooms", id, "messages"]) => api::messages(&request, id, slot.source, hub).await,
            (Method::GET, ["ws"]) => rooms::connect(request, slot, hub).await,
            (Method::GET, ["ws", "echo"]) => echo::connect(request, slot, hub),
            (Method::GET, ["cur", group]) => {
                polling::current(&request, group, slot.source, &self.pollers).await
            }
            (Method::GET, ["location", "long", group]) => {
                polling::long(&request, group, slot.source, &self.pollers).await
            }
            (Method::POST, ["location", "long", group, "notify"]) => {
                polling::share(request, &http::decode(group, false), slot.source, hub).await
            }
            (Method::GET, ["location", "sse", "connect"]) => sse::connect(&request, slot, hub),
            (Method::POST, ["location", "sse", "share"]) => {
                let group = sse::group(&request);
                polling::share(request, &group, slot.source, hub).await
            }
            (_, ["socket.io"]) => Ok(requests::socketio(request, slot, &self.engineio).await),
            (_, ["engine.io"]) if hub.config.protocol_suite => {
                Ok(requests::engineio(request, slot, &self.engineio).await)
            }
            (
                method,
                ["healthz" | "metrics" | "ws"]
                | ["ws", "echo"]
                | ["users", ..]
                | ["api", "user", "list" | "list-all"]
                | ["rooms", _, "messages"]
                | ["cur", _]
                | ["location", "long", _]
                | ["location", "sse", "connect"],
            ) => Err(http::wrong_method(&method, "GET")),
            (
                method,
                ["auth", "login"]
                | ["api", "auth", "login"]
                | ["rooms", "find-or-create"]
                | ["location", "long", _, "notify"]
                | ["location", "sse", "share"],
            ) => Err(http::wrong_method(&method, "POST")),
            (_, ["location", ..]) => sockjs::serve(request, slot, &self.sockjs).await,
            _ => Err(Problem::new(404, "not_found", format!("nothing is served at `{path}`"))),
        }
    }
}
