// The flows that are timed, from one seed: `mixed` (2,600 nodes, about 1 MB of text, what people and models write) and
// `wide` (100,000 small nodes, 150,000 edges). Both are valid against `catalog`.

import { aiPack } from "@millrace/ai";
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { printFlow } from "@millrace/dsl";
import { createRegistry } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";
import { createRandom } from "../random.js";
import { sized } from "../size.js";

const random = createRandom(42);
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];

const WORDS =
  "order invoice customer refund status report summary region carrier parcel café naïve größe late paid open closed today please check".split(
    " ",
  );
const words = (n) => Array.from({ length: n }, () => pick(WORDS)).join(" ");

const ask = defineNodeType({
  type: "bench.ask",
  title: "Ask",
  summary: "Stands for a node with prompts.",
  effect: "pure",
  fields: jsonSchema({
    type: "object",
    required: ["prompt"],
    additionalProperties: false,
    properties: {
      model: { type: "string" },
      system: { type: "string" },
      prompt: { type: "string" },
      temperature: { type: "number", minimum: 0, maximum: 2 },
      schema: { type: "object" },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["text"],
    properties: { text: { type: "string" } },
  }),
  run: () => ({ text: "" }),
});

/** Our own node types and the one above. */
export const catalog = createRegistry([aiPack(), servicesPack(), nodePack(), ask]).catalog();

const $ = (source) => ({ $: source });
const $t = (...parts) => ({ $t: parts });

/** Five nodes that fetch, choose, decide, ask and log; each kind as it is commonly written. */
function group(n) {
  const [fetch, rows, check, answer, note] = ["fetch", "rows", "check", "answer", "note"].map(
    (name) => `${name}-${n}`,
  );
  const nodes = [
    {
      id: fetch,
      type: "http.request",
      fields: {
        method: "GET",
        url: $t($("inputs.origin"), `/v${below(9)}/${pick(WORDS)}/${below(100_000)}`),
        query: { page: below(50), size: 100, base: $("inputs.base"), sort: ["name", "-created"] },
        headers: { Accept: "application/json", "X-Request": $t("r-", $("run.id"), `-${n}`) },
      },
      policy: {
        timeoutMs: 1_000 * (1 + below(60)),
        retry: { max: 3, backoff: "exponential", delayMs: 250, maxDelayMs: 10_000, jitter: true },
      },
    },
    {
      id: rows,
      type: "transform",
      fields: {
        value: {
          items: $(
            `sortBy(filter(${fetch}.body.items, r, r.score >= 0.${1 + below(9)} && r.kind in inputs.keep), r, -r.score)`,
          ),
          total: $(`${fetch}.body.count * ${1 + below(9)} + ${below(1_000)}`),
          label: words(4),
          weights: [below(100), below(100) / 8, -below(9), true, words(1)],
        },
      },
    },
    {
      id: check,
      type: "condition",
      fields: {
        if: $(`size(${rows}.value.items) > ${below(20)} || ${fetch}.status == 203 && !inputs.dry`),
      },
    },
    {
      id: answer,
      type: "bench.ask",
      fields: {
        model: pick(["small-1", "large-2"]),
        system: $t(
          `You are an analyst. Answer in `,
          $("inputs.base"),
          `.\n\nRules:\n  1. Quote "${words(3)}" once.\n  2. ${words(14)}.\n  3. The pattern is ^[A-Z]{2}\\d{6}$.\n`,
        ),
        prompt: $t(
          `<rows>\n`,
          $(`json(${rows}.value.items)`),
          `\n</rows>\n${words(12)}\n${words(10)}\n`,
        ),
        temperature: below(10) / 10,
        schema: {
          type: "object",
          required: ["title", "severity"],
          properties: {
            title: { type: "string", maxLength: 80 },
            severity: { enum: ["low", "mid", "high"] },
          },
        },
      },
    },
    {
      id: note,
      type: "log",
      fields: {
        level: pick(["info", "warn"]),
        message: $t(`${words(5)}: `, $(`${answer}?.text ?? "none"`), ` (${n})`),
      },
    },
  ];
  const edges = [
    [fetch, "out", rows],
    [rows, "out", check],
    [check, "true", answer],
    [check, "false", note],
    [answer, "out", note],
    ...(n % 8 === 0 ? [] : [[`note-${n - 1}`, "out", fetch]]),
  ];
  return { nodes, edges };
}

function flow(id, nodes, edges, layout) {
  const inputs = [
    { name: "origin", schema: { type: "string", format: "uri" }, default: "https://api.test" },
    { name: "base", schema: { type: "string" }, default: "EUR" },
    { name: "keep", schema: { type: "array", items: { type: "string" } }, default: ["a", "b"] },
    { name: "dry", schema: { type: "boolean" }, default: false },
  ];
  const outputs = [{ name: "last", value: $(nodes[0].id) }];
  return {
    version: 1,
    id,
    inputs,
    nodes,
    edges: edges.map(([from, port, to]) => ({ from, port, to })),
    outputs,
    connections: [],
    schedules: [],
    layout,
  };
}

function mixed() {
  const groups = Array.from({ length: sized(520, 8) }, (_, n) => group(n));
  const nodes = groups.flatMap((one) => one.nodes);
  const layout = Object.fromEntries(
    nodes.map(({ id }, n) => [id, [(n % 5) * 240, Math.floor(n / 5) * 120]]),
  );
  return flow(
    "mixed",
    nodes,
    groups.flatMap((one) => one.edges),
    layout,
  );
}

function wide() {
  const count = 100_000;
  const nodes = Array.from({ length: count }, (_, n) => ({
    id: `n${n}`,
    type: "transform",
    fields: {
      value: n === 0 ? 0 : n % 2 ? $(`n${n - 1}.value + ${n}`) : $t("n ", $("inputs.base")),
    },
  }));
  const edges = nodes.slice(1).map(({ id }, n) => [`n${n}`, "out", id]);
  for (let n = 2; n <= count / 2 + 2; n++) edges.push([`n${n - 2 - below(n - 1)}`, "out", `n${n}`]);
  return flow("wide", nodes, edges, {});
}

/** Comments before and behind items, as a person would have them: JSON and TOML of the same graph have none. */
function withComments(text) {
  let n = 0;
  const third = (line, commented) => (n++ % 3 === 0 ? commented : line);
  return text
    .replace(/^node /gm, (node) => third(node, `# ${words(8)}\n${node}`))
    .replace(/^ {2}(level|value|if|model) = [^\n]*[^{["\n]$/gm, (line) =>
      third(line, `${line} # ${words(3)}`),
    );
}

/** A graph by name, and its text with comments. */
export function createCorpus(name) {
  const graph = { mixed, wide }[name]();
  return { graph, flow: withComments(printFlow(graph)) };
}
