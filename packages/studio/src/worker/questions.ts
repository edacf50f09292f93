/** The answers about the newest text. Loaded by the worker with the first text. */
import type { FieldValue } from "@millrace/contracts";
import { locate, parseFlow } from "@millrace/dsl";
import {
  type Analyser,
  type Analysis,
  applyEdits,
  type Completion,
  createAnalyser,
  editFlow,
  NODE_POLICY_NAMES,
  type Project,
} from "@millrace/dsl/editor";
import { withTranslation } from "@millrace/dsl/translate";
import { findNode } from "../page/state/flow-nodes.ts";
import { newNodeEdits } from "./new-node.ts";
import { pictureOf } from "./pictures.ts";
import type {
  FlowProblem,
  NodeReading,
  ProjectData,
  ReadValue,
  SentCompletion,
  TextQuestions,
  ValuePlace,
  WrittenValue,
} from "./protocol.ts";

/** The members of `TextQuestions`, each of which may take its time. */
type Answers = {
  readonly [Name in keyof TextQuestions]: (
    ...args: Parameters<TextQuestions[Name]>
  ) => ReturnType<TextQuestions[Name]> | Promise<ReturnType<TextQuestions[Name]>>;
};

/** Milliseconds of validation before other questions have their turn. */
const SLICE_MS = 8;

/** Answers about one text at a time. */
export class TextReader {
  #analyser: Analyser;
  #analysis: Analysis;

  constructor(project: ProjectData, text: string) {
    this.#analyser = createAnalyser(projectOf(project));
    this.#analysis = this.#analyser.analyse(text);
  }

