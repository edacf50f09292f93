/** A flow whose steps ask a server, the server, and a project in which its runs are kept. */
import { join } from "node:path";
import { serveHttp } from "@millrace/test-support/loopback";
import { scratch } from "./cli.ts";

export const ITEMS = 40;
export const MANY = `flow 1 many

input url: string

node all: map {
  items = range(0, ${ITEMS})
  @concurrency = 4
  body {
    node get: http.request {
      url = "\${inputs.url}/\${item}"
    }
    output = get.body
  }
}

output n: int = all.count
`;

/** A server that counts what it is asked, and answers nothing more from the `holds`th call on until it is let go. */
export async function counter(holds: number) {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  let isHolding = true;
  let reached: () => void = () => {};
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const server = await serveHttp((request, response) => {
    asked.push(request.url ?? "");
    const answer = () => void response.end('"ok"');
    if (isHolding && asked.length > holds) held.push(answer);
    else answer();
    if (asked.length === holds + 4) reached(); // all that works at once waits for an answer
  });
  return {
    url: server.url,
    asked,
    isReached,
    letOneGo: () => held.shift()?.(),
    letGo() {
      isHolding = false;
      for (const answer of held) answer();
    },
  };
}

export function project(files: Record<string, string>, config: object = {}) {
  const egress = { allow: [{ host: "127.0.0.1" }] };
  const cwd = scratch({ ...files, "millrace.json": JSON.stringify({ egress, ...config }) });
  return { cwd, env: { MILLRACE_HOME: join(cwd, "home"), MILLRACE_TRUST_PROJECT: "1" } };
}
