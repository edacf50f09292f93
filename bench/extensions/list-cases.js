// What listed extensions cost before any of their code runs.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCatalog } from "@millrace/extensions";
import { sized } from "../size.js";
import { projectOf } from "./project.js";

const ENTRIES = sized(500, 20);
const LISTED = sized(20, 3);

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

function parseAndHash(text) {
  sha256(text);
  return JSON.parse(text);
}

/** The same catalog as no reader has seen it, as `ext build` writes it. */
function another(text, no) {
  const { catalogVersion, digest: _, ...body } = JSON.parse(text);
  body.nodes[0].title = `Action ${no}`;
  const digest = `sha256:${sha256(JSON.stringify(body))}`;
  return `${JSON.stringify({ catalogVersion, digest, ...body }, null, 2)}\n`;
}

function catalogCase(what, { bar, goal, isNew }) {
  return {
    what: `\`catalog.json\` of ${ENTRIES} entries, ${what}, against \`JSON.parse\` and SHA-256 of the text`,
    bars: { "parse + hash": bar },
    goals: { "parse + hash": goal },
    samples: 60,
    warmMs: 1_000,
    async prepare() {
      const project = await projectOf([{ id: "bench", count: ENTRIES, mode: "child" }]);
      const text = readFileSync(join(project.folder, "bench", "catalog.json"), "utf8");
      let no = 0;
      const timed = (work) => () => {
        if (isNew) no += 1;
        const next = another(text, no);
        const before = performance.now();
        if (work(next).nodes.length !== ENTRIES) throw new Error("entries are missing");
        return performance.now() - before;
      };
      return {
        contenders: { "parse + hash": timed(parseAndHash), millrace: timed(parseCatalog) },
        close: project.remove,
      };
    },
  };
}

export const catalog = catalogCase("read for the first time", { bar: 2.5, goal: 2, isNew: true });
export const catalogAgain = catalogCase("read again", { bar: 1.5, isNew: false });

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
