// What streams are fed with: the log of one run as a server keeps it, of any length at the cost of one event.
const PAGE = 512; // what an executor hands over at once
const BATCH_BYTES = 16_384;

/** An executor with one run of `count` events whose lines have `bytes` bytes; it ends with them unless `endless`. */
export function createSource({ count, bytes, endless = false }) {
  const text = (line) => JSON.stringify(line);
  const head = {
    v: 1,
    kind: "log",
    runId: "bench",
    seq: 1,
    ts: 1_763_640_000_000,
    level: "info",
    message: "",
  };
  const line = Buffer.from(text({ ...head, message: "x".repeat(bytes - text(head).length) }));
  const event = { seq: 1, kind: "log", line };
  const page = Array.from({ length: PAGE }, () => event);
  return {
    line,
    /** Pages from `after` on. */
    async *read(after, signal) {
      for (let at = after; at < count && !signal?.aborted; at += PAGE) {
        yield count - at < PAGE ? page.slice(0, count - at) : page;
      }
      if (!endless || signal?.aborted) return;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
    },
    run: { runId: "bench", status: "running", lastSeq: count },
  };
}

/** Frames of a page as a server without a framework writes them: one by one, or joined. */
export function* frames(page, joined) {
  if (!joined) {
    for (const { line } of page) yield Buffer.concat([DATA, line, END]);
    return;
  }
  let chunk = [];
  let bytes = 0;
  for (const { line } of page) {
    chunk.push(DATA, line, END);
    bytes += line.length + DATA.length + END.length;
    if (bytes < BATCH_BYTES) continue;
    yield Buffer.concat(chunk, bytes);
    chunk = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(chunk, bytes);
}

const DATA = Buffer.from("data: ");
const END = Buffer.from("\n\n");
