/**
 * Model and tool calls of one attempt, as its body tells of them.
 *   C1  every call is closed once, on its own attempt, at the latest when that ends.
 *   C2  deltas of a call and channel follow each other without a gap. The first goes out at once; later ones gather.
 *   C3  no piece of a known secret goes out: what may be the beginning of one waits for what follows.
 */
import { type CallView, type DeltaChannel, EVENT_LIMITS, NodeError } from "@millrace/contracts";
import type { Report } from "../node-type.ts";
import { emitReport } from "./emit.ts";
import { RUNNING } from "./frame.ts";
import { interruptedCall, type RecoveredCall, TOOL_INTERRUPTED } from "./recover/recovered-run.ts";
import type { Attempt } from "./state.ts";
import type { Timer } from "./timers.ts";

const GATHER_MS = 16; // a frame of a screen: too short to be seen

type Delta = Extract<Report, { kind: "llm.delta" }>;

/** A call that has begun and not ended. */
interface OpenCall {
  readonly kind: CallView["kind"];
  readonly startedAt: number;
  /** Units that went out, by channel. */
  readonly lengths: { [C in DeltaChannel]?: number };
  /** Text that has not gone out, by channel. */
  readonly held: { [C in DeltaChannel]?: string };
  firstTokenAt: number | null;
  /** It was open when its process died. */
  readonly isRecovered: boolean;
}

export class Calls {
  readonly #attempt: Attempt;
  readonly #open: Map<string, OpenCall> = new Map();
  #finished: Set<string> | null = null;
  #timer: Timer | null = null;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** A call that was open when the process died: it ends as interrupted. */
  adopt({ call, kind, startedAt, lengths }: RecoveredCall): void {
    const more = { held: {}, firstTokenAt: null, isRecovered: true };
    this.#open.set(call, { kind, startedAt, lengths, ...more });
  }

