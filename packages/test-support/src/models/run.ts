/** Flows with one `ai` node, `ask`, and their logs in short lines. */

import { type AiOptions, aiSettings } from "@millrace/ai";
import { type ExecutionEvent, exit, type Summary } from "@millrace/contracts";
import type { NodeType } from "@millrace/engine";
import { type Setup, type Started, start } from "../flows/run-text.ts";
import { scriptedNode } from "../flows/scripted-node.ts";
import { type Entry, type Scripted, type ScriptedOptions, scripted } from "./scripted-model.ts";

export const HMAC_KEY: Uint8Array = new Uint8Array(32).fill(7);

export interface AiSetup extends Setup {
  readonly ai?: AiOptions;
  readonly model?: ScriptedOptions;
  /** Providers beside `mock`. */
  readonly others?: readonly Scripted[];
}

export interface AskStarted extends Started {
  readonly mock: Scripted;
}

/** The text of a flow with the node `ask`; `more` follows it. */
export function flowOf(fields: string, more = ""): string {
  const base = /^\s*provider\b/m.test(fields) ? "" : 'provider = "mock"\nmodelId = "m"\n';
  const input = /^\s*input\b/m.test(fields) ? "" : 'input = "hi"\n';
  return `node ask: ai {\n${base}${input}${fields}\n}\n${more}`;
}

/** Starts a flow whose node `ask` is answered by `script`. */
export async function startAsk(
  fields: string,
  script: readonly Entry[],
  setup: AiSetup = {},
  more = "",
): Promise<AskStarted> {
  const mock = scripted(script, setup.model);
  const started = await start(flowOf(fields, more), {
    ...setup,
    engine: {
      ...setup.engine,
      settings: [
        aiSettings({
          providers: [mock, ...(setup.others ?? [])],
          hmacKey: HMAC_KEY,
          ...setup.ai,
        }),
      ],
    },
  });
  return Object.assign(started, { mock });
}

export async function ask(
  fields: string,
  script: readonly Entry[],
  setup: AiSetup = {},
  more = "",
): Promise<{ summary: Summary; events: ExecutionEvent[]; mock: Scripted }> {
  const { events, mock, end } = await startAsk(fields, script, setup, more);
  return { summary: await end(), events, mock };
}

/** What the model was told of its tools in the call with this number, from 0. */
export function resultsOf(
  { calls }: Scripted,
  at = 1,
): readonly { readonly output: { readonly type: string; readonly value: string } }[] {
  return (calls[at]?.prompt.at(-1)?.content ?? []) as unknown as ReturnType<typeof resultsOf>;
}

/** Members of the short form, by kind. */
const SHOWN: { readonly [kind: string]: readonly string[] } = {
  "node.failed": ["error.code", "routed"],
  "node.succeeded": ["ports"],
  "node.waiting": ["on", "ids"],
  "node.retrying": ["error.code", "next"],
  "node.checked": ["index", "check", "pass", "level"],
  "run.paused": ["reason", "confirmations"],
  "run.resumed": ["reason"],
  log: ["code"],
  "llm.started": ["call", "target", "step", "purpose"],
  "llm.delta": ["call", "channel", "offset", "text"],
  "llm.finished": ["call", "finish"],
  "llm.failed": ["call", "reason", "status", "retryAfterMs", "discarded", "next"],
  "llm.rejected": ["call", "problems", "repair"],
  "tool.started": ["call", "tool", "llmCall"],
  "tool.finished": ["call", "outcome", "error.code"],
  "confirm.requested": ["id", "prompt", "tool.call"],
  "confirm.resolved": ["id", "outcome"],
  summary: ["status"],
};

/** A log, one line an event: kind, then what tells it apart; nodes other than `ask` by name. */
export function lines(events: readonly ExecutionEvent[]): string[] {
  return events.map((event) => {
    const shown = (SHOWN[event.kind] ?? []).flatMap((path) => {
      const value = path
        .split(".")
        .reduce<unknown>((at, key) => (at as { [key: string]: unknown } | undefined)?.[key], event);
      if (value === undefined) return [];
      return [typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value)];
    });
    const node = "node" in event && event.node !== undefined && event.node !== "ask";
    return [event.kind, ...(node ? [`(${event.node})`] : []), ...shown].join(" ");
  });
}

/** An action of `test`, as a tool: what it does is given, and each call is counted. */
export function toolType(
  name: string,
  run: (args: { readonly [name: string]: unknown }, calls: number) => unknown,
  effect: "read" | "write" = "read",
): NodeType & { readonly calls: { readonly [name: string]: unknown }[] } {
  const calls: { readonly [name: string]: unknown }[] = [];
  const fields = {
    type: "object",
    properties: { q: { type: "string" }, n: { type: "integer" } },
    additionalProperties: false,
  };
  return {
    ...scriptedNode,
    entry: {
      ...scriptedNode.entry,
      type: `test.${name}`,
      fields,
      effect,
      summary: `Does ${name}.`,
    },
    calls,
    run(args) {
      calls.push(args);
      const made = run(args, calls.length);
      return made instanceof Promise ? made : exit("out", made);
    },
  };
}
