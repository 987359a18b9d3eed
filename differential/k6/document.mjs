#!/usr/bin/env node
// Writes the tables of docs/from-k6.md anew, from differences.json and the scripts.
import { writeFileSync } from 'node:fs';
import { guide } from './lib/guide.mjs';

const { should, file } = guide();
writeFileSync(file, should);
