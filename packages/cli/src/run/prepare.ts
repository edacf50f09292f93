/** Everything before a run in this process: nothing of it has an effect, so a signal may leave it at any point. */

import { resolve } from "node:path";
import { aiSettings } from "@millrace/ai";
import type { CredentialsPort, Json } from "@millrace/contracts";
import {
  type ConfirmHandler,
  compileFlow,
  createEngine,
  type Engine,
  type Plan,
  type ShellPolicy,
} from "@millrace/engine";
import { createNodeHost, type NodeHost } from "@millrace/engine/node";
import type { Extensions } from "@millrace/extensions";
import type { AiSetup } from "@millrace/providers";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../argv/spec.ts";
import { configFlags, warnOn } from "../config/files.ts";
import type { Config } from "../config/load.ts";
import { CliError, usage } from "../errors.ts";
import { renderDiagnostics } from "../output/code-frame.ts";
import { type DebugLines, debugLines } from "../output/debug-lines.ts";
import { createStyle } from "../output/style.ts";
import { registryOf, subflowsOf } from "./compile.ts";
import { runCredentials } from "./credentials.ts";
import { isSlug, storedTemplate } from "./find-flow.ts";
import { readAnswers } from "./flags.ts";
import { readInputs } from "./inputs.ts";
import { countFindings, type FlowSource, isValid, loadFlow } from "./load-flow.ts";
import type { SavingJournal } from "./saving-journal.ts";

/** A run that only has to be started. */
export interface Prepared {
  readonly source: FlowSource;
  /** Slug of the template that it is a run of. */
  readonly template: string | undefined;
  readonly inputs: { readonly [name: string]: Json };
  readonly plan: Plan;
  readonly engine: Engine;
  /** The clock of its world. */
  readonly now: () => number;
  readonly answers: ConfirmHandler;
  /** With `--verbose`. */
  readonly debug: DebugLines | undefined;
  close(): Promise<void>;
}

/** Reads, checks and compiles what the words name. `journal`: where the run is kept. */
export async function prepare(
  input: Input,
  config: Config,
  io: CommandIo,
  journal?: SavingJournal,
): Promise<Prepared> {
  const name = input.args[0] as string;
  const answers = readAnswers(flagList(input, "confirm"), isOn(input, "yes"));
  const { source, template } = await sourceOf(name, input, config, io);
  await report(source, io);
  const given = await readInputs(
    source.graph,
    flagList(input, "input"),
    flagText(input, "input-json"),
    io,
  );
  const debug = debugLines(io);
  const extensions = await extensionsOf(config, io, { watch: isOn(input, "watch"), debug });
  try {
    const plan = await compile(source, config, extensions, io);
    const needsAi = plan.needs.includes("ai");
    const services = [...config.services, ...extensions.services];
    const world = await worldOf(input, { config: { ...config, services }, io, needsAi, journal });
    const inputs = { ...world.inputs, ...given };
    const { ai, shell = config.shell } = world;
    const engine = createEngine({
      host: world.host,
      credentials: world.credentials,
      services: new Map(services.map((service) => [service.slug, service])),
      config: extensions.config,
      egress: config.egress,
      files: { root: world.filesRoot },
      ...(journal !== undefined && { journal: journal.journal }),
      ...(shell && { shell }),
      settings: [
        aiSettings({ ...ai?.ai, providers: [...(ai?.providers ?? []), ...extensions.providers] }),
      ],
      ...(debug && { onError: debug.onError }),
    });
    const missing = engine.checkInputs(plan, inputs).filter(({ severity }) => severity === "error");
    if (missing[0] !== undefined) {
      throw usage(missing.map(({ message }) => message).join("; "), "give it with -i name=value");
    }
    const answered: ConfirmHandler = async (asked) =>
      (await answers(asked)) ?? world.confirm?.(asked);
    const now = (): number => world.host.now();
    const close = async (): Promise<void> => {
      await extensions.close();
      await world.close();
    };
    return { source, template, inputs, plan, engine, now, answers: answered, debug, close };
  } catch (error) {
    await extensions.close(); // a check of theirs may have started a process
    throw error;
  }
}

