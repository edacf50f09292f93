/** `createAnalyser`: the answers of editors for one text at a time, each computed when it is first asked for. */

import type { Diagnostic } from "@millrace/contracts";
import { withForeignFixes } from "../check/foreign/foreign-fixes.ts";
import { mergeDiagnostics, validateInSteps } from "../check/validate-flow.ts";
import type { ParseResult } from "../read/parse-flow.ts";
import { isOtherDocument } from "../read/slips.ts";
import { SharedWork } from "../steps.ts";
import type { Span } from "../syntax/ast.ts";
import { changeEdits } from "./change/change-edits.ts";
import type { FlowChange } from "./change/flow-change.ts";
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
import type {
  Analyser,
  Analysis,
  Completion,
  Fold,
  Hover,
  InterfaceTypes,
  Link,
  Occurrence,
  Project,
  QuickFix,
  RenameResult,
  Signature,
  SymbolNode,
  Target,
  TextEdit,
} from "./types.ts";

/** Makes what analyses the texts of a project. No code of the project is run. */
export function createAnalyser(project: Project): Analyser {
  let version = {};
  return {
    analyse(text, previous) {
      const isSame = previous?.text === text && previous instanceof FlowAnalysis;
      return isSame && previous.version === version
        ? previous
        : new FlowAnalysis(new Reading(text, project), version);
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
  const reading =
    analysis instanceof FlowAnalysis ? analysis.reading : new Reading(analysis.text, NO_PROJECT);
  return changeEdits(reading, change);
}

/** An analysis of another copy of this package tells its text, but not its project. */
const NO_PROJECT: Project = { entry: () => undefined, types: () => [] };

class FlowAnalysis implements Analysis {
  readonly reading: Reading;
  /** The state of the project that it was made for. */
  readonly version: object;
  #names: NameIndex | undefined;
  readonly #diagnostics: SharedWork<readonly Diagnostic[]>;
  #format: readonly TextEdit[] | undefined;
  #symbols: readonly SymbolNode[] | undefined;
  #folds: readonly Fold[] | undefined;
  #links: readonly Link[] | undefined;

  constructor(reading: Reading, version: object) {
    this.reading = reading;
    this.version = version;
    this.#diagnostics = new SharedWork(() => findDiagnostics(reading));
  }

  get text(): string {
    return this.reading.text;
  }

  get parsed(): ParseResult {
    return this.reading.parsed;
  }

  get names(): NameIndex {
    this.#names ??= new NameIndex(this.reading);
    return this.#names;
  }

  diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics.result;
  }

  diagnosticsInSteps(): Generator<void, readonly Diagnostic[]> {
    return this.#diagnostics.steps();
  }

  completions(offset: number): readonly Completion[] {
    return completionsAt(this.reading, offset);
  }

  hover(offset: number): Hover | undefined {
    return hoverAt(this.reading, this.names, offset);
  }

  signature(offset: number): Signature | undefined {
    return signatureAt(this.text, offset);
  }

  definition(offset: number): Target | undefined {
    const place = this.names.at(offset);
    if (place !== undefined) return targetOf(place, this.reading);
    const link = this.links().find(({ start, end }) => start <= offset && offset <= end);
    const isFlow = link !== undefined && !link.target.startsWith("https:");
    return isFlow ? { uri: link.target, name: START, whole: START } : undefined;
  }

  references(offset: number): readonly Occurrence[] {
    const places = this.names.at(offset)?.named.places ?? [];
    return places.map((place) => ({
      ...nameSpan(place, this.text),
      isDeclaration: place.isDeclaration,
    }));
  }

  renamable(offset: number): { readonly span: Span; readonly name: string } | undefined {
    const place = this.names.at(offset);
    if (place === undefined || !isRenamable(place)) return undefined;
    return { span: nameSpan(place, this.text), name: place.named.name };
  }

  rename(offset: number, to: string): RenameResult {
    return renameEdits(this.reading, this.names, offset, to);
  }

  symbols(): readonly SymbolNode[] {
    this.#symbols ??= symbolsOf(this.reading);
    return this.#symbols;
  }

  folds(): readonly Fold[] {
    this.#folds ??= foldsOf(this.reading);
    return this.#folds;
  }

  selections(offset: number): readonly Span[] {
    return selectionsAt(this.reading, offset);
  }

  tokens(from?: number, to?: number): Uint32Array {
    return tokensOf(this.reading, this.names, from, to);
  }

  links(): readonly Link[] {
    this.#links ??= linksOf(this.reading);
    return this.#links;
  }

  format(): readonly TextEdit[] {
    this.#format ??= formatEdits(this.text);
    return this.#format;
  }

  fixesAt(from: number, to: number): readonly QuickFix[] {
    return fixesAt(this.diagnostics(), from, to);
  }

  fixAll(): readonly TextEdit[] {
    return fixAll(this.diagnostics());
  }

  interfaceTypes(): InterfaceTypes {
    return interfaceTypes(this.reading);
  }

  nodeAt(offset: number): string | undefined {
    return this.reading.nodeAt(offset)?.path;
  }

  placeOf(path: string): Span | undefined {
    const { model } = this.reading;
    let body = model.root;
    let pointer: string | undefined;
    for (const id of path.split("/")) {
      const node = body?.byId.get(id);
      if (node === undefined) return undefined;
      pointer = node.pointer;
      body = node.inner as typeof body;
    }
    const span = pointer === undefined ? undefined : this.reading.span(pointer);
    return span && { start: span.start, end: span.end };
  }
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
