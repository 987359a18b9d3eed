//! Opening a page in the user's browser.

use std::process::{Command, Stdio};

/// Asks the system to open an address. Where it cannot, the address has been printed.
pub(crate) fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It ends by itself, or with us.
    let _ = command.spawn();
}
