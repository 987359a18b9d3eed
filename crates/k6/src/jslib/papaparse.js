// jslib.k6.io/papaparse: texts of comma-separated values to rows, and back.
const GUESSED = [',', '\t', '|', ';', '\u001e', '\u001f'];
const MOST_GUESSED_ROWS = 10;

const breakOf = (text) => {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : at < 0 && text.includes('\r') ? '\r' : '\n';
};

// Rows of fields, quotes taken off; at most `most` rows.
function fieldsOf(text, { delimiter, newline, quoteChar: quote, escapeChar: escape, comments, most }) {
  const [rows, errors] = [[], []];
  let [row, at] = [[], 0];
  const isBegun = () => row.length > 0;
  while (at < text.length && rows.length < most) {
    if (comments && !isBegun() && text.startsWith(comments, at)) {
      const end = text.indexOf(newline, at);
      at = end < 0 ? text.length : end + newline.length;
      continue;
    }
    let field = '';
    if (quote !== null && text.startsWith(quote, at)) {
      let [from, end] = [at + quote.length, -1];
      for (let look = from; ; ) {
        end = text.indexOf(quote, look);
        if (end < 0) break;
        const escaped = escape === quote ? text.startsWith(quote, end + quote.length) : text.slice(from, end).endsWith(escape);
        if (!escaped) break;
        look = end + quote.length + (escape === quote ? quote.length : 0);
      }
      if (end < 0) {
        errors.push({ type: 'Quotes', code: 'MissingQuotes', message: 'Quoted field unterminated', row: rows.length, index: at });
        end = text.length;
      }
      field = text.slice(from, end).split(escape + quote).join(quote);
      at = end + quote.length;
      const rest = [text.indexOf(delimiter, at), text.indexOf(newline, at)].filter((place) => place >= 0);
      const next = rest.length === 0 ? text.length : Math.min(...rest);
      field += text.slice(at, next);
      at = Math.min(next, text.length);
    } else {
      const rest = [text.indexOf(delimiter, at), text.indexOf(newline, at)].filter((place) => place >= 0);
      const next = rest.length === 0 ? text.length : Math.min(...rest);
      field = text.slice(at, next);
      at = next;
    }
    row.push(field);
    if (text.startsWith(delimiter, at)) {
      at += delimiter.length;
      if (at >= text.length) row.push('');
      else if (text.startsWith(newline, at)) row.push('');
      else continue;
    }
    if (text.startsWith(newline, at)) {
      at += newline.length;
      rows.push(row);
      row = [];
      if (at >= text.length && rows.length < most) row = [''];
    }
  }
  if (isBegun() && rows.length < most) rows.push(row);
  return { rows, errors, cursor: at };
}

// The delimiter whose rows have the most fields, as many in each.
function guessed(text, options, candidates) {
  let best = { delimiter: ',', delta: Infinity, average: 1.99 };
  for (const delimiter of candidates) {
    const { rows } = fieldsOf(text, { ...options, delimiter, most: MOST_GUESSED_ROWS });
    const full = rows.filter((row) => row.length > 1 || row[0].trim() !== '');
    if (full.length === 0) continue;
    const delta = full.reduce((sum, row, at) => sum + (at === 0 ? 0 : Math.abs(row.length - full[at - 1].length)), 0);
    const average = full.reduce((sum, row) => sum + row.length, 0) / full.length;
    if (average > 1.99 && (delta < best.delta || (delta === best.delta && average > best.average))) best = { delimiter, delta, average };
  }
  return best;
}

const NUMBER = /^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/;
const DATE = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?([+-][0-2]\d:[0-5]\d|Z)$/;
function typed(value) {
  if (value === 'true' || value === 'TRUE') return true;
  if (value === 'false' || value === 'FALSE') return false;
  if (NUMBER.test(value) && Math.abs(Number(value)) < 2 ** 53) return Number(value);
  if (DATE.test(value)) return new Date(value);
  return value === '' ? null : value;
}

const isWanted = (of, key) => (typeof of === 'function' ? of(key) : typeof of === 'object' && of !== null ? of[key] === true : of === true);
const isEmpty = (row, how) => (how === 'greedy' ? row.join('').trim() === '' : row.length === 1 && row[0] === '');

function named(names) {
  const seen = Object.create(null);
  return names.map((name) => {
    const count = (seen[name] = (seen[name] ?? -1) + 1);
    return count === 0 ? name : `${name}_${count}`;
  });
}

