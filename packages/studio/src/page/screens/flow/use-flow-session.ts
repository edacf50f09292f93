/** The session of the flow at a place. A flow that is saved for the first time keeps its session, with its Undo. */
import type { TemplateVersion } from "@millrace/contracts";
import { useEffect, useRef, useState } from "preact/hooks";
import { backend, isUnreachable } from "../../backend.ts";
import { prepareEditor } from "../../editor/flow-editor.tsx";
import { askAbout, prepareWorker } from "../../editor/worker.ts";
import { type Drafts, draftsIn } from "../../state/drafts.ts";
import { FlowSession } from "../../state/flow-session.ts";
import { keptByBrowser } from "../../state/storage.ts";
import type { Stored } from "../../state/stored-flow.ts";
import { tabId } from "../../state/tab.ts";
import { useWhenBack } from "../../state/use-when-back.ts";

/** A flow that is open. `old`: a version that is only read. */
export interface OpenFlow {
  /** Another one for each opening. */
  readonly id: number;
  readonly session: FlowSession;
  readonly old?: TemplateVersion;
}

/** The flow of a place. */
export interface FlowPlace {
  /** Undefined: a flow that was not saved yet. */
  readonly slug: string | undefined;
  readonly version: number | undefined;
}

let opened = 0;

/** An old version is not changed, so it has no draft. */
const NO_DRAFTS: Drafts = { read: () => undefined, write: () => "kept", remove: () => {} };

/** Opens the flow of a place. */
export function useFlowSession({ slug, version }: FlowPlace): {
  readonly flow: OpenFlow | undefined;
  readonly error: unknown;
} {
  const [state, setState] = useState<{ readonly flow?: OpenFlow; readonly error?: unknown }>({});
  const [tries, setTries] = useState(0);
  const current = useRef<OpenFlow | undefined>(undefined);
  const isLost = isUnreachable(state.error);
  useWhenBack(isLost, () => setTries((count) => count + 1));
  useEffect(() => {
    const known = current.current;
    const isSame =
      known !== undefined &&
      version === undefined &&
      known.old === undefined &&
      known.session.stored.peek()?.template.slug === slug;
    if (isSame) return undefined;
    let isWanted = true;
    prepareWorker();
    prepareEditor();
    known?.session.close();
    current.current = undefined;
    setState({});
    open({ slug, version }).then(
      (flow) => {
        if (!isWanted) return flow.session.close();
        current.current = flow;
        return setState({ flow });
      },
      (error: unknown) => isWanted && setState({ error }),
    );
    return () => {
      isWanted = false;
    };
  }, [slug, version, tries]);
  useEffect(() => () => current.current?.session.close(), []);
  return { flow: state.flow, error: state.error };
}

async function open({ slug, version }: FlowPlace): Promise<OpenFlow> {
  opened += 1;
  const id = opened;
  if (slug === undefined)
    return { id, session: sessionOf(undefined, draftsIn(keptByBrowser, tabId)) };
  const { value: template, etag } = await backend.call("get_template", { slug });
  if (version === undefined || version === template.version) {
    return { id, session: sessionOf({ template, etag }, draftsIn(keptByBrowser, tabId)) };
  }
  const old = await backend.invoke("get_template_version", { slug, version });
  const { dsl, graph, digest } = old;
  const shown: Stored = { template: { ...template, dsl, graph, digest }, etag };
  return { id, session: sessionOf(shown, NO_DRAFTS), old };
}

function sessionOf(stored: Stored | undefined, drafts: Drafts): FlowSession {
  return new FlowSession(stored, { ask: askAbout, backend, drafts, now: Date.now });
}
