/**
 * A flow that is open for editing: its text, its analysis, and the server's version.
 *   E1  The text is the truth: every edit is one change of the text, and one step of its Undo.
 *   E2  A change is computed for the text of now; when somebody typed meanwhile, it is computed again.
 *   E3  No text is lost: what is not saved is a draft, and a save that was refused changes nothing.
 *   E4  What was changed on the server since the text began is not overwritten without a question.
 */
import type { FlowChange, TextEdit } from "@millrace/dsl/editor";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import type { FlowProblem, FlowReading, NewNode, TextQuestions } from "../../worker/protocol.ts";
import { type Backend, detailOf, hasCode } from "../backend.ts";
import type { Drafts, Kept } from "./drafts.ts";
import { asEdited, isStoredAs, type Stored } from "./stored-flow.ts";
import { plainText, type TextHolder } from "./text-holder.ts";

/** Answers about texts; a question about a text that is not the newest is refused. */
export type Ask = <Name extends keyof TextQuestions>(
  text: string,
  name: Name,
  ...args: Parameters<TextQuestions[Name]>
) => Promise<ReturnType<TextQuestions[Name]>>;

/** Dependencies of a session. */
export interface FlowSessionPorts {
  readonly ask: Ask;
  readonly backend: Pick<Backend, "call">;
  readonly drafts: Drafts;
  readonly now: () => number;
}

/** Members of a flow besides its text, for a save. */
export interface FlowDetails {
  readonly slug: string;
  readonly name?: string;
  readonly description?: string;
  readonly tags?: string[];
}

/** How a save ended. `changed`: the server has another version now, or a flow of that slug already, and `detail` is what it says. */
export type Saved =
  | { readonly kind: "saved"; readonly stored: Stored }
  | { readonly kind: "changed"; readonly stored: Stored; readonly detail: string | undefined };

/** Pause of typing after which the text is read. */
const PAUSE_MS = 100;
/** It is read this often while somebody types. */
const LONGEST_WAIT_MS = 400;
/** A change meets a text that somebody types in at most so often. */
const MAX_TRIES = 20;

/** A flow that is open. */
export class FlowSession {
  readonly #ports: FlowSessionPorts;
  #holder: TextHolder;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since: number | undefined;
  #etag: string | undefined;
  #isOver = false;
  /** Edits on their way into the text. */
  readonly #edits = new Set<Promise<void>>();
  /** When the text was typed. */
  #typedAt: number;

  readonly #stored = signal<Stored | undefined>(undefined);
  readonly #reading = signal<FlowReading | undefined>(undefined);
  readonly #problems = signal<readonly FlowProblem[] | undefined>(undefined);
  readonly #isDirty = signal(false);
  readonly #restored = signal<number | undefined>(undefined);
  readonly #kept = signal<Kept>("kept");
  readonly #failure = signal<unknown>(undefined);

  /** The flow as the server has it; undefined: it was never saved. */
  readonly stored: ReadonlySignal<Stored | undefined> = this.#stored;
  /** Analysis of the newest text; undefined: not done yet. */
  readonly reading: ReadonlySignal<FlowReading | undefined> = this.#reading;
  /** Problems of the text; undefined: not known yet. */
  readonly problems: ReadonlySignal<readonly FlowProblem[] | undefined> = this.#problems;
  /** Whether the text differs from what the server has. */
  readonly isDirty: ReadonlySignal<boolean> = this.#isDirty;
  /** When the draft was typed that took the place of the stored text; undefined: there was none, or it was dealt with. */
  readonly restored: ReadonlySignal<number | undefined> = this.#restored;
  /** Whether the text would survive a reload. */
  readonly kept: ReadonlySignal<Kept> = this.#kept;
  /** Why the newest text could not be read; undefined: it was, or will be. */
  readonly failure: ReadonlySignal<unknown> = this.#failure;

  /** `given`: the flow as the server has it; absent for one that was never saved. A draft of it takes its place. */
  constructor(given: Stored | undefined, ports: FlowSessionPorts, initial = "") {
    const stored = given && asEdited(given);
    this.#ports = ports;
    const saved = stored?.template.dsl ?? initial;
    const draft = ports.drafts.read(stored?.template.slug ?? "");
    const isOther = draft !== undefined && draft.text !== saved;
    this.#stored.value = stored;
    this.#etag = isOther ? draft.etag : stored?.etag;
    this.#restored.value = isOther ? draft.at : undefined;
    this.#isDirty.value = isOther;
    this.#typedAt = isOther ? draft.at : ports.now();
    this.#holder = plainText(isOther ? draft.text : saved);
    void this.#read();
  }

