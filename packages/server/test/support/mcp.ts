/** Clients of the MCP endpoint of a server. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { invoke, type serve } from "./server.ts";

export type Server = Awaited<ReturnType<typeof serve>>;
export type Elicited = { readonly message: string; readonly requestedSchema?: unknown };

/** A client of the current revision; `answer`: what its person does with a form. */
export async function connect(
  server: Server,
  {
    token,
    era = "modern",
    answer,
    onTools,
  }: {
    readonly token?: string;
    readonly era?: "modern" | "legacy";
    readonly answer?: (form: Elicited) => object;
    readonly onTools?: () => void;
  } = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      ...(onTools && {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onTools } },
      }),
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler(
      "elicitation/create",
      async ({ params }) => answer(params as Elicited) as never,
    );
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** A call of the current revision as bytes. */
export function rawCall(name: string, id: number) {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name, arguments: {}, _meta };
  return {
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name },
    },
  };
}

export const textOf = (result: object): string =>
  (result as { readonly content: readonly { readonly text: string }[] }).content[0]?.text ?? "";

export async function save(
  server: Server,
  slug: string,
  dsl: string,
  description = "",
): Promise<void> {
  await invoke(server, "save_template", { slug, dsl, ...(description && { description }) });
}
