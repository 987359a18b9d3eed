// What k6's own types do not have: the modules of its extensions that Sonagi has within. For editors and `tsc`.

declare module 'k6/x/sse' {
  export interface Event { id: string; comment: string; name: string; data: string }
  export interface Client {
    on(event: 'open', handler: () => void): void;
    on(event: 'event', handler: (event: Event) => void): void;
    on(event: 'error', handler: (error: { error(): string }) => void): void;
    close(): void;
  }
  export interface Response { url: string; status: number; headers: Record<string, string>; error: string }
  export interface Params { method?: string; body?: string; headers?: Record<string, string>; tags?: Record<string, string> }
  export function open(url: string, callback: (client: Client) => void): Response;
  export function open(url: string, params: Params, callback: (client: Client) => void): Response;
  const sse: { open: typeof open };
  export default sse;
}

declare module 'k6/x/socketio' {
  import type { Socket as WebSocket } from 'k6/ws';
  export interface Options { path?: string; namespace?: string; auth?: unknown; query?: Record<string, string | number>; timeout?: number; params?: object }
  export interface Failure { message: string; type: 'transport' | 'socketio' | 'parser' | 'timeout'; data?: unknown }
  export interface Socket extends Omit<WebSocket, 'on' | 'send'> {
    readonly connected: boolean;
    on(event: 'connect_error' | 'error', handler: (error: Failure) => void): Socket;
    on(event: string, handler: (...given: any[]) => void): Socket;
    emit(event: string, ...given: unknown[]): void;
    send(...given: unknown[]): void;
    disconnect(): void;
  }
  export function io(host: string, options: Options | null, handler: (socket: Socket) => void): { status: number; url: string };
}

declare module 'k6/x/stomp' {
  export interface Options {
    addr: string;
    protocol?: 'tcp' | 'ws' | 'wss';
    path?: string;
    query?: string;
    tls?: boolean;
    timeout?: string;
    headers?: Record<string, string>;
    host?: string;
    user?: string;
    pass?: string;
    heartbeat?: { incoming?: string; outgoing?: string };
    message_send_timeout?: string;
    receipt_timeout?: string;
    verbose?: boolean;
    tags?: Record<string, string>;
  }
  export interface Header {
    get(name: string): string;
    getAll(name: string): string[];
    contains(name: string): [string, boolean];
    getAt(index: number): [string, string];
    len(): number;
    add(name: string, value: string): void;
    set(name: string, value: string): void;
    del(name: string): void;
  }
  export interface Message {
    destination: string;
    content_type: string;
    header: Header;
    body: Uint8Array;
    subscription: Subscription;
    string(): string;
    json(selector?: string): any;
    shouldAck(): boolean;
  }
  export interface Subscription {
    id(): string;
    destination(): string;
    ackMode(): 'auto' | 'client' | 'client-individual';
    active(): boolean;
    read(): Message;
    continue(): void;
    unsubscribe(): void;
  }
  export interface SendOptions { headers?: Record<string, string>; receipt?: boolean }
  export interface SubscribeOptions {
    ack?: 'auto' | 'client' | 'client-individual';
    id?: string;
    headers?: Record<string, string>;
    listener?: (message: Message) => void;
    error?: (why: { error: string }) => void;
  }
  interface Sender {
    send(destination: string, contentType?: string, body?: string | ArrayBuffer | ArrayBufferView | null, options?: SendOptions): void;
    ack(message: Message): void;
    nack(message: Message): void;
  }
  export interface Transaction extends Sender { id(): string; commit(): void; abort(): void }
  export class Client implements Sender {
    constructor(options: Options);
    send: Sender['send'];
    ack: Sender['ack'];
    nack: Sender['nack'];
    subscribe(destination: string, options?: SubscribeOptions): Subscription;
    begin(): Transaction;
    beginWithError(): Transaction;
    server(): string;
    session(): string;
    disconnect(): void;
  }
  export function connect(options: Options): Client;
  const stomp: { connect: typeof connect; Client: typeof Client };
  export default stomp;
}
