/**
 * What a client may read: flows as text, runs and their events, and the pages of the language.
 *   R1  Every answer is bounded; what is cut says where it goes on.
 */
import type { RunClient } from "@millrace/client";
import type { AnyEvent } from "@millrace/contracts";
import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { PAGE } from "./flow-tools.ts";
import { cut, MAX_TEXT } from "./results.ts";

const JSON_TYPE = "application/json";
const FLOW_TYPE = "text/plain";

const FIXED = [
  {
    uri: "millrace://guide/language",
    name: "language",
    title: "The flow language",
    description: "Blocks, node types, expressions and frequent mistakes, for whoever writes flows.",
    mimeType: "text/markdown",
  },
  {
    uri: "millrace://runs",
    name: "runs",
    title: "The last runs",
    description: "The newest 50 runs with their states.",
    mimeType: JSON_TYPE,
  },
];

/** Places of resources that are not listed one by one. */
export const TEMPLATES = [
  {
    uriTemplate: "millrace://flows/{slug}",
    name: "flow",
    title: "A stored flow as text",
    mimeType: FLOW_TYPE,
  },
  {
    uriTemplate: "millrace://runs/{run}",
    name: "run",
    title: "A run with its nodes and questions",
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: "millrace://runs/{run}/events{?after}",
    name: "events",
    title: "The events of a run, from a position on",
    mimeType: JSON_TYPE,
  },
];

/** A page of the resources that are there. */
export async function listResources(
  client: RunClient,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const page = await client.invoke("list_templates", {
    limit: PAGE,
    ...(cursor !== undefined && { cursor }),
  });
  const flows = page.items.map(({ slug, name, description }) => ({
    uri: `millrace://flows/${slug}`,
    name: slug,
    title: name,
    mimeType: FLOW_TYPE,
    ...(description !== "" && { description }),
  }));
  return {
    resources: [...(cursor === undefined ? FIXED : []), ...flows],
    ...(page.nextCursor !== null && { nextCursor: page.nextCursor }),
  };
}

/** One resource. Throws `ResourceNotFoundError` where there is none. */
export async function readResource(client: RunClient, uri: string): Promise<ReadResourceResult> {
  const [text, mimeType] = await contentOf(client, uri).catch((error: unknown) => {
    const { code } = error as { readonly code?: unknown };
    if (code === "not_found" || code === "invalid_args") throw new ResourceNotFoundError(uri);
    throw error;
  });
  return { contents: [{ uri, mimeType, text }] };
}

async function contentOf(client: RunClient, uri: string): Promise<readonly [string, string]> {
  const [, kind, id = "", events, after] =
    /^millrace:\/\/(flows|runs|guide)(?:\/([A-Za-z0-9_-]{1,64}))?(\/events)?(?:\?after=(\d{1,15}))?$/.exec(
      uri,
    ) ?? [];
  const isEvents = events !== undefined;
  if (kind === "guide" && id === "language" && !isEvents)
    return [await languageOf(client), "text/markdown"];
  if (kind === "flows" && id !== "" && !isEvents) {
    return [
      cut((await client.invoke("export_template", { slug: id })).text, "\n# cut here"),
      FLOW_TYPE,
    ];
  }
  if (kind === "runs" && id === "") {
    return [json((await client.invoke("list_runs", { limit: 50 })).items), JSON_TYPE];
  }
  if (kind === "runs" && isEvents)
    return [await eventsOf(client, id, Number(after ?? 0)), JSON_TYPE];
  if (kind === "runs") {
    const { nodes, ...run } = await client.invoke("get_run", { runId: id });
    const whole = json({ ...run, nodes });
    return [
      whole.length > MAX_TEXT ? json({ ...run, nodes: "too many to show" }) : whole,
      JSON_TYPE,
    ];
  }
  throw new ResourceNotFoundError(uri);
}

async function eventsOf(client: RunClient, runId: string, after: number): Promise<string> {
  const { items, nextCursor } = await client.invoke("get_run_events", { runId, after, limit: 200 });
  const shown: AnyEvent[] = [];
  let length = 0;
  for (const event of items) {
    length += JSON.stringify(event).length;
    if (length > MAX_TEXT && shown.length > 0) break;
    shown.push(event);
  }
  const isCut = nextCursor !== null || shown.length < items.length;
  const next = isCut ? `millrace://runs/${runId}/events?after=${shown.at(-1)?.seq ?? after}` : null;
  return json({ events: shown, next });
}

async function languageOf(client: RunClient): Promise<string> {
  const { languagePage } = await import("@millrace/dsl/explain");
  const { items } = await client.invoke("list_nodes", { limit: 200 });
  return languagePage(items);
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
