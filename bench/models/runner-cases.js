// Cases of the processes that run models: a tiny model of one layer, so that what is ours weighs more than with any real one.
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeHost } from "@millrace/engine/node";
import { createModelManager } from "@millrace/local-models";
import { createLocalProvider } from "@millrace/providers";
import { sized } from "../size.js";
import { tinyGguf } from "./tiny-model.js";

const ENGINE = import.meta.resolve("node-llama-cpp");
const TOKENS = sized(512, 16);
const CONTEXT = 2_048;
const PROMPT = [{ role: "user", content: [{ type: "text", text: "say something" }] }];

/** A manager of one model, and the provider over it. */
async function managed() {
  const folder = mkdtempSync(join(tmpdir(), "bench-runner-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "models/files"), { recursive: true });
  const path = join(folder, "models/files/tiny.gguf");
  writeFileSync(path, tinyGguf({ mode: "random" }));
  const fetch = createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.1/32" }] });
  const manager = createModelManager({
    dir: join(folder, "models"),
    enginesDir: join(folder, "engines"),
    fetch,
    sink: { emit() {} },
  });
  await manager.scanned;
  const provider = createLocalProvider(manager, { fetch });
  const ctx = { credentials: {}, fetch, signal: new AbortController().signal };
  const model = await provider.languageModel("tiny", ctx);
  const open = async (maxOutputTokens) => {
    const call = { prompt: PROMPT, maxOutputTokens, temperature: 1, seed: 1 };
    return (await model.doStream(call)).stream.getReader();
  };
  return { manager, path, open };
}

/** Milliseconds from the first piece of an answer to its end. */
async function streamed(reader) {
  let from;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (next.value.type === "text-delta") from ??= performance.now();
  }
  return performance.now() - from;
}

/** A process that does what the engine asks of everybody who loads a model. */
const bareProgram = (path) => `
const { getLlama, LlamaChat, LlamaLogLevel } = await import(${JSON.stringify(ENGINE)});
const logLevel = LlamaLogLevel.error;
const llama = await getLlama({ gpu: false, build: "never", progressLogs: false, logLevel, maxThreads: 1 });
const model = await llama.loadModel({ modelPath: ${JSON.stringify(path)} });
const context = await model.createContext({ contextSize: ${CONTEXT}, threads: 1, sequences: 1 });
new LlamaChat({ contextSequence: context.getSequence() });
process.send(1);
`;

const load = {
  what: "clock of the first load of a tiny model (process, engine, model, port), beside a process that does this with the engine alone",
  bars: { "fork, engine": 1.2 },
  isTwin: true, // `stream` loads the model too
  samples: 3,
  warmMs: 0,
  async prepare() {
    const { manager, path } = await managed();
    const program = `${path}.mjs`;
    writeFileSync(program, bareProgram(path));
    const bare = () =>
      new Promise((resolve) => {
        const from = performance.now();
        const child = fork(program, [], {
          execArgv: [],
          stdio: ["ignore", "ignore", "ignore", "ipc"],
        });
        child.once("message", () => {
          resolve(performance.now() - from);
          child.kill("SIGKILL");
        });
      });
    return {
      contenders: {
        "fork, engine": bare,
        async millrace() {
          const from = performance.now();
          await manager.load("tiny", { contextSize: CONTEXT, threads: 1 });
          const ms = performance.now() - from;
          await manager.unload("tiny");
          return ms;
        },
      },
      close: () => manager.close(),
    };
  },
};

/** The engine in this process, as the runner calls it. */
async function engineHere(path, threads) {
  const { getLlama, LlamaChat, LlamaLogLevel } = await import(ENGINE);
  const llama = await getLlama({
    gpu: false,
    build: "never",
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: CONTEXT, threads, sequences: 1 });
  const chat = new LlamaChat({ contextSequence: context.getSequence() });
  return async () => {
    let from;
    await chat.generateResponse([{ type: "user", text: "say something" }], {
      maxTokens: TOKENS,
      temperature: 1,
      seed: 1,
      topK: 40,
      topP: 0.95,
      repeatPenalty: false,
      onTextChunk: () => {
        from ??= performance.now();
      },
    });
    return performance.now() - from;
  };
}

const stream = {
  what: `clock of ${TOKENS} tokens of a tiny model from the first to the end, through its process and the provider, beside the engine called in this process; a real model takes a hundred times as long for a token`,
  bars: { engine: 1.25 },
  samples: 5,
  async prepare() {
    const { manager, path, open } = await managed();
    const here = await engineHere(path, 1);
    await manager.load("tiny", { contextSize: CONTEXT, threads: 1 });
    let stopped = 0;
    // Stopping: how long after the reader left the process is free for the next one.
    const stop = async () => {
      const reader = await open(TOKENS);
      for (let next = await reader.read(); next.value?.type !== "text-delta"; ) {
        next = await reader.read();
      }
      const from = performance.now();
      await reader.cancel();
      await (await open(1)).read();
      stopped = Math.max(stopped, performance.now() - from);
    };
    for (let i = 0; i < sized(5, 1); i++) await stop();
    return {
      contenders: {
        engine: here,
        millrace: async () => streamed(await open(TOKENS)),
      },
      facts: () => ({ "stop to next answer, ms": { value: Math.round(stopped), bar: 300 } }),
      close: () => manager.close(),
    };
  },
};

export const runnerCases = { load, stream };
