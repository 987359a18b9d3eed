// What a k6 script tells Sonagi's delivery ledger. For editors and `tsc`; docs/from-k6.md says what it means.

declare module 'k6/x/sonagi' {
  /** From now on this user is owed what is sent to the room, until it leaves or its last connection ends. */
  export function join(room: string | number, options?: { resume?: boolean; polling?: boolean }): void;
  /** From now on it is not; with `drain` it goes on listening for what was sent before. */
  export function leave(room: string | number, options?: { drain?: boolean }): void;
  /** A text of 22 characters that marks the room's next message wherever it stands in it. */
  export function stamp(room: string | number): string;
  const sonagi: { join: typeof join; leave: typeof leave; stamp: typeof stamp };
  export default sonagi;
}
