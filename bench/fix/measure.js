// Texts with slips, mended as `millrace validate --fix` mends a file, and what came of them.
import { readdirSync, readFileSync } from "node:fs";
import { checkFlow, digest } from "@millrace/dsl";
import { fixText } from "@millrace/dsl/editor";
import { withTranslation } from "@millrace/dsl/translate";
import { createStandardRegistry } from "@millrace/server/registry";
import * as yaml from "yaml";
import { createRandom } from "../random.js";
import { sized } from "../size.js";
import { pick } from "./places.js";
import { SLIPS } from "./slips.js";

/** Share of the texts that must end in the graph of their reference. */
export const BAR = 0.8;

/** Chances of one to four slips in a text. */
const COUNTS = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4];

const catalog = createStandardRegistry().catalog();
const check = (text) => {
  const checked = checkFlow(text, catalog);
  return {
    ...checked,
    text,
    diagnostics: withTranslation(text, checked.diagnostics, catalog, yaml),
  };
};
const isValid = ({ diagnostics }) => diagnostics.every(({ severity }) => severity !== "error");

/** The tasks with their reference flows; the first line of a flow says what it is for. */
export function readTasks() {
  const folder = new URL("tasks/", import.meta.url);
  const texts = readdirSync(folder).flatMap((file) =>
    readFileSync(new URL(file, folder), "utf8").split("====\n"),
  );
  const tasks = texts.map((text) => ({ text, task: /^# (.*)/.exec(text)?.[1] ?? "" }));
  return tasks.slice(0, sized(undefined, 5));
}

/** Every rule with its family. */
const RULES = Object.entries(SLIPS).flatMap(([family, rules]) =>
  Object.entries(rules).map(([name, apply]) => ({ family, name, apply })),
);

/** A text with one to four slips of different families, and their names. Documents in another format have no other slip. */
function slipped(text, random) {
  const wanted = pick(COUNTS, random);
  const made = [];
  const families = new Set();
  let changed = text;
  for (let tries = 0; made.length < wanted && tries < 40; tries += 1) {
    const { family, name, apply } = pick(RULES, random);
    if (families.has(family) || (family === "documents" && made.length > 0)) continue;
    const next = apply(changed, random);
    if (next === undefined || next === changed) continue;
    changed = next;
    made.push(name);
    families.add(family);
    if (family === "documents") break;
  }
  return { text: changed, made };
}

/** What becomes of a text: `same` graph as the reference, another one that is `valid`, or `invalid`. */
export async function mend(text, reference) {
  const { fixed } = await fixText(check(text), check);
  const end = !isValid(fixed) ? "invalid" : isSame(fixed.graph, reference) ? "same" : "valid";
  return { end, fixed };
}

function isSame(graph, reference) {
  const { graph: wanted } = checkFlow(reference, catalog);
  const id = { id: "x" };
  return digest({ ...graph, ...id }) === digest({ ...wanted, ...id });
}

/** Mends every task with every seed: what came of each text. */
export async function measure(seeds) {
  const rows = [];
  for (const [index, { task, text }] of readTasks().entries())
    for (let seed = 0; seed < seeds; seed += 1) {
      const wrong = slipped(text, createRandom(1000 * seed + index));
      const { end, fixed } = await mend(wrong.text, text);
      rows.push({ task, seed, ...wrong, end, fixed });
    }
  return rows;
}

/** What share of texts ended in each way. */
export function shares(rows) {
  const share = (end) => rows.filter((row) => row.end === end).length / rows.length;
  return { same: share("same"), valid: share("valid"), invalid: share("invalid") };
}

/** Mends each rule alone in every task that has a place for it. */
export async function measureRules() {
  const rules = [];
  for (const { family, name, apply } of RULES) {
    const samples = [];
    for (const [index, { text }] of readTasks().entries()) {
      const wrong = apply(text, createRandom(index));
      if (wrong === undefined || wrong === text) continue;
      samples.push({ wrong, ...(await mend(wrong, text)) });
    }
    rules.push({ family, name, samples });
  }
  return rules.filter(({ samples }) => samples.length > 0);
}
