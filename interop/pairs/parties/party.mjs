// What all parties to a conversation have in common.
//
// A party is a plain foreign client: it sends, keeps what it hears, and comes back by itself when its connection breaks,
// telling the service in its transport's own way how far it has got. It never sorts, and drops nothing it has heard already.
import { Inbox, within } from '../../support/wait.mjs';

export class Party {
  /** `{ seq, content }` of each message; whatever else the service says that no listener should hear stands among them. */
  received = new Inbox();
  /** What the next connection goes on behind; undefined while there is nothing. */
  cursor;
  isClosed = false;

  constructor(url, group) {
    this.url = url;
    this.group = group;
  }

  hear({ seq, content }) {
    this.received.push({ seq, content });
    this.cursor = seq;
  }

  /** An announced gap, an error, an answer that refuses: a conversation without any has none of these. */
  complain(what) {
    this.received.push({ complaint: what });
  }
}

/** Sends by HTTP: what polls and event streams have for that. Resolves to the message's number. */
export async function post(address, content) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
  });
  if (response.status !== 200) throw new Error(`POST ${address}: ${response.status} ${await response.text()}`);
  return (await response.json()).seq;
}

/** The party once what it begins with is done; one that cannot begin is closed. */
export async function opened(party, what, begin) {
  try {
    await within(5000, what, begin);
  } catch (error) {
    await party.close();
    throw error;
  }
  return party;
}
