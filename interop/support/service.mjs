// The reference service, as foreign clients meet it.
import { serve, SONAGI } from './process.mjs';

/** Starts `sonagi serve` on a free port with twenty users. `stop()` drains it. */
export async function startService(...flags) {
  const args = ['serve', '--listen', '127.0.0.1:0', '--seed-users', '20', '--grace', '100ms', '--stop-on-eof', ...flags];
  const { match, stop } = await serve(SONAGI, args, /listening on (http:\/\/[\d.]+:(\d+))/);
  return new Service(match[1], stop);
}

export class Service {
  #tokens = {};

  constructor(url, stop) {
    this.url = url;
    this.stop = stop;
  }

  /** The same address for WebSocket clients. */
  get websocketUrl() {
    return this.url.replace('http', 'ws');
  }

  /** An access token of the n-th seeded user, from 1. Asked for once: the service limits how often an account logs in. */
  async login(n) {
    this.#tokens[n] ??= this.#request('POST', '/auth/login', { email: `user${n}@example.test`, password: 'password' });
    return (await this.#tokens[n]).access_token;
  }

  /** The id of the group room of this name. */
  async room(token, name) {
    return (await this.#request('POST', '/rooms/find-or-create', { name }, token)).roomId;
  }

  /** The id of the room that the owner of this token shares with its first friend. */
  async privateRoom(token) {
    const { friends } = await this.#request('GET', '/users/friends', undefined, token);
    return { roomId: (await this.#request('POST', '/rooms/find-or-create', { friendId: friends[0].id }, token)).roomId, friend: friends[0] };
  }

  async #request(method, path, body, token) {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
