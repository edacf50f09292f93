// What a node of an extension costs: in the process of its host beside a node of core, in one of its own beside the bare channel.
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { openExtensions } from "@millrace/extensions";
import { sized, smoke } from "../size.js";
import { projectOf } from "./project.js";

const NODES = sized(500, 20); // one after the other
const VALUES = Array.from({ length: NODES }, (_, at) => at);
const WARM_TURNS = 60; // until the compiler has seen all of the engine: later turns take as long

/** A chain of nodes of one type, whose output `last` is the value of its last. */
function chain(type, values) {
  return {
    version: 1,
    id: "chain",
    meta: {},
    inputs: [],
    nodes: values.map((value, at) => ({ id: `n${at}`, type, fields: { value } })),
    edges: values.slice(1).map((_, at) => ({ from: `n${at}`, port: "out", to: `n${at + 1}` })),
    outputs: [{ name: "last", value: { $: `n${values.length - 1}.value` } }],
    connections: [],
    schedules: [],
    layout: {},
  };
}

/** Opens one extension. Answers what makes a run of a chain of nodes of a type, which answers the value of the last. */
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
  return {
    async runner(type, values = VALUES) {
      const { ok, plan, diagnostics } = await compileFlow(chain(type, values), { registry });
      if (!ok) throw new Error(JSON.stringify(diagnostics[0]));
      return async () => {
        const { status, error, outputs } = await engine.run(plan).result;
        if (status !== "succeeded") throw new Error(error?.message ?? status);
        return outputs.last;
      };
    },
    async close() {
      await engine.close({ graceMs: 0 });
      await extensions.close();
      project.remove();
    },
  };
}

/** Milliseconds that a node of a run takes. */
const timed = (run) => async () => {
  const before = performance.now();
  await run();
  return (performance.now() - before) / NODES;
};

export const inProcess = {
  what: `an action that does nothing, in the process of its host, beside \`transform\`; a node of ${NODES} in a row`,
  bars: { core: 1.3 },
  samples: 25,
  warmTurns: WARM_TURNS,
  async prepare() {
    const { runner, close } = await opened("inProcess");
    const [core, millrace] = await Promise.all(
      ["transform", "bench.go0"].map((type) => runner(type)),
    );
    return { contenders: { core: timed(core), millrace: timed(millrace) }, close };
  },
};

const ECHO = fileURLToPath(new URL("echo.js", import.meta.url));

/** Milliseconds of the processor that a call takes in both processes; `other` answers the microseconds that the other one has taken. */
const spent = (run, other) => async () => {
  const there = await other();
  const here = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(here);
  return (user + system + (await other()) - there) / 1_000 / NODES;
};

/**
 * Both processes of a contender on one processor, where `taskset` is there. On two the system puts the pair of one contender on one
 * processor and that of the other on both, as it likes, and waking one that rests costs as much as a message.
 */
function onOneProcessor(plain) {
  const { status, stdout } = spawnSync("taskset", ["-cp", String(process.pid)], {
    encoding: "utf8",
  });
  const [, first] = (status === 0 && /: (\d+)/.exec(stdout)) || [];
  const command = first === undefined ? plain : ["taskset", "-c", first, ...plain];
  return { command, env: process.env };
}

export const child = {
  what: `an action that does nothing, in a process of its own, beside a message there and back over the channel of \`fork\`; one of ${NODES} in a row, processor time of both processes`,
  bars: { fork: 1.5 },
  samples: 25,
  warmTurns: WARM_TURNS / 2,
  session: smoke ? undefined : onOneProcessor,
  async prepare() {
    const { runner, close } = await opened("child");
    const echo = fork(ECHO, { serialization: "json" });
    await once(echo, "message");
    const ctx = { runId: "run_1", node: "n1", attempt: 1, idempotencyKey: "run_1/n1", now: 1 };
    const asked = async (value) => {
      echo.send({ id: 1, op: "run", type: "bench.go0@1", fields: { value }, ctx });
      const [{ result }] = await once(echo, "message");
      return result.value;
    };
    const all = async () => {
      for (const value of VALUES) await asked(value);
    };
    return {
      contenders: {
        fork: spent(all, () => asked(-1)),
        millrace: spent(await runner("bench.go0"), await runner("bench.go0", [-1])),
      },
      async close() {
        echo.kill();
        await close();
      },
    };
  },
};
