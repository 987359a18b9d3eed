//! Everything a script can import (k6's modules, our own), and the globals.
//!
//! A module is an object that is built when a script first asks for it, by one function per file of this folder;
//! importing takes its members as names, requiring gives the object itself.

pub(crate) mod binding;
mod crypto;
pub(crate) mod delivery;
mod experimental;
pub(crate) mod files;
mod forms;
mod globals;
mod html;
mod http;
mod k6;
mod language;
mod record;
pub(crate) mod registry;
mod socket;
mod socketio;
mod sonagi;
mod sse;
mod stomp;
#[cfg(test)]
mod tests;
mod websockets;
mod ws;

use rquickjs::Ctx;
use std::rc::Rc;

use crate::vu::Vu;
use binding::BuiltinObjects;
use files::CommonFiles;
use globals::ScriptTimers;
use http::{HttpState, ResponseClass};
use k6::execution::ExecutionState;

pub(crate) use globals::{environment, globals};

/// Ends everything of an iteration.
#[inline(never)]
pub(crate) fn end_iteration(_: &Ctx<'_>, vu: &Rc<Vu>) {
    vu.events.end(vu);
    if let Some(timers) = vu.known_module_state::<ScriptTimers>() {
        timers.forget(&vu.shard);
    }
    if let Some(http) = vu.known_module_state::<HttpState>() {
        http.end_iteration(vu);
    }
    vu.rejections.forget();
    delivery::end_iteration(vu);
}

/// All values of the interpreter are let go of, before it goes itself.
pub(crate) fn forget(ctx: &Ctx<'_>, vu: &Rc<Vu>) {
    end_iteration(ctx, vu);
    vu.events.forget(vu);
    delivery::end(vu);
    vu.module_state::<BuiltinObjects>().forget();
    vu.module_state::<CommonFiles>().forget();
    vu.module_state::<ResponseClass>().forget();
    vu.module_state::<ExecutionState>().forget();
}
