// Reading, printing and checking one graph, as data. Everyone gets the same graph in his own format; `flow` has comments,
// the others do not. `prepare` answers the function that is timed; `same` says whether its result is right.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { formatFlow, parseFlow, printFlow, validateFlow } from "@millrace/dsl";
import { sized, smoke } from "../size.js";
import { chevrotainJson, peggyJson } from "./grammars.js";

/** Where run.js puts the texts: results/corpus/mixed.flow, .json, .toml, .yaml, and the same of `wide`. */
export const corpusFolder = new URL("results/corpus/", import.meta.url);
const read = (name) => (format) => readFileSync(new URL(`${name}.${format}`, corpusFolder), "utf8");

const floor = (text) => {
  const json = text("json");
  return () => JSON.parse(json);
};
/** What parsing and printing again costs without anything to keep: no comments, no layout. */
const jsonTwice = (text) => {
  const json = text("json");
  return () => JSON.stringify(JSON.parse(json));
};

const parse = {
  "JSON.parse": floor,
  millrace: (text) => {
    const flow = text("flow");
    return () => parseFlow(flow).graph;
  },
  "smol-toml": async (text) => {
    const { parse } = await import("smol-toml");
    const toml = text("toml");
    return () => parse(toml);
  },
  "js-yaml": async (text) => {
    const { load } = await import("js-yaml");
    const yaml = text("yaml");
    return () => load(yaml);
  },
  yaml: async (text) => {
    const { parse } = await import("yaml");
    const yaml = text("yaml");
    return () => parse(yaml);
  },
  peggy: async (text) => {
    const parse = await peggyJson();
    const json = text("json");
    return () => parse(json);
  },
  chevrotain: async (text) => {
    const parse = await chevrotainJson();
    const json = text("json");
    return () => parse(json);
  },
};

const print = {
  "JSON.parse": floor,
  "JSON, both ways": jsonTwice,
  millrace: (text) => {
    const { graph } = parseFlow(text("flow"));
    return () => printFlow(graph);
  },
  "smol-toml": async (text) => {
    const { stringify } = await import("smol-toml");
    const graph = JSON.parse(text("json"));
    return () => stringify(graph);
  },
  "js-yaml": async (text) => {
    const { dump } = await import("js-yaml");
    const graph = JSON.parse(text("json"));
    return () => dump(graph);
  },
  yaml: async (text) => {
    const { stringify } = await import("yaml");
    const graph = JSON.parse(text("json"));
    return () => stringify(graph);
  },
};

const printDocument = {
  "JSON.parse": floor,
  "JSON, both ways": jsonTwice,
  millrace: (text) => {
    const { document } = parseFlow(text("flow"));
    return () => printFlow(document);
  },
};

const format = {
  "JSON.parse": floor,
  "JSON, both ways": jsonTwice,
  millrace: (text) => {
    const flow = text("flow");
    return () => formatFlow(flow).text;
  },
  yaml: async (text) => {
    const { parseDocument } = await import("yaml");
    const yaml = text("yaml");
    return () => parseDocument(yaml).toString();
  },
};

const validate = {
  "JSON.parse": floor,
  millrace: async (text) => {
    const { catalog } = await import("./corpus.js");
    const graph = JSON.parse(text("json"));
    return () => validateFlow(graph, catalog);
  },
};

const isGraph = (value, text) => isDeepStrictEqual(plain(value), JSON.parse(text("json")));
// The baseline of printing and validating is reading: it gives the graph.
const isText = (value) => Array.isArray(value.nodes) || value.length > sized(1_000_000, 1_000);
const isValid = (value) =>
  Array.isArray(value.nodes) || value.every(({ severity }) => severity === "warning");
/** Without prototypes of a peer's own. */
const plain = (value) => JSON.parse(JSON.stringify(value));

const ours = (contenders) => ({
  "JSON.parse": contenders["JSON.parse"],
  millrace: contenders.millrace,
});
const mixed = (bars, contenders, same) => ({ bars, contenders, same, input: read("mixed") });
/** A case without a bar. */
const shown = (contenders, same) => ({ ...mixed({}, contenders, same), long: !smoke });
const wide = (workMs, contenders, same) => ({
  size: "wide",
  long: true,
  bars: { workMs },
  contenders: ours(contenders),
  same,
  input: read("wide"),
});

export const textCases = {
  parse: mixed({ goal: 2, "JSON.parse": 2.5 }, parse, isGraph),
  "print graph": shown(print, isText),
  "print document": shown(printDocument, isText),
  format: mixed({ goal: 5, "JSON.parse": 6 }, format, isText),
  validate: shown(validate, isValid),
  "parse 100k": wide(1_500, parse, isGraph),
  "print 100k": wide(1_000, print, isText),
  "validate 100k": { ...wide(700, validate, isValid), long: smoke },
};