  get text(): string {
    return this.#holder.text;
  }

  /** Goes on with the text in an editor, which has the text of now. */
  attach(holder: TextHolder): void {
    this.#holder = holder;
  }

  /** The editor goes away; its text stays. */
  detach(): void {
    this.#holder = plainText(this.#holder.text);
  }

  /** Keeps what is not saved, as the page may go away now. */
  keep(): void {
    if (this.#isDirty.peek() && !this.#isOver) this.#keepDraft();
  }

  /** Ends reading. What is not saved is a draft, with the edits that are on their way. */
  close(): void {
    this.keep();
    clearTimeout(this.#timer);
    this.#isOver = true;
  }

  /** The flow was deleted, and its draft with it. */
  forget(): void {
    this.#ports.drafts.remove(this.#stored.peek()?.template.slug ?? "");
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isOver = true;
  }

  /** The text was changed: it is read, and kept as a draft, when typing pauses. */
  textChanged(): void {
    this.#isDirty.value = true;
    const now = this.#ports.now();
    this.#typedAt = now;
    if (this.#isOver) {
      this.#keepDraft();
      return;
    }
    this.#since ??= now;
    clearTimeout(this.#timer);
    const left = Math.max(0, this.#since + LONGEST_WAIT_MS - now);
    this.#timer = setTimeout(() => this.#settle(), Math.min(PAUSE_MS, left));
  }

  /** Reads the text once more, as what is known outside of it has changed. */
  readAgain(): Promise<void> {
    return this.#read();
  }

  /** Asks about the text of now; undefined: it was changed meanwhile, or there is no answer, and `failure` says why. */
  async ask<Name extends keyof TextQuestions>(
    name: Name,
    ...args: Parameters<TextQuestions[Name]>
  ): Promise<ReturnType<TextQuestions[Name]> | undefined> {
    const { text } = this;
    try {
      const answer = await this.#ports.ask(text, name, ...args);
      return this.text === text ? answer : undefined;
    } catch (error) {
      if (this.text === text && !this.#isOver) this.#failure.value = error;
      return undefined;
    }
  }

  /** Makes a change of the flow, which may still have to be read from what was typed. Rejects with the reason where it does not fit. */
  change(change: FlowChange | Promise<FlowChange>): Promise<void> {
    return this.#edit("canvas", async (text) => this.#ports.ask(text, "edit", await change));
  }

  /** Resolves when the edits that are on their way are in the text, or were refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#edits);
  }

  /** Adds a node, with fields that fit the flow. Rejects with the reason where it does not fit. */
  addNode(node: NewNode): Promise<void> {
    return this.#edit("canvas", (text) => this.#ports.ask(text, "addNode", node));
  }

  /** Brings the text into canonical form; false: it is, or has errors of syntax. */
  async format(): Promise<boolean> {
    const before = this.text;
    await this.#edit("input.format", (text) => this.#ports.ask(text, "format"));
    return this.text !== before;
  }

  /** Applies a fix of a problem. */
  fix({ code, range }: FlowProblem, title: string): Promise<void> {
    if (range === undefined) return Promise.resolve();
    const { start, end } = range;
    return this.#edit("input.fix", async (text) => {
      const fixes = await this.#ports.ask(text, "fixesAt", start.offset, end.offset);
      const found = fixes.find((each) => each.diagnostic.code === code && each.title === title);
      return found?.edits ?? [];
    });
  }

  /** Puts another text in the place of this one, as one step of Undo. */
  replace(text: string): void {
    const edit = differenceOf(this.text, text);
    if (edit !== undefined) this.#apply([edit], "input.replace");
  }

  /** Goes back to what the server has. */
  discardDraft(): void {
    const stored = this.#stored.peek();
    this.#etag = stored?.etag;
    this.#restored.value = undefined;
    this.replace(stored?.template.dsl ?? "");
    this.#settle();
  }

  /** The text that was restored is the one to go on with. */
  keepDraft(): void {
    this.#restored.value = undefined;
  }

  /**
   * Stores the text. Rejects with what the server refuses, and the text stays. A slug other than that of the flow makes a new one.
   */
  async save({ slug, ...details }: FlowDetails): Promise<Saved> {
    await this.settled();
    const { text } = this;
    const isNew = this.#stored.peek()?.template.slug !== slug;
    const condition = isNew ? { ifNoneMatch: "*" } : this.#etag ? { ifMatch: this.#etag } : {};
    let stored: Stored;
    try {
      // What somebody has written is stored also while it does not run yet.
      const args = { slug, dsl: text, takeErrors: true, ...details, ...condition };
      const { value: template, etag } = await this.#ports.backend.call("save_template", args);
      stored = asEdited({ template, etag });
    } catch (error) {
      if (!hasCode(error, "etag_mismatch")) throw error;
      stored = await this.#newest(slug);
      // A browser repeats a request whose answer was lost: the first one has stored the text, in canonical form.
      const sent = plainText(text);
      sent.apply(await this.#ports.ask(text, "format").catch(() => []), "");
      const isOurs = isStoredAs(stored, { ...details, dsl: sent.text });
      if (!isOurs) return { kind: "changed", stored, detail: detailOf(error) };
    }
    await this.#saved(stored, text);
    return { kind: "saved", stored };
  }

  /** Reads the server's version after it has replaced the one that this text began from. */
  async #newest(slug: string): Promise<Stored> {
    const { backend } = this.#ports;
    try {
      const { value: template, etag } = await backend.call("get_template", { slug });
      return asEdited({ template, etag });
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error;
      this.#stored.value = undefined;
      throw new Error("the flow was deleted on the server; save once more to store it anew");
    }
  }

  /** Answers "Changed on the server": this text is to replace that version. */
  keepMine({ etag }: Stored): void {
    this.#etag = etag;
  }

  /** Answers "Changed on the server": that version takes the place of this text; Undo brings this one back. */
  takeTheirs(stored: Stored): void {
    batch(() => {
      this.#stored.value = stored;
      this.#etag = stored.etag;
      this.#restored.value = undefined;
      this.replace(stored.template.dsl);
    });
    this.#settle();
  }

  /** The server keeps the canonical form: the text takes it, where nobody typed meanwhile. */
  async #saved(stored: Stored, text: string): Promise<void> {
    const before = this.#stored.peek()?.template.slug ?? "";
    const { slug, dsl } = stored.template;
    this.#etag = stored.etag;
    batch(() => {
      this.#stored.value = stored;
      this.#restored.value = undefined;
    });
    if (before !== slug) this.#ports.drafts.remove(before);
    if (this.text === text && text !== dsl) await this.format().catch(() => undefined);
    this.#settle();
  }

  #edit(userEvent: string, compute: (text: string) => Promise<readonly TextEdit[]>): Promise<void> {
    const edit = this.#makeEdit(userEvent, compute).finally(() => this.#edits.delete(edit));
    this.#edits.add(edit);
    return edit;
  }

  async #makeEdit(
    userEvent: string,
    compute: (text: string) => Promise<readonly TextEdit[]>,
  ): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { text } = this;
      let edits: readonly TextEdit[];
      try {
        edits = await compute(text);
      } catch (error) {
        if (this.text !== text) continue;
        throw error;
      }
      if (this.text !== text) continue;
      if (edits.length > 0) this.#apply(edits, userEvent);
      return;
    }
    throw new Error("the text changes all the time; try again when nobody types");
  }

  #apply(edits: readonly TextEdit[], userEvent: string): void {
    this.#holder.apply(edits, userEvent);
    this.textChanged();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#since = undefined;
    if (this.#isOver) return;
    this.#isDirty.value = this.text !== (this.#stored.peek()?.template.dsl ?? "");
    this.#keepDraft();
    void this.#read();
  }

  #keepDraft(): void {
    const { drafts } = this.#ports;
    const stored = this.#stored.peek()?.template;
    const slug = stored?.slug ?? "";
    if (this.text === (stored?.dsl ?? "")) {
      drafts.remove(slug);
      this.#kept.value = "kept";
      return;
    }
    const etag = this.#etag;
    this.#kept.value = drafts.write(slug, {
      text: this.text,
      at: this.#typedAt,
      ...(etag !== undefined && { etag }),
    });
  }

  async #read(): Promise<void> {
    const { text } = this;
    const isNow = (): boolean => this.text === text && !this.#isOver;
    try {
      const reading = await this.#ports.ask(text, "read");
      // What is asked about an old text would post it again, and then the newest one.
      if (!isNow()) return;
      this.#reading.value = reading;
      const problems = await this.#ports.ask(text, "problems");
      if (!isNow()) return;
      this.#problems.value = problems;
      this.#failure.value = undefined;
    } catch (error) {
      // A text that was changed meanwhile is read again.
      if (isNow()) this.#failure.value = error;
    }
  }
}

/** The one edit that makes a text of another; undefined: they are the same. */
export function differenceOf(before: string, after: string): TextEdit | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from: start, to: before.length - end, text: after.slice(start, after.length - end) };
}
