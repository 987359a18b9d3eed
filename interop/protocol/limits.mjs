// What the published suites ask for: a session that falls silent is dead within half a second.
export const INTERVAL_MS = 300;
export const TIMEOUT_MS = 200;
export const CONNECT_MS = 1000;
export const MAX_PAYLOAD = 1_000_000;
