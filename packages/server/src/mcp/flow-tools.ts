/**
 * Templates as tools.
 *   T1  A template is a tool when it has a description: its own, `meta.description` of its flow, or the comment above its text.
 *   T2  Secret inputs are asked of nobody: they are in no schema, and a template that cannot run without one is no tool.
 *   T3  Its name is the slug. A slug has no underscore and every other tool has one, so no two names are the same.
 */
import type { RunClient } from "@millrace/client";
import type {
  CatalogEntry,
  FlowGraph,
  JsonObject,
  JsonSchema,
  Template,
  TemplateSummary,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { Tool } from "@modelcontextprotocol/server";
import { both, type Entries, effectsOf, type FlowEffects, UNKNOWN } from "./effects.ts";

export interface KnownFlow {
  /** Changes whenever anything of the template does. */
  readonly stamp: string;
  /** Undefined: it is no tool. */
  readonly tool: Omit<Tool, "annotations"> | undefined;
  /** Inputs that a call must not give. */
  readonly secrets: readonly string[];
  readonly effects: FlowEffects;
}

/** Templates of one page of tools. */
export const PAGE = 100;
/** How long a template is used without a look at the store: a run checks its inputs by itself. */
const FRESH_MS = 1_000;
/** Flows that one flow may call, through others too, for its effects to be known. */
const MAX_CALLED = 200;

/** The templates of an installation, each read once for each of its states. */
export class FlowTools {
  readonly #known = new Map<string, KnownFlow>();
  readonly #readAt = new Map<string, number>();
  #entries: Promise<Entries> | undefined;

  async page(
    client: RunClient,
    cursor: string | undefined,
  ): Promise<{ readonly tools: readonly Tool[]; readonly nextCursor: string | null }> {
    const page = await client.invoke("list_templates", {
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    const tools: Tool[] = [];
    for (const summary of page.items) {
      const kept = this.#known.get(summary.slug);
      const flow = kept?.stamp === stampOf(summary) ? kept : await this.find(client, summary.slug);
      if (flow?.tool !== undefined) tools.push(await this.#annotated(client, flow.tool, flow));
    }
    return { tools, nextCursor: page.nextCursor };
  }

  /** The template of a slug; undefined: there is none. */
  async find(client: RunClient, slug: string): Promise<KnownFlow | undefined> {
    const kept = this.#known.get(slug);
    const now = performance.now();
    if (kept !== undefined && now - (this.#readAt.get(slug) ?? 0) < FRESH_MS) return kept;
    const template = await client.invoke("get_template", { slug }).catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === "not_found") return undefined;
      throw error;
    });
    if (template === undefined) {
      this.#known.delete(slug);
      return undefined;
    }
    this.#readAt.set(slug, now);
    if (kept?.stamp === stampOf(template)) return kept;
    const flow = read(template, await this.#entriesOf(client));
    this.#known.set(slug, flow);
    return flow;
  }

  /** Effects of these nodes, with those of the flows that they call. */
  async effectsOf(
    client: RunClient,
    graph: Pick<FlowGraph, "nodes" | "connections">,
  ): Promise<FlowEffects> {
    return this.#withCalls(client, effectsOf(graph, await this.#entriesOf(client)));
  }

  async #annotated(
    client: RunClient,
    tool: Omit<Tool, "annotations">,
    { effects }: KnownFlow,
  ): Promise<Tool> {
    const { strongest, idempotent, open } = await this.#withCalls(client, effects);
    return {
      ...tool,
      annotations: {
        readOnlyHint: strongest === "pure" || strongest === "read",
        destructiveHint: strongest === "destructive",
        idempotentHint: idempotent,
        openWorldHint: open,
      },
    } as Tool;
  }

  async #withCalls(client: RunClient, effects: FlowEffects): Promise<FlowEffects> {
    const slugs = new Set(effects.calls);
    let all = effects;
    // A set that grows is walked to its end: each flow is looked at once, also where flows call in a circle.
    for (const slug of slugs) {
      if (slugs.size > MAX_CALLED) return both(all, UNKNOWN);
      const inner = (await this.find(client, slug))?.effects ?? UNKNOWN;
      all = both(all, inner);
      for (const called of inner.calls) slugs.add(called);
    }
    return all;
  }

  async #entriesOf(client: RunClient): Promise<Entries> {
    this.#entries ??= allEntries(client).catch((error: unknown) => {
      this.#entries = undefined;
      throw error;
    });
    return this.#entries;
  }
}