export function parse(given, config = {}) {
  let text = String(given);
  if (text.startsWith('\ufeff')) text = text.slice(1);
  const quoteChar = config.quoteChar === undefined ? '"' : config.quoteChar;
  const options = { quoteChar, escapeChar: config.escapeChar ?? quoteChar, newline: config.newline || breakOf(text), comments: config.comments === true ? '#' : config.comments };
  const errors = [];
  let { delimiter } = config;
  if (typeof delimiter === 'function') delimiter = delimiter(text);
  if (!delimiter) {
    const best = guessed(text, options, config.delimitersToGuess ?? GUESSED);
    if (best.delta === Infinity) errors.push({ type: 'Delimiter', code: 'UndetectableDelimiter', message: "Unable to auto-detect delimiting character; defaulted to ','" });
    ({ delimiter } = best);
  }
  const most = config.preview > 0 ? config.preview + (config.header ? 1 : 0) : Infinity;
  const read = fieldsOf(text, { ...options, delimiter, most });
  errors.push(...read.errors);
  let { rows } = read;
  if (config.skipEmptyLines) rows = rows.filter((row) => !isEmpty(row, config.skipEmptyLines));
  const meta = { delimiter, linebreak: options.newline, aborted: false, truncated: rows.length >= most, cursor: read.cursor };
  let names;
  if (config.header && rows.length > 0) {
    const [first, ...others] = rows;
    names = named(first.map((name, at) => (config.transformHeader ? config.transformHeader(name, at) : name)));
    meta.fields = names;
    rows = others;
  }
  const value = (text, at) => {
    const key = names?.[at] ?? at;
    const own = config.transform ? config.transform(text, key) : text;
    return isWanted(config.dynamicTyping, key) ? typed(own) : own;
  };
  let data = rows.map((row) => row.map(value));
  if (names !== undefined) {
    data = data.map((row, at) => {
      if (row.length !== names.length) {
        const [code, few] = row.length < names.length ? ['TooFewFields', 'few'] : ['TooManyFields', 'many'];
        errors.push({ type: 'FieldMismatch', code, message: `Too ${few} fields: expected ${names.length} fields but parsed ${row.length}`, row: at });
      }
      const object = Object.fromEntries(row.slice(0, names.length).map((one, place) => [names[place], one]));
      if (row.length > names.length) object.__parsed_extra = row.slice(names.length);
      return object;
    });
  }
  if (typeof config.step === 'function') {
    const parser = { abort: () => (meta.aborted = true), pause() {}, resume() {} };
    for (const row of data) {
      config.step({ data: row, errors: [], meta }, parser);
      if (meta.aborted) break;
    }
    data = [];
  }
  const results = { data, errors, meta };
  if (typeof config.complete === 'function') config.complete(results);
  return results;
}

export function unparse(given, config = {}) {
  const { delimiter = ',', newline = '\r\n', quoteChar = '"', quotes = false, header = true, skipEmptyLines = false } = config;
  const escapeChar = config.escapeChar ?? quoteChar;
  const source = typeof given === 'string' ? JSON.parse(given) : given;
  let { fields = config.columns, data = source } = source;
  if (!Array.isArray(data)) data = [data];
  if (fields === undefined && data.length > 0 && !Array.isArray(data[0])) fields = Object.keys(data[0]);
  const cell = (value, at) => {
    const text = value === undefined || value === null ? '' : value instanceof Date ? JSON.stringify(value).slice(1, 25) : String(value);
    const isQuoted =
      (Array.isArray(quotes) ? quotes[at] : typeof quotes === 'function' ? quotes(value, at) : quotes) ||
      [delimiter, quoteChar, '\n', '\r'].some((mark) => text.includes(mark)) || text.startsWith(' ') || text.endsWith(' ');
    return isQuoted ? quoteChar + text.split(quoteChar).join(escapeChar + quoteChar) + quoteChar : text;
  };
  const rows = data.map((row) => (Array.isArray(row) ? row : fields.map((name) => row[name])));
  const kept = skipEmptyLines ? rows.filter((row) => !isEmpty(row.map((value) => String(value ?? '')), skipEmptyLines)) : rows;
  const all = header && fields !== undefined ? [fields, ...kept] : kept;
  return all.map((row) => row.map(cell).join(delimiter)).join(newline);
}

export default { parse, unparse };