  /**
   * Writes what the body tells. Nothing begins in a run that ends, and what belongs to a call that is not open is dropped.
   * Throws `NodeError` `internal` for an id that was used before.
   */
  report(report: Report): void {
    const { run, frame, node } = this.#attempt;
    if (frame.state(node) !== RUNNING) return; // entered again after a restart: it was said before
    switch (report.kind) {
      case "llm.started":
      case "tool.started":
        this.#begin(report);
        return;
      case "llm.delta":
        this.#hold(report);
        return;
      case "llm.finished":
      case "llm.failed":
      case "tool.finished":
        this.#end(report);
        return;
      case "llm.rejected":
        if (this.#finished?.has(report.call)) this.#emit(report);
        return;
      case "node.checked":
        if (run.stop === null) this.#emit(report);
    }
  }

  /** Puts a delta to those that gather already; false: it has to be reported. */
  gathers(report: Report): boolean {
    if (this.#timer === null || report.kind !== "llm.delta") return false;
    const { channel, text } = report;
    const held = this.#open.get(report.call)?.held;
    const before = held?.[channel];
    if (before === undefined || before.length + text.length >= EVENT_LIMITS.deltaText) return false;
    (held as OpenCall["held"])[channel] = before + text;
    return true;
  }

  /** Ends what was open when the process died: the node works again. */
  closeRecovered(): void {
    this.#closeAll([...this.#open].filter(([, { isRecovered }]) => isRecovered));
  }

  /** Ends every call that is open: the attempt is over. */
  close(): void {
    this.#closeAll([...this.#open]);
    this.#attempt.run.engine.timers.cancel(this.#timer);
    this.#timer = null;
  }

  #closeAll(calls: readonly [string, OpenCall][]): void {
    for (const [call, { kind, isRecovered, startedAt, lengths }] of calls) {
      if (isRecovered) {
        const recovered = { call, kind, startedAt, lengths };
        this.#end(interruptedCall(recovered, { message: TOOL_INTERRUPTED, durationMs: 0 }));
      } else if (kind === "llm") {
        this.#end({ kind: "llm.failed", call, reason: "aborted", next: "none" });
      } else this.#end({ kind: "tool.finished", call, outcome: "cancelled" });
    }
  }

  #begin(report: Extract<Report, { kind: "llm.started" | "tool.started" }>): void {
    const { run } = this.#attempt;
    if (run.stop !== null) return;
    if (!run.calls.take(report.call)) {
      throw new NodeError("internal", `the call id ${report.call} was used before`);
    }
    this.#open.set(report.call, {
      kind: report.kind === "llm.started" ? "llm" : "tool",
      startedAt: run.now,
      lengths: {},
      held: {},
      firstTokenAt: null,
      isRecovered: false,
    });
    this.#emit(report);
  }

  #hold({ call, channel, text }: Delta): void {
    const open = this.#open.get(call);
    if (open === undefined || open.isRecovered || text === "") return;
    open.firstTokenAt ??= this.#attempt.run.now;
    const held = (open.held[channel] ?? "") + text;
    open.held[channel] = held;
    const isFirst = open.lengths[channel] === undefined;
    if (isFirst || held.length >= EVENT_LIMITS.deltaText) this.#flush(call, open, false);
    else this.#gather();
  }

  #gather(): void {
    const { run } = this.#attempt;
    this.#timer ??= run.engine.timers.set(run.now + GATHER_MS, () => {
      this.#timer = null;
      run.tick();
      for (const [call, open] of this.#open) this.#flush(call, open, false);
      run.pump();
    });
  }

  /** Sends what is held. Unless it is `all`, what may be half of a pair or of a secret stays. */
  #flush(call: string, open: OpenCall, all: boolean): void {
    const { redactor } = this.#attempt.run;
    for (const channel of Object.keys(open.held) as DeltaChannel[]) {
      const held = open.held[channel] ?? "";
      let ready = held.length;
      if (!all) {
        ready -= redactor?.unsure(held) ?? 0;
        if (ready > 0 && isHighSurrogate(held.charCodeAt(ready - 1))) ready -= 1;
      }
      open.held[channel] = held.slice(ready);
      const text = held.slice(0, ready);
      this.#send(call, open, { channel, text: redactor?.clean(text) ?? text });
    }
  }

  #send(call: string, open: OpenCall, what: { channel: DeltaChannel; text: string }): void {
    const { channel, text } = what;
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + EVENT_LIMITS.deltaText);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
      const offset = open.lengths[channel] ?? 0;
      const piece = text.slice(at, end);
      emitReport(this.#attempt, { kind: "llm.delta", call, channel, offset, text: piece });
      open.lengths[channel] = offset + piece.length;
      at = end;
    }
  }

  #end(report: Extract<Report, { kind: "llm.finished" | "llm.failed" | "tool.finished" }>): void {
    const { call } = report;
    const open = this.#open.get(call);
    if (open === undefined || (report.kind === "tool.finished") !== (open.kind === "tool")) return;
    const { run } = this.#attempt;
    this.#flush(call, open, true);
    this.#open.delete(call);
    const { lengths, startedAt, firstTokenAt } = open;
    const durationMs = Math.max(0, run.now - startedAt);
    if (report.kind === "tool.finished") {
      emitReport(this.#attempt, { ...report, durationMs });
      return;
    }
    run.calls.add(report);
    if (report.kind === "llm.finished") {
      this.#finished ??= new Set();
      this.#finished.add(call);
      const first = firstTokenAt === null ? {} : { firstTokenMs: firstTokenAt - startedAt };
      emitReport(this.#attempt, { ...first, ...report, lengths: { ...lengths }, durationMs });
      return;
    }
    const discarded = Object.values(lengths).reduce((sum, units) => sum + units, 0);
    emitReport(this.#attempt, { ...report, discarded });
  }

  #emit(report: Parameters<typeof emitReport>[1]): void {
    for (const [call, open] of this.#open) this.#flush(call, open, false);
    emitReport(this.#attempt, report);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
