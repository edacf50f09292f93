// What listed extensions cost before any of their code runs.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCatalog } from "@millrace/extensions";
import { projectOf } from "./project.js";

const ENTRIES = 500;
const LISTED = 20;

export const catalog = {
  what: `\`catalog.json\` of ${ENTRIES} entries, checked, beside \`JSON.parse\` of the same text`,
  bars: { "JSON.parse": 2 },
  samples: 30,
  async prepare() {
    const project = await projectOf([{ id: "bench", count: ENTRIES, mode: "child" }]);
    const text = readFileSync(join(project.folder, "bench", "catalog.json"), "utf8");
    const timed = (work) => () => {
      const before = performance.now();
      if (work(text).nodes.length !== ENTRIES) throw new Error("entries are missing");
      return performance.now() - before;
    };
    return {
      contenders: { "JSON.parse": timed(JSON.parse), millrace: timed(parseCatalog) },
      close: project.remove,
    };
  },
};

const STARTED = fileURLToPath(new URL("started.js", import.meta.url));

export const start = {
  what: `a server of which ${LISTED} extensions are listed, from the start of its process to its port, beside one without any`,
  bars: { none: 1.2 },
  samples: 3,
  warmMs: 1,
  async prepare() {
    const listed = Array.from({ length: LISTED }, (_, at) => ({
      id: `bench${at}`,
      count: 5,
      mode: "child",
    }));
    const project = await projectOf(listed);
    const timed = (list) => () => {
      const before = performance.now();
      const words = [STARTED, project.folder, ...list];
      const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
      if (status !== 0) throw new Error(`exit ${status}\n${stderr}`);
      return performance.now() - before;
    };
    return {
      contenders: { none: timed([]), millrace: timed(project.list) },
      close: project.remove,
    };
  },
};
