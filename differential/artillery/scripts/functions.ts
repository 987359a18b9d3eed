// TypeScript with types of a package that is not there, an enum, and an import without an extension.
import type { NextFunction } from 'not-installed';
import { colors } from './files/colors';

enum Kind {
  One = 'one',
  Two = 'two',
}

interface Context {
  vars: Record<string, unknown>;
}

export function pick(context: Context, _events: unknown, done: NextFunction): void {
  context.vars.picked = Kind.Two satisfies string;
  context.vars.color = colors[0];
  done();
}
