// k6/experimental/streams
import { ReadableStream } from 'k6/experimental/streams';
export const options = { iterations: 1 };
export default async function () {
  const stream = new ReadableStream({ start(controller) { for (const word of ['a', 'b']) controller.enqueue(word); controller.close(); } });
  const reader = stream.getReader();
  for (;;) { const { done, value } = await reader.read(); if (done) break; console.log(value); }
}
