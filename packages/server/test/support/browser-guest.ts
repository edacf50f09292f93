/** What a page does with a server: the client and the transport over HTTP, as a bundle for a browser has them. */

import { createClient } from "@millrace/client";
import type { ExecutionEvent } from "@millrace/contracts";
import { createHttpTransport } from "@millrace/desktop/http";

/** Calls a command, runs a flow and listens; with `isGiven`, the `fetch` of the platform is an option. Answers what came. */
export async function useServer(url: string, dsl: string, isGiven: boolean): Promise<object> {
  const options = isGiven ? { url, fetch: globalThis.fetch } : { url };
  const client = createClient(options);
  const { name } = await client.invoke("get_meta", {});
  const kinds: string[] = [];
  let runId = "";
  for await (const event of client.runFlow({ dsl })) {
    kinds.push(event.kind);
    runId = event.runId;
  }
  const transport = createHttpTransport(options);
  const { status } = (await transport.invoke("get_run", { runId })) as { status: string };
  const heard: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const hear = ({ kind }: ExecutionEvent): void => {
      heard.push(kind);
      if (kind === "summary") resolve();
    };
    transport.listen("flow:execution", hear, { runId }).catch(reject);
  });
  await transport.close();
  return { name, status, kinds, heard };
}