async function sourceOf(
  name: string,
  input: Input,
  config: Config,
  io: CommandIo,
): Promise<{ readonly source: FlowSource; readonly template: string | undefined }> {
  const { sources } = config;
  const named = { ...configFlags(input), watch: isOn(input, "watch"), sources };
  if (!(await isSlug(name, io))) {
    return { source: await loadFlow(name, io, named), template: undefined };
  }
  const { dsl } = await storedTemplate(name, config, io);
  const bytes = new TextEncoder().encode(dsl);
  return { source: await loadFlow(name, io, { ...named, bytes }), template: name };
}

/** What a run works with: this machine, or the fixtures in its place. */
interface World {
  readonly inputs: { readonly [name: string]: Json };
  readonly host: NodeHost;
  readonly credentials: CredentialsPort;
  readonly filesRoot: string;
  readonly shell?: ShellPolicy | undefined;
  readonly confirm?: ConfirmHandler;
  readonly ai: AiSetup | undefined;
  close(): Promise<void>;
}

interface WorldParts {
  readonly config: Config;
  readonly io: CommandIo;
  readonly needsAi: boolean;
  readonly journal: SavingJournal | undefined;
}

async function worldOf(input: Input, { config, io, needsAi, journal }: WorldParts): Promise<World> {
  const folder = flagText(input, "fixtures");
  if (folder !== undefined) {
    const { openFixtures } = await import("../fixtures/world.ts");
    const world = await openFixtures(resolve(io.cwd, folder), { config, io, speed: 1 });
    const ai = needsAi ? await world.ai() : undefined;
    const close = async (): Promise<void> => {
      await ai?.close();
      await world.close();
    };
    return { ...world, ai, close };
  }
  const credentials = runCredentials(config, () => io.now(), journal?.connections);
  const host = createNodeHost();
  const ai = needsAi
    ? await aiOf(config, credentials.port, io, host, await journal?.auditKey())
    : undefined;
  const close = async (): Promise<void> => {
    await ai?.close();
    await credentials.close();
  };
  const filesRoot = config.filesRoot ?? config.folder;
  return { inputs: {}, host, credentials: credentials.port, filesRoot, ai, close };
}

type Opened = Pick<
  Extensions,
  "types" | "services" | "serviceEntries" | "providers" | "config" | "close"
>;

/** Loaded for projects that have some. */
async function extensionsOf(
  config: Config,
  io: CommandIo,
  how: { readonly watch: boolean; readonly debug: DebugLines | undefined },
): Promise<Opened> {
  if (config.extensions.list.length === 0) {
    const none = { types: [], services: [], serviceEntries: [], providers: [] };
    return { ...none, config: {}, close: async () => {} };
  }
  const { openProjectExtensions } = await import("../ext/open.ts");
  return openProjectExtensions(config, warnOn(io), how);
}

/** Loaded for flows that ask a model. */
async function aiOf(...given: Parameters<typeof import("../ai/open-ai.ts").openAi>) {
  const { openAi } = await import("../ai/open-ai.ts");
  return openAi(...given);
}

async function report(source: FlowSource, io: CommandIo): Promise<void> {
  const { diagnostics } = source;
  const valid = isValid(diagnostics);
  if (io.json === undefined) {
    const shown = diagnostics.filter(
      ({ severity }) =>
        severity === "error" || (io.verbosity !== "quiet" && severity === "warning"),
    );
    const style = createStyle(io.colour, io.env);
    if (shown.length > 0) await io.err.write(`${await renderDiagnostics(shown, source, style)}\n`);
  }
  if (!valid) throw invalid(diagnostics);
}

async function compile(
  source: FlowSource,
  config: Config,
  extensions: Opened,
  io: CommandIo,
): Promise<Plan> {
  const compiled = await compileFlow(source.graph, {
    registry: registryOf([...config.services, ...extensions.serviceEntries, ...extensions.types]),
    subflows: subflowsOf([source.folder, config.flows], config.credentials.dir),
    ...(source.document && { document: source.document }),
  });
  if (compiled.ok) return compiled.plan;
  if (io.json === undefined) {
    await io.err.write(
      `${await renderDiagnostics(compiled.diagnostics, source, createStyle(io.colour, io.env))}\n`,
    );
  }
  throw invalid(compiled.diagnostics);
}

function invalid(diagnostics: FlowSource["diagnostics"]): CliError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return new CliError("flow_invalid", countFindings(errors), {
    diagnostics: errors,
    reported: true,
  });
}
