/**
 * An installation as a server of the Model Context Protocol, over any transport: tools, resources, and news of both.
 *   M1  Tools act through the commands, with the rights of their caller; the protocol gives none of its own.
 *   M2  The number of calls at a time is limited; one more is asked to retry.
 */
import type { RunClient } from "@millrace/client";
import type { CommandResult, JsonObject, RunRequest } from "@millrace/contracts";
import { isObject, nearestName } from "@millrace/contracts/kit";
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Role } from "../ports.ts";
import { packageVersion } from "../version.ts";
import { AUTHOR_TOOLS, callAuthorTool } from "./author-tools.ts";
import { FlowTools, stampOf } from "./flow-tools.ts";
import { listResources, readResource, TEMPLATES } from "./resources.ts";
import { failure, refused } from "./results.ts";
import { callFlow, type ToolCall } from "./run-call.ts";

/** Who is served, and by what. */
export interface Party {
  readonly client: RunClient;
  /** `read` sees and calls no tool that runs. */
  readonly role: Role;
}

/** Longest id of a message, in characters: each is kept, and sent back. */
const MAX_ID = 256;
export const LONG_ID: string = `an id has at most ${MAX_ID} characters`;

const SERVER = { name: "millrace", title: "Millrace", version: packageVersion() };
/** Calls of tools at a time. More runs than that wait in the executor anyway. */
const MAX_CALLS = 128;
/** How often templates are compared while somebody waits for news of them. */
const WATCH_MS = 1_000;
/** Pages of templates that are compared. */
const WATCHED_PAGES = 5;
/** A person may take an hour for a form. */
const FORM_MS = 3_600_000;
/** Questions that one call may ask one after another. */
const MAX_ROUNDS = 100;

const INSTRUCTIONS =
  "Each flow of this installation is a tool. To write a flow, read millrace://guide/language, check it with validate_flow, and run it with run_flow.";

/** State that the servers of one installation share. */
export class McpSurface {
  readonly #flows = new FlowTools();
  readonly #calls = new Set<Promise<unknown>>();

  /** A server for one connection, or one request. */
  serverFor(party: Party): Server {
    const server = new Server(SERVER, {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
      instructions: INSTRUCTIONS,
      inputRequired: { maxRounds: MAX_ROUNDS, roundTimeoutMs: FORM_MS },
    });
    const { client } = party;
    server.setRequestHandler("tools/list", ({ params }) => this.#tools(party, params?.cursor));
    server.setRequestHandler("tools/call", ({ params }, ctx) =>
      this.#called(() => this.#call(params, party, this.#of(party, server, ctx))),
    );
    server.setRequestHandler("resources/list", ({ params }) =>
      listResources(client, params?.cursor),
    );
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
    server.setRequestHandler("resources/read", ({ params }) => readResource(client, params.uri));
    return server;
  }

  /** A server for `tools/call` alone, of any party; who calls checks what the message is. `revisions`: absent, those of 2025. */
  callServer(revisions?: string[]): Server {
    const server = new Server(SERVER, revisions && { supportedProtocolVersions: revisions });
    // A handler by name would have the message checked twice, and each answer once.
    server.fallbackRequestHandler = ({ params }, ctx) => {
      const party = ctx.http?.authInfo?.extra?.["party"] as Party;
      const call = this.#of(party, server, ctx);
      return this.#called(() => this.#call(params as CallToolRequest["params"], party, call));
    };
    return server;
  }

  /** Calls back after templates have changed, until the returned function is called. */
  watch(client: RunClient, changed: () => void): () => void {
    let last: string | undefined;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const look = async (): Promise<void> => {
      const now = await stampOfAll(client).catch(() => last);
      if (isOver) return;
      if (last !== undefined && now !== last) changed();
      last = now;
      timer = setTimeout(look, WATCH_MS);
      timer.unref();
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  /** Resolves when no call is at work. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  #of({ client }: Party, server: Server, ctx: ServerContext): ToolCall {
    return { client, ctx, flows: this.#flows, asks: showsForms(server, ctx) };
  }

  async #tools({ client, role }: Party, cursor: string | undefined) {
    const own = [...AUTHOR_TOOLS.values()].filter(
      ({ needs }) => needs === "read" || role !== "read",
    );
    const first = cursor === undefined ? own.map(({ tool }) => tool) : [];
    if (role === "read") return { tools: first };
    const { tools, nextCursor } = await this.#flows.page(client, cursor);
    return { tools: [...first, ...tools], ...(nextCursor !== null && { nextCursor }) };
  }

  async #called<T>(work: () => Promise<T>): Promise<T | CallToolResult> {
    if (this.#calls.size >= MAX_CALLS) {
      return failure({
        code: "too_many_requests",
        message: `${MAX_CALLS} calls are at work here`,
        hint: "call again when one of them has ended",
      });
    }
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return refused(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  async #call(
    { name, arguments: given = {} }: CallToolRequest["params"],
    { client, role }: Party,
    call: ToolCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const args = given as JsonObject;
    const own = AUTHOR_TOOLS.get(name);
    const isSlug = own === undefined && /^[a-z0-9-]{1,64}$/.test(name);
    const flow = isSlug ? await this.#flows.find(client, name) : undefined;
    if (own === undefined && flow?.tool === undefined) throw await this.#unknown(client, name);
    if (role === "read" && own?.needs !== "read") {
      return failure({
        code: "forbidden",
        message: `${name} needs the role run`,
        hint: "whoever is connected here may only read",
      });
    }
    if (own !== undefined) return callAuthorTool(own, args, call);
    const secret = flow?.secrets.filter((each) => Object.hasOwn(args, each)) ?? [];
    if (secret.length > 0) {
      return failure({
        code: "input_invalid",
        message: "secret inputs are not taken from a tool",
        problems: secret.map((each) => `the input ${each} is secret`),
        hint: "leave them out; a person gives them with millrace run",
      });
    }
    return callFlow({ template: name, inputs: args } as RunRequest, call);
  }

  async #unknown(client: RunClient, name: string): Promise<ProtocolError> {
    const { items } = await client.invoke("list_templates", { limit: 200 });
    const near = nearestName(name, [...AUTHOR_TOOLS.keys(), ...items.map(({ slug }) => slug)]);
    const shown = JSON.stringify(name.slice(0, 64));
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${shown}${hint}`);
  }
}

/** Whether an id of a message, or of a batch, is too long. */
export function namesLongId(message: unknown): boolean {
  const isLong = (id: unknown): boolean => typeof id === "string" && id.length > MAX_ID;
  return [message].flat().some((each) => isObject(each) && isLong(each["id"]));
}

function showsForms(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  const own = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const { elicitation } = own ?? server.getClientCapabilities() ?? {};
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

async function stampOfAll(client: RunClient): Promise<string> {
  const stamps: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < WATCHED_PAGES; page += 1) {
    const { items, nextCursor }: CommandResult<"list_templates"> = await client.invoke(
      "list_templates",
      {
        limit: 200,
        ...(cursor !== null && { cursor }),
      },
    );
    for (const item of items) stamps.push(`${item.slug} ${stampOf(item)}`);
    cursor = nextCursor;
    if (cursor === null) break;
  }
  return stamps.join("\n");
}
