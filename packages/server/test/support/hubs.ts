/** Hubs: indexes and what they name, behind a real HTTPS server or in a real folder. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import type { Hub, HubItem, Page, Template } from "@millrace/contracts";
import type { RunningServer, StartOptions } from "@millrace/server";
import { expect } from "vitest";
import { HELLO } from "./flows.ts";
import { type HttpsServer, listenHttps } from "./https-server.ts";
import { invoke, post, problemOf, serve } from "./server.ts";

export const INDEX = "/hub/millrace-hub.json";
export const FLOW = "/hub/templates/hello.flow";
export const EGRESS = { egress: { allow: [{ cidr: "127.0.0.1/32" }] } } as const;

export function itemOf(content: string | Uint8Array, more: object = {}): HubItem {
  return {
    id: "hello",
    kind: "template",
    version: "1.2.0",
    digest: `sha256:${createHash("sha256").update(content).digest("hex")}`,
    bytes: Buffer.byteLength(content),
    path: "templates/hello.flow",
    title: "Hello of the hub",
    ...more,
  };
}

export function indexOf(items: readonly object[], more: object = {}): string {
  return JSON.stringify({ millraceHub: 1, name: "Example", serial: 1, items, ...more });
}

export const NODES = itemOf("", { id: "pack", kind: "nodes", path: "@acme/pack" });
export const MODEL = itemOf("", { id: "model", kind: "model", path: "models/a.gguf", bytes: 9e9 });

type Files = Map<string, string | Uint8Array | ((response: ServerResponse) => void)>;

/** A hub behind HTTPS, whose files a test may change. */
export async function listenHub(): Promise<HttpsServer & { readonly files: Files }> {
  const files: Files = new Map<string, string>([
    [INDEX, indexOf([itemOf(HELLO)])],
    [FLOW, HELLO],
  ]);
  const server = await listenHttps(({ url = "" }, response) => {
    const file = files.get(url);
    if (typeof file === "function") file(response);
    else response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  return { ...server, files };
}

export function add(server: RunningServer, url: string, more: object = {}): Promise<Response> {
  const hub = { id: "h", name: "Example", url, provides: ["templates", "nodes", "models"] };
  return post(server, "/api/hubs", { ...hub, ...more });
}

/** A server with the hub `h`. */
export async function withHub(more: object = {}, options: StartOptions = {}) {
  const hub = await listenHub();
  const server = await serve({ ...EGRESS, ...options });
  expect((await add(server, `${hub.url}/hub`, more)).status).toBe(201);
  return { ...hub, server };
}

export const sync = (server: RunningServer, id = "h") => post(server, `/api/hubs/${id}/sync`, {});

export async function synced(server: RunningServer): Promise<Hub> {
  const response = await sync(server);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Hub;
}

export function install(
  server: RunningServer,
  {
    item = "hello",
    hub = "h",
    headers = {},
    ...args
  }: {
    readonly item?: string;
    readonly hub?: string;
    readonly headers?: Record<string, string>;
    readonly slug?: string;
    readonly overwrite?: boolean;
  } = {},
): Promise<Response> {
  return post(server, `/api/hubs/${hub}/items/${item}/install`, args, { headers });
}

export const codeOf = async (response: Response) => (await problemOf(response)).code;

export const itemsOf = (server: RunningServer): Promise<Page<HubItem>> =>
  invoke<Page<HubItem>>(server, "list_hub_items", { hubId: "h" });
export const templatesOf = async (server: RunningServer): Promise<string[]> =>
  (await invoke<Page<Template>>(server, "list_templates", {})).items.map(({ slug }) => slug);

/** Writes files below a folder, and the folders between. */
export async function writeBelow(
  root: string,
  files: { readonly [path: string]: string },
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

/** Writes a hub with these flows, by the id of their item. */
export function writeHub(dir: string, flows: { readonly [id: string]: string }): Promise<void> {
  const all = Object.entries(flows).map(([id, text]) => ({
    text,
    path: `templates/${id}.flow`,
    id,
  }));
  const items = all.map(({ id, text, path }) => itemOf(text, { id, path, title: id }));
  return writeBelow(dir, {
    "millrace-hub.json": indexOf(items),
    ...Object.fromEntries(all.map(({ path, text }) => [path, text])),
  });
}
