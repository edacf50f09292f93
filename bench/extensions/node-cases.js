// What a node of an extension costs: in the process of its host beside a node of core, in one of its own beside the bare channel.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { openExtensions } from "@millrace/extensions";
import { projectOf } from "./project.js";

const NODES = 500; // one after the other
const WARM_MS = 3_000; // until the compiler has seen all of the engine

/** A chain of nodes of one type. */
function chain(type) {
  return {
    version: 1,
    id: "chain",
    meta: {},
    inputs: [],
    nodes: Array.from({ length: NODES }, (_, at) => ({
      id: `n${at}`,
      type,
      fields: { value: at },
    })),
    edges: Array.from({ length: NODES - 1 }, (_, at) => ({
      from: `n${at}`,
      port: "out",
      to: `n${at + 1}`,
    })),
    outputs: [],
    connections: [],
    schedules: [],
    layout: {},
  };
}

/** Opens one extension, and answers how long a node of a type takes, in milliseconds. */
async function opened(mode) {
  const project = await projectOf([{ id: "bench", count: 1, mode }]);
  const { openFetch } = createNodeHost();
  const extensions = await openExtensions({
    project: project.folder,
    list: project.list,
    taken: { types: [] },
    data: project.folder,
    openFetch,
    warn: ({ message }) => {
      throw new Error(message);
    },
  });
  const engine = createEngine({ host: createNodeHost() });
  const registry = createRegistry([...extensions.types]);
  const perNode = async (type) => {
    const { ok, plan, diagnostics } = await compileFlow(chain(type), { registry });
    if (!ok) throw new Error(JSON.stringify(diagnostics[0]));
    return async () => {
      const before = performance.now();
      const { status, error } = await engine.run(plan).result;
      if (status !== "succeeded") throw new Error(error?.message ?? status);
      return (performance.now() - before) / NODES;
    };
  };
  return {
    perNode,
    async close() {
      await engine.close({ graceMs: 0 });
      await extensions.close();
      project.remove();
    },
  };
}

export const inProcess = {
  what: `an action that does nothing, in the process of its host, beside \`transform\`; a node of ${NODES} in a row`,
  bars: { core: 1.3 },
  samples: 25,
  warmMs: WARM_MS,
  async prepare() {
    const { perNode, close } = await opened("inProcess");
    return {
      contenders: { core: await perNode("transform"), millrace: await perNode("bench.go0") },
      close,
    };
  },
};

const ECHO = fileURLToPath(new URL("echo.js", import.meta.url));

export const child = {
  what: `an action that does nothing, in a process of its own, beside a message there and back over the channel of \`fork\`; one of ${NODES} in a row`,
  bars: { fork: 1.5 },
  samples: 25,
  warmMs: WARM_MS,
  async prepare() {
    const { perNode, close } = await opened("child");
    const echo = fork(ECHO, { serialization: "json" });
    await once(echo, "message");
    const ctx = { runId: "run_1", node: "n1", attempt: 1, idempotencyKey: "run_1/n1", now: 1 };
    return {
      contenders: {
        async fork() {
          const before = performance.now();
          for (let id = 0; id < NODES; id += 1) {
            echo.send({ id, op: "run", type: "bench.go0@1", fields: { value: id }, ctx });
            await once(echo, "message");
          }
          return (performance.now() - before) / NODES;
        },
        millrace: await perNode("bench.go0"),
      },
      async close() {
        echo.kill();
        await close();
      },
    };
  },
};