  /** Takes another project; the text is read again by it. */
  setProject(project: ProjectData): void {
    this.#analyser = createAnalyser(projectOf(project));
    this.setText(this.#analysis.text);
  }

  /** Takes another text. */
  setText(text: string): void {
    this.#analysis = this.#analyser.analyse(text);
  }

  /** The answers about the text of now. */
  readonly answers: Answers = {
    completions: (offset) => this.#analysis.completions(offset).map(sendable),
    definition: (offset) => this.#analysis.definition(offset),
    diagnostics: () => this.#diagnostics(),
    fixesAt: (from, to) => this.#analysis.fixesAt(from, to),
    format: () => this.#analysis.format(),
    hover: (offset) => this.#analysis.hover(offset),
    renamable: (offset) => this.#analysis.renamable(offset),
    rename: (offset, to) => this.#analysis.rename(offset, to),
    signature: (offset) => this.#analysis.signature(offset),
    read: () => {
      const { graph, diagnostics } = this.#analysis.parsed;
      const isWhole = !diagnostics.some(
        ({ code, severity }) => severity === "error" && /^FLOW[01]/.test(code),
      );
      return {
        graph,
        picture: pictureOf(graph),
        isWhole,
        types: this.#analysis.interfaceTypes(),
      };
    },
    problems: async () => {
      const analysis = this.#analysis;
      return (await this.#diagnostics()).map((found): FlowProblem => {
        const node = found.range && analysis.nodeAt(found.range.start.offset);
        return node === undefined ? found : { ...found, node };
      });
    },
    edit: (change) => editFlow(this.#analysis, change),
    addNode: (node) => newNodeEdits(this.#analyser, this.#analysis, node),
    node: (path) => nodeReading(this.#analysis, path),
    nodeAt: (offset) => this.#analysis.nodeAt(offset),
    placeOf: (path) => this.#analysis.placeOf(path),
    completionsIn: (place, source, offset) => this.#completionsIn(place, source, offset),
  };

  async #diagnostics(): Promise<ReturnType<Analysis["diagnostics"]>> {
    const analysis = this.#analysis;
    const steps = analysis.diagnosticsInSteps();
    for (;;) {
      const until = performance.now() + SLICE_MS;
      do {
        const { done, value } = steps.next();
        if (done) return value;
      } while (performance.now() < until);
      await otherTurns();
      if (analysis.text !== this.#analysis.text) throw new Error("there is a newer text");
      if (analysis !== this.#analysis) return this.#diagnostics(); // by another project
    }
  }

  /** The value stands in the text as it is being typed, or as a new field. */
  #completionsIn(place: ValuePlace, source: string, offset: number): readonly SentCompletion[] {
    let analysis = this.#analysis;
    let span = valueSpan(analysis, place);
    if (span === undefined) {
      const { path, name: field } = place;
      if (place.isPolicy) return [];
      const edits = editFlow(analysis, { kind: "setField", path, field, value: null });
      analysis = this.#analyser.analyse(applyEdits(analysis.text, edits));
      span = valueSpan(analysis, place);
      if (span === undefined) return [];
    }
    const { text } = analysis;
    const typed = text.slice(0, span.from) + source + text.slice(span.to);
    const { from: start } = span;
    return this.#analyser
      .analyse(typed)
      .completions(start + offset)
      .filter(({ from, to }) => from >= start && to <= start + source.length)
      .map((each) => ({ ...sendable(each), from: each.from - start, to: each.to - start }));
  }
}

function projectOf({
  entries,
  connections,
  flows,
  vars = [],
  services,
  providers,
}: ProjectData): Project {
  const versions = new Map(entries.map((entry) => [`${entry.version} ${entry.type}`, entry]));
  const newest = new Map(entries.map((entry) => [entry.type, entry])); // the last one is the newest
  const catalog: Project = {
    entry: (type, version) =>
      version === undefined ? newest.get(type) : versions.get(`${version} ${type}`),
    types: () => newest.keys(),
    timeZones: new Set(["UTC", ...Intl.supportedValuesOf("timeZone")]),
    flows: () => flows,
    vars: () => vars,
    flowUri: (slug) => (flows.includes(slug) ? slug : undefined),
    connections: () => connections,
    ...(services !== undefined && { services }),
    ...(providers !== undefined && { providers }),
  };
  return { ...catalog, translate: (text, found) => withTranslation(text, found, catalog) };
}

/** Lets waiting messages be read. */
function otherTurns(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function sendable({ documentation, ...rest }: Completion): SentCompletion {
  return documentation === undefined ? rest : { ...rest, documentation: documentation() };
}

function spanAt(
  { parsed: { document } }: Analysis,
  pointer: string,
): { readonly from: number; readonly to: number } | undefined {
  const range = locate(document, pointer);
  return range && { from: range.start.offset, to: range.end.offset };
}

function valueSpan(analysis: Analysis, { path, name, isPolicy }: ValuePlace) {
  const found = findNode(analysis.parsed.graph, path);
  if (found === undefined) return undefined;
  return spanAt(analysis, pointerOf(found.pointer, name, isPolicy));
}

function pointerOf(node: string, name: string, isPolicy: boolean): string {
  const key = isPolicy ? (NODE_POLICY_NAMES.get(name) ?? name) : name;
  return `${node}/${isPolicy ? "policy" : "fields"}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function nodeReading(analysis: Analysis, path: string): NodeReading | undefined {
  const found = findNode(analysis.parsed.graph, path);
  const place = analysis.placeOf(path);
  if (found === undefined || place === undefined) return undefined;
  const { node, pointer } = found;
  const written = (name: string, value: FieldValue, isPolicy: boolean): WrittenValue => {
    const span = spanAt(analysis, pointerOf(pointer, name, isPolicy));
    return { name, source: span ? analysis.text.slice(span.from, span.to) : "", value };
  };
  const policy = (node.policy ?? {}) as Readonly<Record<string, FieldValue>>;
  return {
    path,
    id: node.id,
    type: node.type,
    fields: Object.entries(node.fields).map(([name, value]) => written(name, value, false)),
    policies: [...NODE_POLICY_NAMES].flatMap(([name, key]) => {
      const value = policy[key];
      return value === undefined ? [] : [written(name, value, true)];
    }),
    policyNames: [...NODE_POLICY_NAMES.keys()],
    from: place.start,
    to: place.end,
  };
}

/** The value of an expression in a field, or in a policy of that name. */
export function readValue(source: string, policy?: string): ReadValue {
  const name = policy === undefined ? "field" : `@${policy}`;
  const { graph, diagnostics } = parseFlow(`flow 1 f\n\nnode n: t {\n  ${name} = ${source}\n}\n`);
  const [problem] = diagnostics.filter(({ severity }) => severity === "error");
  if (problem !== undefined) return { problem: problem.message };
  const [node, ...others] = graph.nodes;
  const values: object = (policy === undefined ? node?.fields : node?.policy) ?? {};
  const [value, ...more] = Object.values(values) as FieldValue[];
  const isOne = value !== undefined && more.length === 0 && others.length === 0;
  return isOne ? { value } : { problem: "this is more than one value" };
}
