// What filtrex makes of expressions: { variables, expressions } on stdin, a JSON list of texts on stdout. A text is the value as JSON,
// or as JavaScript writes what JSON has not; `error` for what cannot be evaluated, `unreadable` for what cannot be read.
import { compileExpression } from 'filtrex';
import { readFileSync } from 'node:fs';

const { variables, expressions } = JSON.parse(readFileSync(0, 'utf8'));

function text(value) {
  if (value instanceof Error) return 'error';
  if (Array.isArray(value)) return `[${value.map(text).join(',')}]`;
  return typeof value === 'string' || (typeof value === 'object' && value) ? JSON.stringify(value) : String(value);
}

function evaluated(expression) {
  let compiled;
  try {
    compiled = compileExpression(expression);
  } catch {
    return 'unreadable';
  }
  return text(compiled(variables));
}

console.log(JSON.stringify(expressions.map(evaluated)));
