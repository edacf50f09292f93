/**
 * Open documents: one analysis a version, and diagnostics when typing pauses.
 *   D1  all requests of one version share one analysis.
 *   D2  a burst of changes costs one pass; a pass of an older version is dropped.
 */

import { type Analyser, type Analysis, createAnalyser, type Project } from "@millrace/dsl/editor";
import { TextDocument } from "vscode-languageserver-textdocument";

/** Pause of typing after which diagnostics are found. */
const PAUSE_MS = 120;
/** Diagnostics of a text that changes all the time are found this often. */
const LONGEST_WAIT_MS = 500;
/** Above this length a pass takes long enough to be felt: the pause is longer. */
const LONG_TEXT = 256 * 1024;
const LONG_PAUSE_MS = 300;
/** Above this length diagnostics are found when the text is opened or saved. */
const HUGE_TEXT = 1024 * 1024;

/** Timers, so that tests need not wait. */
export interface Timers {
  now(): number;
  /** Calls back after some milliseconds; the answer cancels. */
  after(ms: number, call: () => void): () => void;
}

/** Something wrong in a file of a project, which is not a flow. Line and character count from 0. */
export interface FileProblem {
  readonly uri: string;
  readonly line: number;
  readonly character: number;
  readonly message: string;
}

/** A project as far as it can be used, and what cannot. */
export interface FoundProject extends Project {
  readonly problems?: readonly FileProblem[];
}

/** Finds the project of a folder. */
export type ProjectFor = (folder: string) => FoundProject | Promise<FoundProject>;

/** A text that a client has open. */
export class OpenDocument {
  readonly text: TextDocument;
  readonly #analyser: () => Promise<Analyser>;
  #analysis: Analysis | undefined;

  constructor(text: TextDocument, analyser: () => Promise<Analyser>) {
    this.text = text;
    this.#analyser = analyser;
  }

  /** The analysis of the newest text. Rejects where the project cannot be had. */
  async analysis(): Promise<Analysis> {
    const analyser = await this.#analyser();
    const text = this.text.getText();
    if (this.#analysis?.text !== text) this.#analysis = analyser.analyse(text, this.#analysis);
    return this.#analysis;
  }
}

/** All open documents of one client. */
export class Documents {
  readonly #open = new Map<string, OpenDocument>();
  readonly #analysers = new Map<string, Promise<Analyser>>();
  readonly #waiting = new Map<string, { readonly since: number; readonly cancel: () => void }>();
  /** By the folder whose project has them; kept when its texts are closed, for the person now looks at those files. */
  readonly #problems = new Map<string, readonly FileProblem[]>();
  /** How often projects were forgotten: what was read before that does not count. */
  #turn = 0;
  readonly #projectFor: ProjectFor;
  readonly #timers: Timers;
  readonly #publish: (document: OpenDocument) => void;
  readonly #report: (problems: readonly FileProblem[]) => void;

  /** `publish` finds and sends the diagnostics of a text; `report` is given the problems of all projects, whenever one is read. */
  constructor(
    projectFor: ProjectFor,
    timers: Timers,
    publish: (document: OpenDocument) => void,
    report: (problems: readonly FileProblem[]) => void,
  ) {
    this.#projectFor = projectFor;
    this.#timers = timers;
    this.#publish = publish;
    this.#report = report;
  }

  get(uri: string): OpenDocument | undefined {
    return this.#open.get(uri);
  }

  open(uri: string, language: string, version: number, text: string): void {
    const document = TextDocument.create(uri, language, version, text);
    this.#open.set(uri, new OpenDocument(document, () => this.#analyserOf(uri)));
    this.#plan(uri, 0);
  }

  change(uri: string, version: number, changes: Parameters<typeof TextDocument.update>[1]): void {
    const document = this.#open.get(uri);
    if (document === undefined) return;
    const { length } = TextDocument.update(document.text, changes, version).getText();
    if (length > HUGE_TEXT) this.#cancel(uri);
    else this.#plan(uri, length > LONG_TEXT ? LONG_PAUSE_MS : PAUSE_MS);
  }

  save(uri: string): void {
    if (this.#open.has(uri)) this.#plan(uri, 0);
  }

  close(uri: string): void {
    this.#cancel(uri);
    this.#open.delete(uri);
    const folder = folderOf(uri);
    if (!this.#isUsed(folder)) this.#analysers.delete(folder);
  }

  /** Projects changed on disk: every open text is analysed anew, and so are projects with problems. */
  reload(): void {
    const unused = [...this.#problems.keys()].filter((folder) => !this.#isUsed(folder));
    this.#turn += 1;
    this.#analysers.clear();
    this.#problems.clear();
    for (const [uri, { text }] of this.#open) {
      this.#open.set(uri, new OpenDocument(text, () => this.#analyserOf(uri)));
      this.#plan(uri, PAUSE_MS);
    }
    for (const folder of unused) this.#read(folder).catch(() => {});
  }

  /** Nothing is published any more. */
  stop(): void {
    for (const uri of [...this.#waiting.keys()]) this.#cancel(uri);
    this.#open.clear();
  }

  /** Whether a text of a folder is open. */
  #isUsed(folder: string): boolean {
    return [...this.#open.keys()].some((uri) => folderOf(uri) === folder);
  }

  #analyserOf(uri: string): Promise<Analyser> {
    const folder = folderOf(uri);
    let analyser = this.#analysers.get(folder);
    if (analyser === undefined) {
      const made = this.#read(folder);
      analyser = made;
      this.#analysers.set(folder, made);
      // A project that could not be had is asked for again by the next request.
      made.catch(() => this.#analysers.get(folder) === made && this.#analysers.delete(folder));
    }
    return analyser;
  }

  async #read(folder: string): Promise<Analyser> {
    const turn = this.#turn;
    const project = await this.#projectFor(folder);
    const { problems = [] } = project;
    if (turn === this.#turn) {
      if (problems.length > 0) this.#problems.set(folder, problems);
      else this.#problems.delete(folder);
      this.#report([...this.#problems.values()].flat());
    }
    return createAnalyser(project);
  }

  #plan(uri: string, pauseMs: number): void {
    const since = this.#waiting.get(uri)?.since ?? this.#timers.now();
    this.#cancel(uri);
    const left = Math.max(0, since + LONGEST_WAIT_MS - this.#timers.now());
    const cancel = this.#timers.after(Math.min(pauseMs, left), () => {
      this.#waiting.delete(uri);
      const document = this.#open.get(uri);
      if (document !== undefined) this.#publish(document);
    });
    this.#waiting.set(uri, { since, cancel });
  }

  #cancel(uri: string): void {
    this.#waiting.get(uri)?.cancel();
    this.#waiting.delete(uri);
  }
}

/** The folder of a file as an address. */
function folderOf(uri: string): string {
  return uri.slice(0, uri.lastIndexOf("/") + 1);
}
