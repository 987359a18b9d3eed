import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts, isOpen } from '../../../interop/support/ports.mjs';
import { ready } from '../lib/started.mjs';

/** Starts an nginx in front of a service: `{ target, watch }`. `http` and `location` are lines for these blocks. */
export async function nginx(started, { upstream, workerConnections = 1024, http = '', location = '' }) {
  const [port, status] = await freePorts(2);
  const at = started.folder;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${at}/${kind};`).join('\n');
  const configuration = `daemon off; master_process off; pid ${at}/nginx.pid; error_log ${at}/nginx.log;
    events { worker_connections ${workerConnections}; }
    http {
      access_log off; ${temporary} ${http}
      server { listen 127.0.0.1:${status}; location = /status { stub_status; } }
      server { listen 127.0.0.1:${port}; location / { ${location} proxy_pass http://127.0.0.1:${upstream}; } }
    }`;
  writeFileSync(join(at, 'nginx.conf'), configuration);
  const server = started.spawn(['nginx', '-c', join(at, 'nginx.conf'), '-e', join(at, 'nginx.log')], { env: { PATH: `${process.env.PATH}:/usr/sbin` } });
  await ready('nginx', server, () => isOpen(port));
  return { target: `http://127.0.0.1:${port}`, watch: `nginx:http://127.0.0.1:${status}/status#log=${at}/nginx.log` };
}
