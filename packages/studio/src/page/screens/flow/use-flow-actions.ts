/** Actions on an open flow: save, run, format, change; each reports its result. */
import type { Json } from "@millrace/contracts";
import type { FlowChange } from "@millrace/dsl/editor";
import { useRef, useState } from "preact/hooks";
import type { FlowProblem } from "../../../worker/protocol.ts";
import { backend, hasCode, invokeOnce } from "../../backend.ts";
import { navigate, placeHref, setQuery } from "../../router.ts";
import type { FlowDetails, FlowSession } from "../../state/flow-session.ts";
import { notify } from "../../state/notifications.ts";
import type { Stored } from "../../state/stored-flow.ts";
import { runRefusal } from "./flow-view.ts";
import type { OpenFlow } from "./use-flow-session.ts";

/** The dialog that is open. */
export type OpenDialog =
  | { readonly kind: "save" | "run" | "add" | "versions" | "shortcuts" | "deleteFlow" }
  | { readonly kind: "rename" | "deleteNode"; readonly path: string }
  | {
      readonly kind: "changed";
      readonly theirs: Stored;
      readonly detail: string | undefined;
      readonly details: FlowDetails;
    };

/** The actions of a screen. */
export interface FlowActions {
  readonly dialog: OpenDialog | undefined;
  readonly show: (dialog: OpenDialog | undefined) => void;
  /** Why the last action failed; undefined: it did not. */
  readonly error: unknown;
  /** Saves; asks first for what is not known yet. */
  readonly save: () => Promise<void>;
  /** Saves with details. Rejects with what the server refuses. */
  readonly saveAs: (details: FlowDetails) => Promise<void>;
  /** Runs; asks for inputs first where there are any. */
  readonly run: () => Promise<void>;
  readonly start: (inputs: Readonly<Record<string, Json>>) => Promise<void>;
  readonly format: () => Promise<void>;
  /** Makes a change of the flow. Rejects where it does not fit. */
  readonly change: FlowSession["change"];
  /** Makes a change, and says why not where it does not fit. */
  readonly tryChange: (change: FlowChange) => Promise<void>;
  /** Applies a fix of a problem. */
  readonly fix: (problem: FlowProblem, title: string) => Promise<void>;
  readonly restore: (version: number) => Promise<void>;
  readonly deleteFlow: () => Promise<void>;
}

/** The actions of an open flow. */
export function useFlowActions({ session, old }: OpenFlow): FlowActions {
  const [dialog, show] = useState<OpenDialog>();
  const [error, setError] = useState<unknown>();
  const isSaving = useRef(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await work();
    } catch (reason) {
      setError(reason);
    }
  };

  const store = async (details: FlowDetails): Promise<void> => {
    const isNew = session.stored.peek()?.template.slug !== details.slug;
    const saved = await session.save(details);
    const { stored } = saved;
    if (saved.kind === "saved") {
      const isBroken = runRefusal(session.problems.peek()) !== undefined;
      const rest = isBroken ? "; it does not run until its problems are mended" : "";
      notify(`Saved version ${stored.template.version}${rest}`);
      if (isNew) navigate(placeHref(["flows", stored.template.slug]), { replace: true });
      else setQuery({ v: undefined }); // the version of the place is not the newest any more
    } else if (isNew) {
      throw new Error(`There is a flow ${details.slug} already: choose another slug`);
    } else show({ kind: "changed", theirs: stored, detail: saved.detail, details });
  };
  const saveAs = async (details: FlowDetails): Promise<void> => {
    if (isSaving.current) return;
    isSaving.current = true;
    try {
      await store(details);
    } finally {
      isSaving.current = false;
    }
  };
  const save = async (): Promise<void> => {
    const slug = session.stored.peek()?.template.slug;
    if (slug === undefined) show({ kind: "save" });
    else await attempt(() => saveAs({ slug }));
  };

  const start = async (inputs: Readonly<Record<string, Json>>): Promise<void> => {
    const request = { ...flowOf(session, old), inputs: { ...inputs } };
    const { runId } = await invokeOnce("start_run", request);
    navigate(placeHref(["runs", runId]));
  };
  const run = async (): Promise<void> => {
    await session.settled();
    const reading = session.reading.peek();
    if (reading === undefined) return; // Nobody knows its inputs yet.
    const { inputs } = reading.graph;
    if (inputs.length > 0) show({ kind: "run" });
    else await attempt(() => start({}));
  };

  const tryChange = (change: FlowChange): Promise<void> => attempt(() => session.change(change));
  return {
    dialog,
    show,
    error,
    save,
    saveAs,
    run,
    start,
    format: () =>
      attempt(async () => {
        const isChanged = await session.format();
        notify(isChanged ? "Formatted" : "Nothing to format");
      }),
    change: (change) => session.change(change),
    tryChange,
    fix: (problem, title) => attempt(() => session.fix(problem, title)),
    restore: async (version) => {
      const stored = session.stored.peek();
      if (stored === undefined) return;
      const { slug } = stored.template;
      const args = { slug, version, ...(stored.etag !== undefined && { ifMatch: stored.etag }) };
      const { value: template, etag } = await backend.call("restore_template_version", args);
      notify(`Saved version ${template.version}`);
      if (old === undefined) session.takeTheirs({ template, etag });
      else navigate(placeHref(["flows", slug]));
    },
    deleteFlow: () =>
      attempt(async () => {
        const stored = session.stored.peek();
        if (stored === undefined) return;
        const { slug } = stored.template;
        const condition = stored.etag === undefined ? {} : { ifMatch: stored.etag };
        await backend.invoke("delete_template", { slug, ...condition });
        session.forget();
        notify(`Deleted ${slug}`);
        navigate(placeHref(["flows"]));
      }),
  };
}

/** The flow to run: the stored version where the text equals it, else the text. */
function flowOf(session: FlowSession, old: OpenFlow["old"]) {
  const stored = session.stored.peek()?.template;
  if (stored === undefined || session.isDirty.peek()) return { dsl: session.text };
  return { template: stored.slug, version: old?.version ?? stored.version };
}

/** Note about a text that the server does not take; undefined for other failures. */
export function noteOf(session: FlowSession, error: unknown): string | undefined {
  if (!hasCode(error, "flow_invalid")) return undefined;
  return session.kept.value === "kept"
    ? "Not saved: the server cannot read the text. It is kept as a draft in this browser."
    : "Not saved: the server cannot read the text, which is not kept as a draft either.";
}

/** Whether leaving the page now would lose text. */
export function wouldLose(session: FlowSession): boolean {
  return session.isDirty.peek() && session.kept.peek() !== "kept";
}
