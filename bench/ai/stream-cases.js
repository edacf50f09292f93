// What comes over the socket of a model: the cost of a delta, and how soon a run is over that is cancelled amid them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { aiSettings } from "@millrace/ai";
import { createNodeHost } from "@millrace/engine/node";
import { createProviders } from "@millrace/providers";
import { sized } from "../size.js";
import { createEngine, planOf } from "./engine.js";

const DELTAS = sized(10_000, 100);
const TEXT = "word ".repeat(DELTAS);
const BEFORE_ABORT = 100; // deltas that have come when the run is cancelled
const LOOPBACK = { allow: [{ cidr: "127.0.0.0/8" }] };

async function startModel() {
  const program = fileURLToPath(new URL("model-server.js", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [origin] = await once(child.stdout, "data");
  const close = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { baseUrl: String(origin).trim(), close };
}

/** Milliseconds of the processor that the work takes, in all threads. */
async function processorMs(work) {
  const from = process.cpuUsage();
  const text = await work();
  const { user, system } = process.cpuUsage(from);
  if (text !== TEXT) throw new Error(`another text came: ${text.length} units`);
  return (user + system) / 1_000;
}

/** What a person writes who wants the text and nothing else. */
async function rawText(baseUrl) {
  const { body } = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: String(DELTAS) }] }),
  });
  let text = "";
  let rest = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      if (frame === "data: [DONE]") continue;
      text += JSON.parse(frame.slice("data: ".length)).choices[0]?.delta.content ?? "";
    }
  }
  return text;
}

/** The model of the maker's package, read without an engine. */
async function modelText(provider, fetchLike) {
  const signal = new AbortController().signal;
  const model = await provider.languageModel("m", { credentials: {}, fetch: fetchLike, signal });
  const content = [{ type: "text", text: String(DELTAS) }];
  const { stream } = await model.doStream({ prompt: [{ role: "user", content }] });
  let text = "";
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (part.value.type === "text-delta") text += part.value.delta;
  }
  return text;
}

const flowOf = (model, count) => `flow 1 ask
node ask: ai {
  provider = "bench"
  modelId = "${model}"
  input = "${count}"
}
`;

function setUp(baseUrl) {
  const kind = "openai-compatible";
  const providers = createProviders({ providers: { bench: { kind, baseUrl } } });
  return {
    provider: providers.find(({ id }) => id === "bench"),
    engine: createEngine({
      host: createNodeHost(),
      settings: [aiSettings({ providers })],
      egress: LOOPBACK,
    }),
  };
}

/** The text as a reader in this process puts it together from events. */
async function runText(engine, plan) {
  let text = "";
  for await (const batch of engine.run(plan, {}).batches()) {
    for (const event of batch) if (event.kind === "llm.delta") text += event.text;
  }
  return text;
}

async function deltas() {
  const { baseUrl, close } = await startModel();
  const { provider, engine } = setUp(baseUrl);
  const plan = await planOf(flowOf("m", DELTAS));
  const fetchLike = createNodeHost().openFetch(LOOPBACK);
  return {
    contenders: {
      "SSE, JSON.parse": () => processorMs(() => rawText(baseUrl)),
      doStream: () => processorMs(() => modelText(provider, fetchLike)),
      millrace: () => processorMs(() => runText(engine, plan)),
    },
    close,
  };
}

/** From `cancel` to the last event of the run, on the clock. The node's own last event is before it. */
async function cancelled(engine, plan, isRunning) {
  const run = engine.run(plan, {});
  let seen = 0;
  let from;
  for await (const batch of run.batches()) {
    seen += batch.filter(isRunning).length;
    if (seen > 0 && from === undefined) {
      from = performance.now();
      run.cancel();
    }
  }
  return performance.now() - from;
}

async function abort() {
  const { baseUrl, close } = await startModel();
  const { engine } = setUp(baseUrl);
  const asking = await planOf(flowOf("hang", BEFORE_ABORT));
  const waiting = await planOf("flow 1 wait\nnode wait: delay { for = 10m }\n");
  let slowest = 0;
  return {
    contenders: {
      "a delay": () => cancelled(engine, waiting, ({ kind }) => kind === "node.started"),
      millrace: async () => {
        const ms = await cancelled(engine, asking, ({ kind }) => kind === "llm.delta");
        slowest = Math.max(slowest, ms);
        return ms;
      },
    },
    facts: () => ({ "slowest, ms": { value: Math.ceil(slowest), bar: 50 } }),
    close,
  };
}

export const streamCases = {
  [`${DELTAS.toLocaleString("en")} deltas`]: {
    what: "processor time from the socket to the text in a reader's hands; doStream is the maker's package alone, below us; `SSE, JSON.parse` is what a person writes",
    bars: { doStream: 1.1, "SSE, JSON.parse": null },
    samples: 5,
    prepare: deltas,
  },
  abort: {
    what: "clock from cancel() amid a stream to the last event of the run, beside the same for a delay node",
    bars: { "a delay": null },
    samples: 20,
    prepare: abort,
  },
};