async function allEntries(client: RunClient): Promise<Entries> {
  const entries = new Map<string, CatalogEntry>();
  let cursor: string | null = null;
  do {
    const page: { readonly items: readonly CatalogEntry[]; readonly nextCursor: string | null } =
      await client.invoke("list_nodes", { limit: 200, ...(cursor !== null && { cursor }) });
    for (const entry of page.items) entries.set(entry.type, entry);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return entries;
}

/** Text that changes with a template. */
export function stampOf({ version, digest, name, description }: TemplateSummary): string {
  return `${version} ${digest} ${name} ${description}`;
}

function read(template: Template, entries: Entries): KnownFlow {
  const { slug, name, graph, dsl } = template;
  const secrets = (graph.inputs ?? []).filter(isSecret);
  const canRun = secrets.every((input) => input.default !== undefined);
  const description = template.description || metaText(graph) || leadingComment(dsl);
  return {
    stamp: stampOf(template),
    secrets: secrets.map((input) => input.name),
    effects: effectsOf(graph, entries),
    tool:
      description === "" || !canRun
        ? undefined
        : {
            name: slug,
            title: name,
            description,
            inputSchema: inputSchema(graph, secrets) as Tool["inputSchema"],
            outputSchema: outputSchema(graph) as Tool["outputSchema"],
          },
  };
}

type Input = NonNullable<FlowGraph["inputs"]>[number];

/** An input of which any part is secret. A value that a secret would be hidden in tells it. */
function isSecret(input: Input): boolean {
  const { schema } = input;
  return schema !== undefined && namesSecret(schema);
}

function namesSecret(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(namesSecret);
  if (!isObject(schema)) return false;
  if (schema["writeOnly"] === true || schema["format"] === "password") return true;
  return Object.values(schema).some(namesSecret);
}

function inputSchema({ inputs = [] }: FlowGraph, secrets: readonly Input[]): JsonSchema {
  const asked = inputs.filter((input) => !secrets.includes(input));
  return {
    type: "object",
    properties: Object.fromEntries(
      asked.map((input) => {
        const { name, description, default: usual } = input;
        return [
          name,
          {
            ...placed(input.schema ?? {}, name),
            ...(description !== undefined && { description }),
            ...(usual !== undefined && { default: usual }),
          },
        ];
      }),
    ),
    required: asked.filter((input) => input.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  } as JsonObject;
}

/** No output is required: one that reads a node which did not run is absent. */
function outputSchema({ outputs = [] }: FlowGraph): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(
      outputs.map(({ name, schema = {}, description }) => [
        name,
        { ...placed(schema, name), ...(description !== undefined && { description }) },
      ]),
    ),
  } as JsonObject;
}

/** The schema as a property: what it refers to within itself is one level deeper now. */
function placed(schema: JsonObject, name: string): JsonObject {
  const text = JSON.stringify(schema);
  if (!text.includes('"$ref":"#')) return schema;
  const place = JSON.stringify(`#/properties/${name}`).slice(1, -1);
  return JSON.parse(text.replaceAll('"$ref":"#', `"$ref":"${place}`)) as JsonObject;
}

function metaText({ meta }: FlowGraph): string {
  const text = meta?.["description"];
  return typeof text === "string" ? text : "";
}

/** The comment above the first line of a flow. */
function leadingComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, said] = /^#\s?(.*)$/.exec(line.trimEnd()) ?? [];
    if (said === undefined) break;
    lines.push(said);
  }
  return lines.join("\n").trim();
}
