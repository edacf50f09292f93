// What a few lines of JavaScript cost in a step, beside a step that does nothing and beside a new context of QuickJS for each call.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import openQuickJS from "@jitl/quickjs-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-wasmfile-release-sync/ffi";
import { defineAction, defineActionAdapter, jsonSchema } from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import code from "@millrace/extension-code";
import { sized } from "../size.js";

const NODES = sized(100, 10); // one after the other
const input = { items: Array.from({ length: 4 }, (_, at) => ({ quantity: at, price: 2 })) };
const source = "return input.items.reduce((sum, one) => sum + one.quantity * one.price, 0);";

const any = jsonSchema({ type: "object", additionalProperties: true });
const idle = defineActionAdapter({
  id: "idle",
  title: "Idle",
  actions: [
    defineAction({
      name: "go",
      title: "Go",
      summary: "Answers at once.",
      effect: "pure",
      fields: any,
      output: any,
      run: () => ({ value: 12 }),
    }),
  ],
});

function chain(type, count) {
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  return {
    ...{ version: 1, id: "chain", meta: {}, inputs: [], outputs: [], connections: [] },
    ...{ schedules: [], layout: {} },
    nodes: names.map((id) => ({ id, type, fields: { source, input } })),
    edges: names.slice(1).map((to, at) => ({ from: `n${at}`, port: "out", to })),
  };
}

/** The way of the library: a context for each call, without a limit, in a module that counts nothing. */
async function newContexts() {
  const path = createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  const module = await openQuickJS({ wasmBinary: readFileSync(path) });
  const ffi = new QuickJSFFI(module);
  const runtime = ffi.QTS_NewRuntime();
  const text = (value) => {
    const bytes = new TextEncoder().encode(value);
    const at = module._malloc(bytes.length + 1);
    module.HEAPU8.set(bytes, at);
    module.HEAPU8[at + bytes.length] = 0;
    return [at, bytes.length];
  };
  return () => {
    const context = ffi.QTS_NewContext(runtime, 0);
    const program = `JSON.stringify((function (input) {${source}})(${JSON.stringify(input)}))`;
    const [at, length] = text(program);
    const value = ffi.QTS_Eval(context, at, length, "source", 0, 0);
    const shown = ffi.QTS_GetString(context, value);
    if (module.UTF8ToString(shown) !== "12") throw new Error("another sum");
    ffi.QTS_FreeCString(context, shown);
    ffi.QTS_FreeValuePointer(context, value);
    ffi.QTS_FreeContext(context);
    module._free(at);
  };
}

export const script = {
  what: `a sum over four rows by \`code.run\` in the process of its host, beside an action that does nothing, and beside a new context of QuickJS alone; one of ${NODES} in a row`,
  bars: {},
  samples: 25,
  warmTurns: 40,
  async prepare() {
    const engine = createEngine({ host: createNodeHost() });
    const registry = createRegistry([code, idle]);
    const least = {};
    const perNode = async (who, type, nodes = NODES) => {
      const { ok, plan, diagnostics } = await compileFlow(chain(type, nodes), {
        registry,
        withoutCode: true,
      });
      if (!ok) throw new Error(JSON.stringify(diagnostics[0]));
      return async () => {
        const before = process.cpuUsage();
        const { status, error } = await engine.run(plan).result;
        if (status !== "succeeded") throw new Error(error?.message ?? status);
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1_000 / nodes;
        least[who] = Math.min(least[who] ?? ms, ms);
        return ms;
      };
    };
    const none = await perNode("none", "idle.go");
    await none();
    const started = performance.now();
    await (await perNode("first", "code.run", 1))(); // compiles QuickJS, checks the source and runs it
    const first = performance.now() - started;
    const ours = await perNode("ours", "code.run");
    const call = await newContexts();
    return {
      contenders: {
        none,
        context() {
          const started = process.cpuUsage();
          for (let node = 0; node < NODES; node += 1) call();
          const spent = process.cpuUsage(started);
          return (spent.user + spent.system) / 1_000 / NODES;
        },
        millrace: ours,
      },
      facts: () => ({
        "µs beyond a step that does nothing": {
          value: Math.round((least.ours - least.none) * 1_000),
          bar: 60,
          work: 1,
        },
        "ms, first use": { value: Math.round(first), goal: 60, work: 1 },
      }),
      close: () => engine.close({ graceMs: 0 }),
    };
  },
};
