/** Requests of a browser to a proxy on loopback, under the name by which the world knows it. */
import type { IncomingMessage } from "node:http";
import { request } from "node:https";

/** The host of every file in `deploy/`. */
export const HOST = "millrace.example";

/** What a request has beside its path. */
export interface Wanted {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An answer that is still being read. */
export function openAt(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: Wanted = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: "127.0.0.1", port, path, method, servername: HOST, rejectUnauthorized: false },
      headers: {
        ...{ host: HOST, ...(body !== undefined && { "content-type": "application/json" }) },
        ...headers,
      },
    });
    sent.on("response", resolve).on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A whole answer. */
export async function ask(
  port: number,
  path: string,
  wanted?: Wanted,
): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }> {
  const answer = await openAt(port, path, wanted);
  let text = "";
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}
