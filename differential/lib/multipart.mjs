// multipart/form-data, read for the log: what a part is called, says it is, and holds.

/** The parts of a body, in order; bytes that are no text in base64. */
export function multipart(body, boundary) {
  const mark = Buffer.from(`--${boundary}`);
  const parts = [];
  let at = body.indexOf(mark);
  for (;;) {
    const from = at + mark.length + 2;
    const next = body.indexOf(mark, from);
    if (at < 0 || next < 0) return parts;
    const part = body.subarray(from, next - 2);
    const split = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, split).toString();
    const bytes = part.subarray(split + 4);
    const text = bytes.toString();
    parts.push({
      name: head.match(/\bname="([^"]*)"/i)?.[1],
      filename: head.match(/\bfilename="([^"]*)"/i)?.[1],
      type: head.match(/^content-type: *(.*)$/im)?.[1],
      body: Buffer.from(text).equals(bytes) ? text : bytes.toString('base64'),
    });
    at = next;
  }
}
