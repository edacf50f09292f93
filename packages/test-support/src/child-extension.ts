/** A built extension in a process of its own, with all that its manifest asks for, as a run has it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CredentialsPort, Json, JsonObject } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type EgressPolicy,
} from "@millrace/engine";
import { createNodeHost, nodePack } from "@millrace/engine/node";
import { inspectExtension, openExtensions } from "@millrace/extensions";
import { graphOf } from "./flows/index.ts";

/** A process that begins in the middle of other tests takes its time. */
const LOAD_MS = 30_000;

export interface ChildExtensionOptions {
  /** By the names of the manifest. */
  readonly secrets?: { readonly [name: string]: string };
  readonly egress?: EgressPolicy;
  readonly config?: { readonly [adapter: string]: JsonObject };
  /** Folder of files, which is its project too. */
  readonly files?: string;
}

export interface ChildExtension {
  /** Runs the nodes of a flow text and answers its outputs, or `{ code, message }` of its failure. `signal` cancels it. */
  run(flow: string, signal?: AbortSignal): Promise<{ readonly [name: string]: Json | undefined }>;
  close(): Promise<void>;
}

/** Opens the extension in `folder`, and those in others, which must be built. */
export async function openChildExtension(
  folder: string | readonly [string, ...string[]],
  { secrets = {}, egress = {}, config = {}, files }: ChildExtensionOptions,
): Promise<ChildExtension> {
  const host = createNodeHost();
  const list = typeof folder === "string" ? ([folder] as const) : folder;
  const data = mkdtempSync(join(tmpdir(), "millrace-child-"));
  const locks = list.map(async (each) => {
    const { manifest, manifestDigest, treeDigest } = await inspectExtension(each, each);
    const { version, permissions: granted } = manifest;
    const digests = { manifestDigest, treeDigest };
    const about = { version, integrity: "", source: "path", mode: "child", granted } as const;
    return [each, { ...about, ...digests }] as const;
  });
  const extensions = await openExtensions({
    project: files ?? list[0],
    list,
    lock: new Map(await Promise.all(locks)),
    taken: { types: [] },
    data,
    config,
    egress,
    openFetch: host.openFetch,
    openResolver: host.openResolver,
    warn: ({ code, message }) => {
      throw new Error(`${code}: ${message}`);
    },
    times: { loadMs: LOAD_MS },
  });
  const engine = createEngine({
    host,
    journal: createMemoryJournal(),
    config: extensions.config,
    egress,
    ...(files !== undefined && { files: { root: files } }),
    credentials: {
      secret: async (name) => secrets[name.replace(/^ext:/, "")],
      resolve: () => Promise.reject(new Error("no connection")),
      renew: () => Promise.reject(new Error("no connection")),
    } satisfies CredentialsPort,
  });
  return {
    async run(flow, signal) {
      const registry = createRegistry([nodePack(), ...extensions.types]);
      const compiled = await compileFlow(graphOf(flow), { registry });
      if (!compiled.ok) return { code: "invalid", message: JSON.stringify(compiled.diagnostics) };
      const run = engine.run(compiled.plan);
      signal?.addEventListener("abort", () => run.cancel(), { once: true });
      const { status, error, outputs } = await run.result;
      if (status === "succeeded") return outputs;
      return { code: error?.code ?? status, message: error?.message };
    },
    async close() {
      await engine.close({ graceMs: 0 });
      await extensions.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
