/** Environment of a run: this machine or fixtures, the extensions of its project, and the engine. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CredentialsPort, Journal, Json, JsonObject } from "@millrace/contracts";
import {
  type ConfirmHandler,
  createEngine,
  type Engine,
  type Plan,
  type ShellPolicy,
  type TracePort,
} from "@millrace/engine";
import { createNodeHost, type NodeHost } from "@millrace/engine/node";
import type { Extensions } from "@millrace/extensions";
import type { AiSetup } from "@millrace/providers";
import type { Vars } from "@millrace/store";
import type { CommandIo } from "../argv/spec.ts";
import { warnOn } from "../config/files.ts";
import type { Config, RunConfig } from "../config/load.ts";
import { usage } from "../errors.ts";
import type { ExtensionFixtures } from "../fixtures/nodes.ts";
import type { DebugLines } from "../output/debug-lines.ts";
import type { CliIo } from "../output/io.ts";
import { runCredentials } from "./credentials.ts";
import type { SavingJournal } from "./saving-journal.ts";

/** Ports of a run to the outside. */
export interface World {
  readonly inputs: { readonly [name: string]: Json };
  /** In the place of the variables of this installation. */
  readonly vars?: Pick<Vars, "of">;
  readonly host: NodeHost;
  readonly credentials: CredentialsPort;
  readonly filesRoot: string;
  /** Programs that flows may start, in the place of those of the configuration. */
  readonly shell?: ShellPolicy | undefined;
  readonly confirm: ConfirmHandler;
  /** Providers, settings and tools of `ai` nodes; undefined where the flow has none. */
  readonly ai: AiSetup | undefined;
  close(): Promise<void>;
}

/** How a world is opened. */
export interface WorldOptions {
  readonly config: RunConfig;
  readonly io: CliIo;
  readonly needsAi: boolean;
}

/** This machine, as far as the configuration lets flows reach it. `journal`: where the run is kept. */
export async function openMachine(
  { config, io, needsAi }: WorldOptions,
  journal: SavingJournal | undefined,
): Promise<World> {
  const credentials = runCredentials(config, () => io.now(), journal?.connections);
  const host = createNodeHost();
  let ai: AiSetup | undefined;
  if (needsAi) {
    const { openAi } = await import("../ai/open-ai.ts");
    ai = openAi(config, credentials.port, io, host, await journal?.auditKey());
  }
  return {
    inputs: {},
    host,
    credentials: credentials.port,
    filesRoot: config.filesRoot ?? config.folder,
    confirm: () => undefined,
    ai,
    async close() {
      await ai?.close();
      await credentials.close();
    },
  };
}

/** The extensions of a project, as runs use them. */
export type RunExtensions = Pick<
  Extensions,
  "types" | "services" | "serviceEntries" | "providers" | "config" | "close"
>;

/** Opens the extensions of a project; their code is loaded for projects that have some. */
export async function extensionsOf(
  config: Config,
  io: CommandIo,
  how: {
    readonly watch?: boolean;
    readonly fixtures?: ExtensionFixtures | undefined;
    readonly debug: DebugLines | undefined;
  },
): Promise<RunExtensions> {
  if (config.extensions.list.length === 0) {
    const none = { types: [], services: [], serviceEntries: [], providers: [] };
    return { ...none, config: {}, close: async () => {} };
  }
  const { openProjectExtensions } = await import("./extensions.ts");
  return openProjectExtensions(config, warnOn(io), how);
}

/** The engine that runs a flow in a world. `config`: as the world has it. */
export async function openEngine(
  config: RunConfig,
  { host, credentials, filesRoot, shell = config.shell, ai }: World,
  extensions: RunExtensions,
  {
    journal,
    debug,
    traces,
  }: {
    readonly journal?: Journal | undefined;
    readonly debug?: DebugLines | undefined;
    readonly traces?: TracePort | undefined;
  },
): Promise<Engine> {
  const providers = [...(ai?.providers ?? []), ...extensions.providers];
  const settings =
    ai === undefined && providers.length === 0
      ? []
      : [(await import("@millrace/ai")).aiSettings({ ...ai?.ai, providers })];
  return createEngine({
    host,
    credentials,
    services: new Map(config.services.map((service) => [service.slug, service])),
    config: extensions.config,
    egress: config.egress,
    files: { root: filesRoot },
    ...(journal !== undefined && { journal }),
    ...(shell && { shell }),
    settings,
    ...(debug && { onError: debug.onError }),
    ...(traces && { trace: traces }),
  });
}

/** Variables that the flow reads, from a store, by default that of this installation. Throws a usage error for one that is not set. */
export async function varsOf(
  { vars: names }: Plan,
  { credentials: { dir }, environment }: Config,
  known: Pick<Vars, "of"> | undefined,
): Promise<JsonObject | undefined> {
  if (names.length === 0) return undefined;
  const { openMemoryStore, openStore, varsFor } = await import("@millrace/store");
  const isThere = existsSync(join(dir, "millrace.db"));
  const store = known ?? (isThere ? await openStore({ dir, readonly: true }) : openMemoryStore());
  try {
    const { of } = "vars" in store ? store.vars : store;
    return varsFor(names, await of(environment));
  } catch (error) {
    throw error instanceof RangeError ? usage(error.message) : error;
  } finally {
    if ("close" in store) await store.close();
  }
}
