// What the published suites ask for: a session that falls silent is dead within half a second.
export const INTERVAL_MS = 300;
export const TIMEOUT_MS = 200;
// Of Engine.IO 3, where a session is dead that sends nothing for both of them: not while a test is between two requests.
export const INTERVAL_3_MS = 2000;
export const TIMEOUT_3_MS = 1000;
export const CONNECT_MS = 1000;
export const MAX_PAYLOAD = 1_000_000;
