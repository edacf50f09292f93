/**
 * A provider that asks another one and writes down what came, as lines that `createRecordedProviders` reads.
 *   R3  Neither headers nor keys are written.
 *   R4  A line is written once the answer has ended, whole or not: with its `finish`, after which no reader has to ask again; what the reader gets is what the other one sent.
 */
import {
  type AiCall,
  type AiContext,
  type AiModel,
  type AiPart,
  type AiProvider,
  type AiStream,
  secretForms,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { type ErrorEntry, entryOf } from "./entry-error.ts";
import { answerKey, type RecordedAnswer } from "./recorded.ts";

/** Where a recording goes. */
export interface RecordOptions {
  /** Takes one line, without the line break. */
  readonly sink: (line: string) => void;
  /** Takes known secrets out of a line; the keys of the provider itself are taken out anyway. */
  readonly mask?: (line: string) => string;
  /** Epoch milliseconds; default the system's clock. */
  readonly now?: () => number;
}

const OPTIONS: OptionNames<RecordOptions> = { sink: true, mask: true, now: true };

/** The provider `inner`, written down. */
export function recordProvider(inner: AiProvider, options: RecordOptions): AiProvider {
  checkOptions("recordProvider", options, OPTIONS);
  return {
    ...inner,
    async languageModel(modelId, ctx) {
      const model = await inner.languageModel(modelId, ctx);
      return recorded(model, { ...options, mask: maskOf(ctx, options) });
    },
  };
}

function recorded(
  model: AiModel,
  { sink, mask, now = Date.now }: Required<Pick<RecordOptions, "mask">> & RecordOptions,
): AiModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    async doStream(call) {
      const start = now();
      const tape = tapeOf(call, (answer) => sink(mask(JSON.stringify(whole(answer, mask)))));
      try {
        const { stream } = await model.doStream(call);
        return { stream: copied(stream, tape, () => now() - start) };
      } catch (error) {
        tape.end(error);
        throw error;
      }
    },
  };
}

/** Collects one answer; only the first end counts. */
interface Tape {
  part(atMs: number, part: AiPart): void;
  end(error?: unknown): void;
}

function tapeOf(call: AiCall, write: (answer: RecordedAnswer) => void): Tape {
  const parts: { atMs: number; part: AiPart }[] = [];
  let failed: ErrorEntry | undefined;
  let ended = false;
  const tape: Tape = {
    part(atMs, part) {
      // An error in the stream holds the whole request; what it means is kept, and it ends the answer.
      if (part.type === "error") failed ??= entryOf(part["error"]);
      else if (part.type !== "raw" && failed === undefined) parts.push({ atMs, part });
      if (part.type === "finish") tape.end();
    },
    end(error) {
      if (ended) return;
      ended = true;
      const reason = failed ?? (error === undefined ? undefined : entryOf(error));
      write({ key: answerKey(call), ...(reason && { error: reason }), parts });
    },
  };
  return tape;
}

/** A part that holds half a secret still leaks it: where a text as a whole has a secret, its parts become one part. */
function whole(answer: RecordedAnswer, mask: (line: string) => string): RecordedAnswer {
  const texts = new Map<string, string>();
  const nameOf = ({ type, id }: AiPart) => (DELTAS.has(type) ? `${type} ${String(id)}` : null);
  for (const { part } of answer.parts) {
    const name = nameOf(part);
    if (name !== null) texts.set(name, (texts.get(name) ?? "") + String(part["delta"]));
  }
  const masked = new Map<string, string>();
  for (const [name, text] of texts) {
    const line = JSON.stringify(text);
    const clean = mask(line);
    if (clean !== line) masked.set(name, JSON.parse(clean) as string);
  }
  const parts = answer.parts.flatMap(({ atMs, part }) => {
    const name = nameOf(part);
    const text = name === null ? undefined : masked.get(name);
    if (name === null || text === undefined) return [{ atMs, part }];
    masked.set(name, ""); // the first part has it all
    return text === "" ? [] : [{ atMs, part: { ...part, delta: text } }];
  });
  return { ...answer, parts };
}

/** Parts that hold a piece of a text. */
const DELTAS: ReadonlySet<string> = new Set(["text-delta", "reasoning-delta", "tool-input-delta"]);

function copied(stream: AiStream, tape: Tape, elapsed: () => number): AiStream {
  return {
    getReader() {
      const reader = stream.getReader();
      return {
        async read() {
          try {
            const { done, value } = await reader.read();
            if (done) tape.end();
            else if (value !== undefined) tape.part(elapsed(), value);
            return { done, value };
          } catch (error) {
            tape.end(error);
            throw error;
          }
        },
        cancel(reason) {
          tape.end({ name: "AbortError" });
          return reader.cancel(reason);
        },
      };
    },
  };
}

function maskOf({ credentials }: AiContext, { mask }: RecordOptions): (line: string) => string {
  const keys = [credentials.apiKey, credentials.accessToken].filter((key) => key !== undefined);
  const forms = keys.flatMap(secretForms);
  return (line) =>
    forms.reduce((text, form) => text.replaceAll(form, "[redacted]"), mask?.(line) ?? line);
}
