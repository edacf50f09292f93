// What streams are fed with: the log of one run as a server keeps it, of any length at the cost of one event.
const PAGE = 512; // what an executor hands over at once
const KEPT_PAGES = 4; // of one run, for readers at the same place
const BATCH_BYTES = 16_384;

/** An executor with one run of `count` events whose lines have `bytes` bytes; it ends with them unless `endless`. */
export function createSource({ count, bytes, endless = false, whole = false }) {
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
  const last = { ...event, kind: "summary" }; // a log that ends otherwise goes on elsewhere
  const pages = new Map();
  const pageAt = (at) => {
    let page = pages.get(at);
    if (page === undefined) {
      page = Array.from({ length: Math.min(PAGE, count - at) }, (_, i) =>
        at + i === count - 1 ? last : event,
      );
      pages.set(at, page);
      if (pages.size > KEPT_PAGES) pages.delete(pages.keys().next().value);
    }
    return page;
  };
  return {
    /** The server is to have its own executor and commands. */
    whole,
    /** Pages from `after` on: as of a live run, the same ones for readers that are together. */
    async *read(after, signal) {
      for (let at = after; at < count && !signal?.aborted; at += PAGE) yield pageAt(at);
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
