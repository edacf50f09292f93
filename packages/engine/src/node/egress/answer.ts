/** A Node response in the shape that node bodies read. */
import type { IncomingMessage } from "node:http";
import type { ResponseLike } from "@millrace/contracts";
import type { Call } from "./call.ts";
import { decodedBody } from "./decode.ts";
import { headersOf } from "./headers.ts";
import { undecodable } from "./refusal.ts";

/** The body may be read once, by one of the ways. `maxBytes` counts decoded bytes. */
export function toResponse(
  answer: IncomingMessage,
  { url, method, call, maxBytes }: { url: URL; method: string; call: Call; maxBytes: number },
): ResponseLike {
  const status = answer.statusCode as number;
  const empty = method === "HEAD" || status === 204 || status === 205 || status === 304;
  if (empty) {
    call.end();
    answer.resume();
  }
  let used = false;
  const chunks = (): AsyncIterator<Uint8Array, void, undefined> => {
    if (used) throw new TypeError("the body of this response has been read");
    used = true;
    const reading = decodedBody(answer, call, maxBytes);
    return {
      next: () => reading.next(),
      // A generator that was never started would not run its clean-up.
      return: () => {
        call.end();
        answer.destroy();
        return reading.return();
      },
    };
  };
  const body = empty ? null : { [Symbol.asyncIterator]: chunks };
  const bytes = async (): Promise<Uint8Array<ArrayBuffer>> => {
    const parts: Uint8Array[] = [];
    if (body !== null) for await (const part of body) parts.push(part);
    return joined(parts);
  };
  const text = async (): Promise<string> => new TextDecoder().decode(await bytes());
  return {
    ok: status >= 200 && status < 300,
    status,
    url: url.href,
    headers: headersOf(answer),
    body,
    text,
    arrayBuffer: async () => (await bytes()).buffer,
    async json() {
      const content = await text();
      try {
        return JSON.parse(content) as unknown;
      } catch {
        throw undecodable(`the answer of ${url.hostname} is not JSON`);
      }
    },
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
