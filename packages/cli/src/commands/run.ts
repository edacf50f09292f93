/**
 * `millrace run`: one flow in this process, shown as it goes.
 *   R1  every event goes to the display and to `--events`, in order, and to nothing else.
 *   R2  the exit code is the summary's.
 */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type CredentialsPort,
  createView,
  type ExecutionEvent,
  foldEvents,
  type Json,
  makeSummary,
  ndjson,
  type RunView,
  type Summary,
} from "@millrace/contracts";
import {
  type ConfirmHandler,
  compileFlow,
  createEngine,
  createRegistry,
  EngineError,
  type OpenConfirmation,
  type Plan,
  type Registry,
  type Run,
  type ShellPolicy,
} from "@millrace/engine";
import { createNodeHost, type NodeHost } from "@millrace/engine/node";
import type { AiSetup } from "@millrace/providers";
import { prepareAnswers } from "../answers.ts";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../command.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { runCredentials } from "../credentials/run-credentials.ts";
import { createDisplay, type Display } from "../display.ts";
import { parseDuration } from "../duration.ts";
import { CliError, usage } from "../errors.ts";
import { reason } from "../file-reason.ts";
import { countFindings, type FlowSource, isValid, loadFlow } from "../flow-source.ts";
import { checkOneStdin, readInputs, splitPair } from "../inputs.ts";
import { interruptible } from "../interrupt.ts";
import { createPrompter } from "../prompter.ts";
import { renderDiagnostics } from "../render/code-frame.ts";
import { createStyle } from "../render/style.ts";
import { clean } from "../render/text.ts";
import { subflowsIn } from "../subflows.ts";

const DEFAULT_GRACE_MS = 10_000; // long enough for a request to end, short enough for a person to wait

