// Every target, by name. To add one: its file here, one line below.
import * as nothing from './null.mjs';
import * as serve from './serve.mjs';
import { SERVERS } from './servers.mjs';

export const TARGETS = { ...Object.fromEntries([nothing, serve].map((target) => [target.name, target])), ...SERVERS };
