// The foreign servers of bench/servers/ as targets. Their table says of each: name, versions(), install(cache), command(cache, port).
const { servers } = await import('../servers/servers.mjs').catch(() => ({ servers: [] }));

const adapted = ({ name, install, versions, command, env }) => ({
  name,
  install,
  env,
  version: async (cache) => {
    const found = await versions(cache);
    return typeof found === 'string' ? found : Object.entries(found).map(([part, version]) => `${part} ${version}`).join(', ');
  },
  // Port 0: the server picks one and says it.
  argv: (cache) => command(cache, 0),
});

export const SERVERS = Object.fromEntries(servers.map((server) => [server.name, adapted(server)]));
