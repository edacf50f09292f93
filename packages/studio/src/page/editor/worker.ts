/**
 * The one worker of the page, and questions to it. What is asked about a text is answered for that text, or refused once there is a
 * newer one.
 */
import workerUrl from "../../worker/analysis.ts?worker&url";
import type {
  FreeQuestions,
  FromWorker,
  ProjectData,
  TextQuestions,
  ToWorker,
} from "../../worker/protocol.ts";

/** The text that was asked about is not the newest one any more: the answer would be of no use. */
class StaleText extends Error {
  override readonly name = "StaleText";
}

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (reason: Error) => void;
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

const waiting = new Map<number, Waiting>();
let worker: Worker | undefined;
let lastId = 0;
let newest = { textId: 0, text: "" };
/** Questions about a text wait for it; undefined: not set yet. */
let told: ProjectData | undefined;
/** The text is known to the worker. */
let isPosted = false;

/** Asks about a text, which is posted when it is another one than the newest. */
export function askAbout<Name extends keyof TextQuestions>(
  text: string,
  name: Name,
  ...args: Parameters<TextQuestions[Name]>
): Promise<ReturnType<TextQuestions[Name]>> {
  if (!isPosted || newest.text !== text) {
    newest = { textId: newest.textId + 1, text };
    post({ kind: "text", ...newest });
    isPosted = true;
  }
  return ask({ textId: newest.textId, name, args });
}

/** Asks what is about no text. */
export function askFreely<Name extends keyof FreeQuestions>(
  name: Name,
  ...args: Parameters<FreeQuestions[Name]>
): Promise<ReturnType<FreeQuestions[Name]>> {
  return ask({ name, args });
}

/** Starts the worker with what reads texts, so that the first text does not wait for it. */
export function prepareWorker(): void {
  void askFreely("readValue", "0").catch(() => undefined); // the first question tells why it does not start
}

/** Tells what is known outside of the text; answers from then on are by it. */
export function tellProject(project: ProjectData): void {
  told = project;
  post({ kind: "project", project });
}

function ask<Answer>(question: {
  readonly textId?: number;
  readonly name: string;
  readonly args: readonly unknown[];
}): Promise<Answer> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
    post({ kind: "ask", id, ...question });
  });
}

function post(message: ToWorker): void {
  worker ??= startWorker();
  worker.postMessage(message);
}

let trusted: string | undefined;

/** The policy of the page lets a worker start from one address: that of the file which the build made. It hands it out once. */
function workerAddress(): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  const rules = { createScriptURL: () => workerUrl };
  trusted ??= trustedTypes?.createPolicy("millrace-worker", rules).createScriptURL(workerUrl);
  return trusted ?? workerUrl;
}

function startWorker(): Worker {
  const started = new Worker(workerAddress(), { type: "module", name: "analysis" });
  started.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ("answer" in data) asked?.resolve(data.answer as never);
    else asked?.reject(data.isStale ? new StaleText(data.refused) : new Error(data.refused));
  });
  started.addEventListener("error", ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(`the analysis ended: ${message}`));
    waiting.clear();
    // The next question starts another one.
    started.terminate();
    worker = undefined;
    isPosted = false;
  });
  if (told !== undefined)
    started.postMessage({ kind: "project", project: told } satisfies ToWorker);
  return started;
}
