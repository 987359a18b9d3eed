// Whether a test says what the list of differences has it say: its words are looked for in the test itself, not in its file.

/** The text of a test in Rust or JavaScript, and of the constants it names; undefined when there is no such test. */
export function proof(source, name) {
  const lines = source.split('\n');
  const body = item(lines, `fn ${name}(`) ?? item(lines, `test('${name}'`);
  if (body === undefined) return undefined;
  const constants = new Set(body.match(/\b[A-Z][A-Z0-9_]*\b/g));
  return [body, ...[...constants].map((constant) => item(lines, `const ${constant}:`) ?? '')].join('\n');
}

/** From the line that starts with these words to the one that closes it and does nothing else, as far from the edge. */
function item(lines, words) {
  const from = lines.findIndex((line) => line.replace(/^ *((pub|async)(\(crate\))? )*/, '').startsWith(words));
  if (from < 0) return undefined;
  if (lines[from].endsWith(';')) return lines[from];
  const ends = ['fn ', 'test('].some((kind) => words.startsWith(kind)) ? ['}', '});'] : ['];', '};', ');'];
  const edge = lines[from].match(/^ */)[0];
  const length = lines.slice(from + 1).findIndex((line) => ends.some((end) => line === edge + end));
  return lines.slice(from, from + length + 2).join('\n');
}