/** Runs the flow and returns its exit code. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const { source, config, inputs, plan, engine, answers, close } = await interruptible(
    io.signal,
    prepare(input, io),
  );
  const tee = await openEvents(flagText(input, "events"), io);
  let park: (confirmation: OpenConfirmation) => void = () => {};
  const parked = new Promise<OpenConfirmation>((resolve) => {
    park = resolve;
  });
  try {
    const started = engine.run(plan, inputs, {
      trigger: "cli",
      ...timeouts(input, config),
      ...tags(input),
      ...only(input, source),
      confirm: async (confirmation) => {
        const answer = await answers(confirmation);
        if (answer === undefined && !io.interactive) park(confirmation);
        return answer;
      },
    });
    const summary = await follow(started, source, parked, { input, config, io, tee });
    return io.out.closed ? 1 : summary.exitCode;
  } finally {
    await engine.close({ graceMs: 0 });
    await close();
    await tee?.close();
  }
}

/** Everything before the run: nothing of it has an effect, so a signal may leave it at any point. */
async function prepare(input: Input, io: CommandIo) {
  const file = input.args[0] as string;
  const words = flagList(input, "input");
  const jsonFile = flagText(input, "input-json");
  checkOneStdin(file, words, jsonFile);
  const answers = prepareAnswers(flagList(input, "confirm"), isOn(input, "yes"));
  const named = { file: flagText(input, "config"), home: flagText(input, "home") };
  const source = await loadFlow(file, io, named);
  await report(source, io);
  const config = await loadConfig({ folder: source.folder, ...named }, io, (line) => {
    void io.err.write(`warning: ${line}\n`);
  });
  const given = await readInputs(source.graph, words, jsonFile, io);
  const plan = await compile(source, config, io);
  const world = await worldOf(input, { config, io, needsAi: plan.needs.includes("ai") });
  const inputs = { ...world.inputs, ...given };
  const { ai, shell = config.shell } = world;
  const engine = createEngine({
    host: world.host,
    credentials: world.credentials,
    services: new Map(config.services.map((service) => [service.slug, service])),
    egress: config.egress,
    files: { root: world.filesRoot },
    ...(shell && { shell }),
    ...(ai && { providers: ai.providers, ai: ai.ai }),
  });
  const missing = engine.checkInputs(plan, inputs).filter(({ severity }) => severity === "error");
  if (missing[0] !== undefined) {
    throw usage(missing.map(({ message }) => message).join("; "), "give it with -i name=value");
  }
  const answered: ConfirmHandler = async (asked) =>
    (await answers(asked)) ?? world.confirm?.(asked);
  return { source, config, inputs, plan, engine, answers: answered, close: world.close };
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

async function worldOf(
  input: Input,
  { config, io, needsAi }: { config: Config; io: CommandIo; needsAi: boolean },
): Promise<World> {
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
  const credentials = runCredentials(config, () => io.now());
  const host = createNodeHost();
  const ai = needsAi ? await aiOf(config, credentials.port, io, host) : undefined;
  const close = async (): Promise<void> => {
    await ai?.close();
    await credentials.close();
  };
  const filesRoot = config.filesRoot ?? config.folder;
  return { inputs: {}, host, credentials: credentials.port, filesRoot, ai, close };
}

/** Loaded for flows that ask a model. */
async function aiOf(...given: Parameters<typeof import("../ai/open-ai.ts").openAi>) {
  const { openAi } = await import("../ai/open-ai.ts");
  return openAi(...given);
}

interface Surroundings {
  readonly input: Input;
  readonly config: Config;
  readonly io: CommandIo;
  readonly tee: EventFile | undefined;
}

async function follow(
  run: Run,
  source: FlowSource,
  parked: Promise<OpenConfirmation>,
  { input, config, io, tee }: Surroundings,
): Promise<Summary> {
  const view = createView(run.id);
  const display = await createDisplay(source.graph, view, io);
  const stop = cancelOn(run, graceMs(input, config), io);
  const prompter = io.interactive ? createPrompter(run, io, display.say) : undefined;
  const cursor = run.events();
  const pages = cursor[Symbol.asyncIterator]();
  let waitsFor: OpenConfirmation | undefined;
  void parked.then((confirmation) => {
    waitsFor = confirmation;
  });
  const nobody = parked.then(() => nextTick());
  let summary: Summary | undefined;
  try {
    let next = pages.next();
    while (summary === undefined) {
      const page = await Promise.race([next, nobody]);
      if (page === undefined) {
        summary = await part(view, waitsFor as OpenConfirmation, display, io, tee);
        break;
      }
      if (page.done) throw new Error("the event stream ended without a summary");
      for (const event of page.value) foldEvents(view, event);
      await tee?.write(page.value);
      await display.show(page.value);
      const last = page.value.at(-1);
      if (last?.kind === "summary") summary = last;
      else next = pages.next();
    }
  } finally {
    cursor.close();
    prompter?.close();
    stop();
  }
  await display.end(summary);
  return summary;
}

/** Ends the stream of a run that waits for a person who cannot be asked here. The run itself ends with the engine. */
async function part(
  view: RunView,
  confirmation: OpenConfirmation,
  display: Display,
  io: CommandIo,
  tee: EventFile | undefined,
): Promise<Summary> {
  const ts = Math.max(view.updatedAt, io.now());
  const error = {
    code: "confirmation_required",
    message: `"${confirmation.node}" waits for a person, and nobody can be asked here; give --confirm ${confirmation.node}=approve or --yes`,
    retryable: false,
  };
  const payload = makeSummary(view, { status: "failed", ts, error });
  const summary: Summary = {
    v: 1,
    kind: "summary",
    runId: view.runId,
    seq: view.seq + 1,
    ts,
    ...payload,
  };
  foldEvents(view, summary);
  await tee?.write([summary]);
  await display.show([summary]);
  return summary;
}

/** Cancels the run on a signal, and when the reader of stdout leaves under `--json`. */
function cancelOn(run: Run, grace: number, io: CommandIo): () => void {
  const onSignal = (): void => {
    run.cancel({ reason: io.signal.reason === "sigterm" ? "sigterm" : "sigint", graceMs: grace });
  };
  if (io.signal.aborted) onSignal();
  else io.signal.addEventListener("abort", onSignal, { once: true });
  if (io.json !== undefined)
    io.out.onClose(() => run.cancel({ reason: "disconnect", graceMs: grace }));
  return () => io.signal.removeEventListener("abort", onSignal);
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

async function compile(source: FlowSource, config: Config, io: CommandIo): Promise<Plan> {
  const compiled = await compileFlow(source.graph, {
    registry: registryOf(config),
    subflows: subflowsIn([source.folder, config.flows]),
  });
  if (compiled.ok) return compiled.plan;
  if (io.json === undefined) {
    await io.err.write(
      `${await renderDiagnostics(compiled.diagnostics, source, createStyle(io.colour, io.env))}\n`,
    );
  }
  throw invalid(compiled.diagnostics);
}

/** Core and the services. A descriptor may have a schema that cannot be checked. */
function registryOf({ services }: Config): Registry {
  try {
    return createRegistry(services);
  } catch (error) {
    if (EngineError.isInstance(error)) throw usage(clean(error.message));
    throw error;
  }
}

function invalid(diagnostics: FlowSource["diagnostics"]): CliError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return new CliError("flow_invalid", countFindings(errors), { diagnostics: errors, told: true });
}

function timeouts(input: Input, config: Config): { timeoutMs?: number } {
  const text = flagText(input, "timeout");
  const timeoutMs = text === undefined ? config.run.timeoutMs : parseDuration(text, "--timeout");
  return timeoutMs === undefined ? {} : { timeoutMs };
}

function graceMs(input: Input, config: Config): number {
  const text = flagText(input, "grace");
  return text === undefined
    ? (config.run.graceMs ?? DEFAULT_GRACE_MS)
    : parseDuration(text, "--grace");
}

function tags(input: Input): { tags?: Record<string, string> } {
  const words = flagList(input, "tag");
  return words.length === 0
    ? {}
    : { tags: Object.fromEntries(words.map((word) => splitPair(word, "--tag"))) };
}

function only(input: Input, source: FlowSource): { only?: string[] } {
  const nodes = flagList(input, "only");
  for (const id of nodes) {
    if (!source.graph.nodes.some((node) => node.id === id))
      throw usage(`--only: the flow has no node ${id}`);
  }
  return nodes.length === 0 ? {} : { only: [...nodes] };
}

interface EventFile {
  write(events: readonly ExecutionEvent[]): Promise<void>;
  close(): Promise<void>;
}

async function openEvents(file: string | undefined, io: CommandIo): Promise<EventFile | undefined> {
  if (file === undefined) return undefined;
  const handle = await open(resolve(io.cwd, file), "w").catch((error: unknown) => {
    throw usage(`cannot write ${file}: ${reason(error)}`);
  });
  let broken = false;
  return {
    async write(events) {
      if (broken) return;
      await handle.appendFile(events.map((event) => ndjson.line(event)).join("")).catch((error) => {
        // The run is what counts: a full disk beside it is no reason to end it.
        broken = true;
        return io.err.write(`warning: ${clean(file)} is not complete: ${reason(error)}\n`);
      });
    },
    close: () => handle.close(),
  };
}

function nextTick(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}
