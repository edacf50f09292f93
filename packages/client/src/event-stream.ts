/**
 * The events of an answer, as `text/event-stream` or as `application/x-ndjson`.
 *   C1  Comments, and fields other than `data`, are passed over; a line is read in whatever pieces it comes.
 *   C2  An answer that is silent for too long counts as broken off: a server sends at least a comment now and then.
 */
import { type AnyEvent, parseEvent } from "@millrace/contracts";
import { ClientError } from "./error.ts";

/** Three heartbeats of a server that keeps the default of 15 s. */
export const SILENCE_MS = 45_000;

/** `silenceMs`: how long nothing may come, by default 45 s; of NDJSON, which has no heartbeat, the silence is not limited. */
export interface ReadingOptions {
  readonly silenceMs?: number | undefined;
}

/**
 * Reads the events of a response to its end. Throws `ClientError`: `unreachable` when the answer breaks off, `bad_answer` for
 * what is no event.
 */
export async function* eventsOf(
  response: Response,
  options: ReadingOptions = {},
): AsyncGenerator<AnyEvent, void> {
  for await (const text of dataOf(response, options)) yield toEvent(text);
}

/** The same without a look at what the data is. */
export async function* dataOf(
  response: Response,
  options: ReadingOptions = {},
): AsyncGenerator<string, void> {
  for await (const { data } of framesOf(response, options)) if (data !== undefined) yield data;
}

/** A frame of an answer. `id`: the last one that was sent, as text; "" for none. Without `data` it only says where the stream is. */
export interface Frame {
  readonly id: string;
  readonly data: string | undefined;
}

/** The same with the ids of the frames. */
export async function* framesOf(
  response: Response,
  options: ReadingOptions = {},
): AsyncGenerator<Frame, void> {
  const type = response.headers.get("content-type") ?? "";
  const isLines = type.startsWith("application/x-ndjson");
  if (!isLines && !type.startsWith("text/event-stream")) {
    await response.body?.cancel();
    throw new ClientError("bad_answer", `the answer is "${type}" and no event stream`);
  }
  const silenceMs = isLines ? Number.POSITIVE_INFINITY : (options.silenceMs ?? SILENCE_MS);
  let data: string[] = [];
  let id = "";
  for await (const line of linesOf(response, silenceMs)) {
    if (isLines) {
      if (line !== "") yield { id, data: line };
    } else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line === "") {
      const text = data.length > 0 ? data.join("\n") : undefined;
      data = [];
      yield { id, data: text };
    }
  }
}

/** Reads an event. Throws `ClientError` `bad_answer` for an invalid one. */
export function toEvent(text: string): AnyEvent {
  try {
    return parseEvent(text);
  } catch (cause) {
    throw new ClientError("bad_answer", "a line of the answer is no event", { cause });
  }
}

/** Whole lines; what follows the last line end was cut off and is dropped. */
async function* linesOf(response: Response, silenceMs: number): AsyncGenerator<string, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, silenceMs);
      if (done) return;
      const text = rest + decoder.decode(value, { stream: true });
      const lines = text.split(/\r\n|\n|\r(?!$)/); // a CR at the end may be half of a line end
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // Of a stream that has failed already there is nothing to cancel.
    await reader.cancel().catch(() => {});
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readWithin(reader: Reader, ms: number): ReturnType<Reader["read"]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    if (!Number.isFinite(ms)) return;
    timer = setTimeout(() => {
      reject(new ClientError("unreachable", `nothing came for ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (cause) {
    if (ClientError.isInstance(cause) || isAbort(cause)) throw cause;
    throw new ClientError("unreachable", "the answer broke off", { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Whether somebody has cancelled on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
