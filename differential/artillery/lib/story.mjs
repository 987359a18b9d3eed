// What a run did, put so that two runs of one script can be compared: without what differs from run to run (ports, ids,
// the order among users) and without what a tool is free to choose (which is compared on its own).

/** Said by every client in its own way and meaningless to a script. */
const NOISE = new Set(['connection', 'content-length', 'date', 'sec-websocket-key', 'sec-websocket-version', 'upgrade']);
/**
 * What the tools say of themselves unless a script says otherwise: those values only are compared as a set over the whole run.
 * With any other the header is the script's, and compared with its request.
 */
const OWN = {
  'user-agent': /^(Artillery \(https:\/\/artillery\.io\)|got \(https:\/\/github\.com\/sindresorhus\/got\)|node-XMLHttpRequest|Sonagi\/[\w.+-]+)$/,
  'accept-encoding': /^gzip, deflate, br(, zstd)?$/,
  accept: /^\*\/\*$/,
  'transfer-encoding': /^chunked$/,
  'sec-websocket-extensions': /^permessage-deflate; client_max_window_bits$/,
};
/** Every request of both has these, so that one without is a difference of that request. */
const ALWAYS = new Set(['user-agent', 'accept-encoding']);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const BOUNDARY = /(multipart\/form-data; *boundary=).*/;

/** `{users, choices}` of a target's log: what each user did, sorted, and the headers that tools choose. */
export function story(log, { url, masks = [], anyOrder = false }) {
  const choices = {};
  const users = new Map();
  for (const { user: by, headers = {}, ...entry } of log) {
    const user = anyOrder ? 'anybody' : by;
    const { kept, chosen } = sifted(headers, entry.kind, new URL(url).host);
    for (const [name, value] of Object.entries(chosen)) (choices[name] ??= new Set()).add(value);
    if (!users.has(user)) users.set(user, []);
    users.get(user).push(Object.keys(kept).length > 0 ? { ...entry, headers: kept } : entry);
  }
  const told = [...users].map(([user, entries]) => steps(entries, user, url, masks, anyOrder));
  return { users: told.sort((a, b) => compare(a.join('\n'), b.join('\n'))), choices: Object.fromEntries(Object.entries(choices).map(([name, values]) => [name, [...values].sort()])) };
}

function sifted(headers, kind, host) {
  const kept = {};
  const chosen = {};
  for (const [name, value] of Object.entries(headers).sort(([a], [b]) => compare(a, b))) {
    if (NOISE.has(name) || (name === 'host' && value === host)) continue;
    if (OWN[name]?.test(value)) {
      chosen[name] = value.replace(/^Sonagi\/.*/, 'Sonagi/VERSION');
      if (kind === 'http' && ALWAYS.has(name)) kept[name] = "<the tool's own>";
    } else kept[name] = name === 'content-type' ? String(value).replace(BOUNDARY, '$1…') : value;
  }
  return { kept, chosen };
}

/** The lines of one user; ids are numbered by their first appearance. */
function steps(entries, user, url, masks, anyOrder) {
  const ids = new Map([[user, '<user>']]);
  const host = new URL(url).host;
  const lines = entries.map((entry) => {
    let line = JSON.stringify(entry).replaceAll(host, 'TARGET');
    line = line.replace(UUID, (id) => ids.get(id) ?? (ids.set(id, `<id ${ids.size}>`), ids.get(id)));
    for (const mask of masks) line = line.replace(mask, '<masked>');
    return line;
  });
  return anyOrder ? lines.sort(compare) : lines;
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Lines that scripts and functions say on purpose, in whatever order users came. */
export const spoken = (text) => text.split('\n').filter((line) => line.includes('SAID ')).map((line) => line.slice(line.indexOf('SAID ')).trimEnd()).sort(compare);
