// All cases by name; what a case is says ../rounds.js. A sample is a whole process, from its start to its end.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { svgCase } from "./svg-case.js";
import { treeCase } from "./tree-case.js";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/millrace.js", import.meta.url));
const HELLO = fileURLToPath(new URL("../../examples/01-hello/hello.flow", import.meta.url));
const SAMPLES = 7; // a process each, and one more of each contender beforehand, which also leaves the bytecode of the command

// Node 20 reads these certificates at every start, which takes twice as long as an empty script: ratios would say nothing of the command.
delete process.env.NODE_EXTRA_CA_CERTS;

/** A flow of so many nodes, each of which reads the one before: 7 kB at 50. */
function chain(count) {
  const nodes = Array.from({ length: count }, (_, at) => {
    const before = at === 0 ? "inputs.start" : `n${at - 1}.value.sum`;
    return `# Step ${at} of the chain, one of many.\nnode n${at}: transform {\n  value = { sum: ${before} + ${at}, says: "Adds ${at} to what came before" }\n}\n`;
  });
  return `flow 1 chain\n\ninput start: int = 0\n\n${nodes.join("\n")}\noutput sum: int = n${count - 1}.value.sum\n`;
}

/** Milliseconds of the processor that a process takes, all its threads together; the clock would count what else the machine does. */
function started(words) {
  const timed = ["-c", 'TIMEFORMAT="%3U %3S"; time "$@" 2>&3', "bash", process.execPath, ...words];
  const stdio = ["pipe", "pipe", "pipe", "pipe"];
  const { status, output } = spawnSync("bash", timed, { encoding: "utf8", stdio });
  if (status !== 0) throw new Error(`${words.join(" ")}: exit ${status}\n${output[3]}`);
  const [user, system] = output[2].trim().split(" ").map(Number);
  return (user + system) * 1_000;
}

/** One command line beside an empty script. `words` gets the folder with `chain.flow`; `before`: what is run there first. */
function startCase(what, bar, words, before) {
  return {
    what,
    bars: { empty: bar },
    samples: SAMPLES,
    warmMs: 1,
    prepare() {
      const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
      const empty = join(folder, "empty.mjs");
      writeFileSync(empty, "");
      writeFileSync(join(folder, "chain.flow"), chain(50));
      process.env.MILLRACE_HOME = folder;
      if (before !== undefined) started([BIN, ...before]);
      return {
        contenders: {
          empty: () => started([empty]),
          millrace: () => started([BIN, ...words(folder)]),
        },
        close: () => rmSync(folder, { recursive: true }),
      };
    },
  };
}

export const cases = {
  version: startCase("`millrace --version`", 1.5, () => ["--version"]),
  completion: startCase("`millrace completion bash`", 1.5, () => ["completion", "bash"]),
  help: startCase("`millrace --help`", 1.75, () => ["--help"]),
  validate: startCase("`millrace validate` of 50 nodes, 7 kB", 3.25, (folder) => [
    "validate",
    join(folder, "chain.flow"),
  ]),
  run: startCase("`millrace run` of the first example", 3.5, () => ["run", HELLO]),
  list: startCase("`millrace runs list` of one run", 3.25, () => ["runs", "list"], [
    "run",
    HELLO,
    "--save",
  ]),
  search: startCase("`millrace services search mail`", 2.75, () => ["services", "search", "mail"]),
  tree: treeCase,
  svg: svgCase,
};
