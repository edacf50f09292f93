/**
 * The worker of the page: it reads texts and draws flows, so that typing and panning never wait for either.
 * @see protocol.ts
 */
import type { FreeQuestions, FromWorker, ProjectData, ToWorker } from "./protocol.ts";
import type { TextReader } from "./questions.ts";

/** The part that reads texts is loaded while the first one is on its way. */
let loading: Promise<typeof import("./questions.ts")> | undefined;
let reader: TextReader | undefined;
let newest: { readonly textId: number; readonly text: string } | undefined;

/** Data from outside of the texts; questions about a text wait until it is set once. */
let project: ProjectData | undefined;
let tellFirst: () => void = () => {};
const firstProject = new Promise<void>((resolve) => {
  tellFirst = resolve;
});

const loaded = (): Promise<typeof import("./questions.ts")> => {
  loading ??= import("./questions.ts");
  return loading;
};

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "ask") void answer(data);
  else if (data.kind === "project") {
    project = data.project;
    reader?.setProject(project);
    tellFirst();
  } else {
    newest = data;
    reader?.setText(data.text);
  }
});

async function answer({
  id,
  textId,
  name,
  args,
}: Extract<ToWorker, { kind: "ask" }>): Promise<void> {
  try {
    const found = textId === undefined ? await free(name, args) : await ofText(textId, name, args);
    send({ id, answer: found });
  } catch (error) {
    const isStale = textId !== undefined && textId !== newest?.textId;
    const refused = error instanceof Error ? error.message : String(error);
    send({ id, refused, ...(isStale && { isStale }) });
  }
}

async function free(name: string, args: readonly unknown[]): Promise<unknown> {
  if (name === "picture") {
    const { pictureOf } = await import("./pictures.ts"); // not the reading of texts, which a run does without
    return pictureOf(...(args as Parameters<FreeQuestions["picture"]>));
  }
  const { readValue } = await loaded();
  return readValue(...(args as Parameters<FreeQuestions["readValue"]>));
}

async function ofText(textId: number, name: string, args: readonly unknown[]): Promise<unknown> {
  const [{ TextReader: Reader }] = await Promise.all([loaded(), firstProject]);
  if (textId !== newest?.textId || project === undefined) throw new Error("there is a newer text");
  reader ??= new Reader(project, newest.text);
  const ask = reader.answers[name as keyof TextReader["answers"]] as (
    ...given: readonly unknown[]
  ) => unknown;
  return ask(...args);
}

function send(message: FromWorker): void {
  postMessage(message);
}
