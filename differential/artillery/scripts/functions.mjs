// A module with a top-level await and an import of its own.
import { basename } from 'node:path';
import { double } from './files/helper.cjs';

const kind = await Promise.resolve('module');

export const pick = async (context) => {
  context.vars.picked = double(4);
  context.vars.kind = `${kind} ${basename(import.meta.url)}`.split(' ')[0];
};
