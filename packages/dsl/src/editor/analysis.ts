/** `createAnalyser`: the answers of editors for one text at a time, each computed when it is first asked for. */

import type { Diagnostic } from "@millrace/contracts";
import { withForeignFixes } from "../check/foreign/foreign-fixes.ts";
import type { BodyModel, NodeModel } from "../check/model/bodies.ts";
import { mergeDiagnostics, validateInSteps } from "../check/validate-flow.ts";
import { isOtherDocument } from "../read/slips.ts";
import { SharedWork } from "../steps.ts";
import type { Span } from "../syntax/ast.ts";
import { changeEdits } from "./change/change-edits.ts";
import { completionsAt } from "./completion/completions.ts";
import { fixAll, fixesAt } from "./fixes.ts";
import { formatEdits } from "./format.ts";
import { hoverAt } from "./hover.ts";
import { interfaceTypes } from "./interface-types.ts";
import { linksOf } from "./links.ts";
import { NameIndex, nameSpan, type Place } from "./names.ts";
import { foldsOf, selectionsAt, symbolsOf } from "./outline.ts";
import { Reading } from "./reading.ts";
import { isRenamable, renameEdits } from "./rename.ts";
import { signatureAt } from "./signature.ts";
import { tokensOf } from "./tokens.ts";
import type { Analyser, Analysis, FlowChange, Project, Target, TextEdit } from "./types.ts";

/** The text and project of each analysis, and the state of the project that it was made for. */
const SOURCES = new WeakMap<Analysis, { readonly reading: Reading; readonly version: object }>();

/** Makes what analyses the texts of a project. No code of the project is run. */
export function createAnalyser(project: Project): Analyser {
  let version = {};
  return {
    analyse(text, previous) {
      const isSame = previous?.text === text && SOURCES.get(previous)?.version === version;
      if (isSame) return previous;
      const reading = new Reading(text, project);
      const analysis = analysisOf(reading);
      SOURCES.set(analysis, { reading, version });
      return analysis;
    },
    changed() {
      version = {};
    },
  };
}

/**
 * The edits that make a change of the flow in its text. Only the items that change are touched; every other byte stays, also where
 * the text is not canonical. Throws `DslError` for a change that does not fit the flow, with the code and what to do.
 */
export function editFlow(analysis: Analysis, change: FlowChange): readonly TextEdit[] {
  const reading = SOURCES.get(analysis)?.reading ?? new Reading(analysis.text, NO_PROJECT);
  return changeEdits(reading, change);
}

/** An analysis of another copy of this package tells its text, but not its project. */
const NO_PROJECT: Project = { entry: () => undefined, types: () => [] };

function analysisOf(reading: Reading): Analysis {
  const { text } = reading;
  const work = new SharedWork(() => findDiagnostics(reading));
  const diagnostics = (): readonly Diagnostic[] => work.result;
  const names = once(() => new NameIndex(reading));
  const links = once(() => linksOf(reading));
  return {
    text,
    get parsed() {
      return reading.parsed;
    },
    diagnostics,
    diagnosticsInSteps: () => work.steps(),
    completions: (offset) => completionsAt(reading, offset),
    hover: (offset) => hoverAt(reading, names(), offset),
    signature: (offset) => signatureAt(text, offset),
    definition(offset) {
      const place = names().at(offset);
      if (place !== undefined) return targetOf(place, reading);
      const link = links().find(({ start, end }) => start <= offset && offset <= end);
      const isFlow = link !== undefined && !link.target.startsWith("https:");
      return isFlow ? { uri: link.target, name: START, whole: START } : undefined;
    },
    references(offset) {
      const places = names().at(offset)?.named.places ?? [];
      return places.map((place) => ({
        ...nameSpan(place, text),
        isDeclaration: place.isDeclaration,
      }));
    },
    renamable(offset) {
      const place = names().at(offset);
      if (place === undefined || !isRenamable(place)) return undefined;
      return { span: nameSpan(place, text), name: place.named.name };
    },
    rename: (offset, to) => renameEdits(reading, names(), offset, to),
    symbols: once(() => symbolsOf(reading)),
    folds: once(() => foldsOf(reading)),
    selections: (offset) => selectionsAt(reading, offset),
    tokens: (from, to) => tokensOf(reading, names(), from, to),
    links,
    format: once(() => formatEdits(text)),
    fixesAt: (from, to) => fixesAt(diagnostics(), from, to),
    fixAll: () => fixAll(diagnostics()),
    interfaceTypes: () => interfaceTypes(reading),
    nodeAt: (offset) => reading.nodeAt(offset)?.path,
    placeOf: (path) => placeOf(reading, path),
  };
}

/** A function whose result is computed when it is first asked for. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The stretch of a node by its path. */
function placeOf(reading: Reading, path: string): Span | undefined {
  let body: BodyModel | undefined = reading.model.root;
  let pointer = "";
  for (const id of path.split("/")) {
    const node: NodeModel | undefined = body?.byId.get(id);
    if (node === undefined) return undefined;
    pointer = node.pointer;
    body = node.inner;
  }
  const span = reading.span(pointer);
  return span && { start: span.start, end: span.end };
}

function* findDiagnostics(reading: Reading): Generator<void, readonly Diagnostic[]> {
  const { graph, document, diagnostics } = (yield* reading.readInSteps()).parsed;
  if (reading.project.translate && isOtherDocument(reading.text)) {
    return reading.project.translate(reading.text, diagnostics);
  }
  const found = yield* validateInSteps(graph, reading.project, { document });
  return withForeignFixes(reading.text, mergeDiagnostics(diagnostics, found), reading.project);
}

const START: Span = { start: 0, end: 0 };

/** Where the name of a place is declared. */
function targetOf({ named }: Place, reading: Reading): Target | undefined {
  const { declaration, pointer, body } = named;
  // A local that has its default name is declared by its node.
  const owner = body?.owner?.pointer;
  const name = declaration ?? (owner === undefined ? undefined : reading.span(`${owner}/id`));
  const holder = named.kind === "local" ? owner : pointer;
  const whole = (holder === undefined ? undefined : reading.span(holder)) ?? name;
  if (name === undefined || whole === undefined) return undefined;
  return {
    name: { start: name.start, end: name.end },
    whole: { start: whole.start, end: whole.end },
  };
}
