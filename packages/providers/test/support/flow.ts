/** Flows with one `ai` node, `ask`, whose models are real packages over real sockets. */

import { aiSettings } from "@millrace/ai";
import {
  assertLog,
  type ExecutionEvent,
  parseEvent,
  type Summary,
  serialiseEvent,
} from "@millrace/contracts";
import { createEngine, type EngineOptions, type Run } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type AiSettings, createAi, readAiSettings } from "@millrace/providers";
import { planOf } from "@millrace/test-support/flows";
import type { toolType } from "@millrace/test-support/models";
import { onTestFinished } from "vitest";
import type { Wire } from "../../../testkit/src/providers/wires.ts";
import { KEY, settingsFor } from "./providers.ts";
import { startWireServer, type WireAnswer, type WireServer } from "./wire-server.ts";

export interface AskSetup {
  readonly wire: Wire;
  /** What the model is called; the default is one that nobody knows. */
  readonly modelId?: string;
  readonly script: readonly WireAnswer[];
  /** What the provider `spare` answers. */
  readonly spare?: readonly WireAnswer[];
  readonly fields?: string;
  readonly types?: readonly ReturnType<typeof toolType>[];
  readonly ai?: { readonly circuit?: object };
  readonly engine?: EngineOptions;
  /** A whole flow in place of the node `ask`. */
  readonly flow?: string;
}

export interface Asked {
  readonly run: Run;
  readonly main: WireServer;
  readonly spare: WireServer;
  readonly events: ExecutionEvent[];
  /** Resolves with the first event of a kind. */
  until(kind: string): Promise<void>;
  end(): Promise<Summary>;
}

/** The node `ask`: the provider `main`, no pause between tries. */
export function node(fields: string, { id = "ask", modelId = "m" } = {}): string {
  const input = /^\s*input\b/m.test(fields) ? "" : 'input = "hi"\n';
  return `node ${id}: ai {\nprovider = "main"\nmodelId = "${modelId}"\n${input}failoverDelayMs = 0\n${fields}\n}\n`;
}

export const SPARE = 'failover = [{ provider: "spare", modelId: "s" }]';

/** What an engine takes for these settings, where no store has a key; and its host. */
export function openAi(settings: AiSettings, env: { readonly [name: string]: string } = {}) {
  const host = createNodeHost();
  const none = async (): Promise<never> => {
    throw new Error("there is no store");
  };
  const credentials = { secret: none, resolve: none };
  return { host, ...createAi(settings, { credentials, env, openFetch: host.openFetch }) };
}

/** Starts it. Log, wire and order are checked when it ends. */
export async function start(setup: AskSetup): Promise<Asked> {
  const { wire, script, fields = "", modelId = "m" } = setup;
  const main = await startWireServer(script);
  const spare = await startWireServer(setup.spare ?? []);
  const settings = readAiSettings({
    providers: {
      main: { ...settingsFor(main.url)[wire], credential: "env:KEY" },
      spare: { ...settingsFor(spare.url)[wire], credential: "env:KEY" },
    },
    ai: setup.ai,
  });
  const { host, providers, ai, close } = openAi(settings, { KEY });
  const engine = createEngine({
    host,
    settings: [aiSettings({ ...ai, providers })],
    freeze: true,
    ...setup.engine,
  });
  onTestFinished(async () => {
    await engine.close({ graceMs: 0 });
    await close();
    await Promise.all([main.close(), spare.close()]);
  });
  const text = setup.flow ?? node(fields, { modelId });
  const plan = await planOf(text, setup.types === undefined ? {} : { types: setup.types });
  const run = engine.run(plan, {});
  const events: ExecutionEvent[] = [];
  const watchers = new Set<() => void>();
  const reading = (async () => {
    for await (const batch of run.batches()) {
      events.push(...batch);
      for (const each of watchers) each();
    }
  })();
  return {
    run,
    main,
    spare,
    events,
    async until(kind) {
      while (!events.some((event) => event.kind === kind)) {
        await new Promise<void>((resolve) => {
          const again = (): void => {
            watchers.delete(again);
            resolve();
          };
          watchers.add(again);
        });
      }
    },
    async end() {
      const summary = await run.result;
      await reading;
      assertLog(events);
      return summary;
    },
  };
}

export async function ask(setup: AskSetup): Promise<Asked & { readonly summary: Summary }> {
  const asked = await start(setup);
  return { ...asked, summary: await asked.end() };
}

/** The log as every reader gets it who is not in this process: bytes of SSE and NDJSON alike. */
export function overTheWire(events: readonly ExecutionEvent[]): ExecutionEvent[] {
  return events.map((event) => parseEvent(serialiseEvent(event)) as ExecutionEvent);
}
