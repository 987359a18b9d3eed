//! The modules that Node brings along: it knows exactly what they export.

/// Without `node:`; folders of them (`fs/promises`) go by their first word.
const BUILTIN: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Whether `specifier` is one of Node's own modules. A package's folder (`events/`) is not.
pub(crate) fn is_builtin(specifier: &str) -> bool {
    if specifier.starts_with("node:") {
        return true;
    }
    let (first, rest) = specifier.split_once('/').unwrap_or((specifier, "promises"));
    BUILTIN.contains(&first)
        && matches!(rest, "promises" | "posix" | "win32" | "strict" | "types" | "web" | "consumers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_own_modules_are_told_from_packages_of_like_names() {
        for own in ["fs", "node:fs", "fs/promises", "node:test", "util/types", "path/posix", "stream/web"] {
            assert!(is_builtin(own), "{own}");
        }
        for other in ["axios", "events/", "buffer/", "fs-extra", "util-deprecate", "punycode/"] {
            assert!(!is_builtin(other), "{other}");
        }
    }
}
