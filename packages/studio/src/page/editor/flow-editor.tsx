/** The textbox "Flow text": the editor of a session, which is loaded when it is first shown. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatNumber } from "../parts/format.ts";
import { Problem } from "../parts/problem.tsx";
import { navigate, placeHref } from "../router.ts";
import type { FlowSession } from "../state/flow-session.ts";
import { notify } from "../state/notifications.ts";
import type { MountedEditor } from "./mount.ts";

/** A flow to begin with. */
const EXAMPLE = `flow 1 my-flow

input name: string = "world"

node greeting: transform {
  value = "Hello, \${inputs.name}!"
}

output text: string = greeting.value
`;

/** Begins to load the editor, so that it is there when the text is. */
export function prepareEditor(): void {
  import("./mount.ts").catch(() => undefined); // the editor itself tells why it does not come
}

/** Properties of an editor. */
export interface FlowEditorProps {
  readonly session: FlowSession;
  readonly isReadOnly: boolean;
  /** Longest text, in UTF-16 units. */
  readonly maxLength: number;
  /** The editor is there, or is not any more. */
  readonly onMount: (editor: MountedEditor | undefined) => void;
  readonly onCursor: (offset: number) => void;
}

/** The editor. */
export function FlowEditor({
  session,
  isReadOnly,
  maxLength,
  onMount,
  onCursor,
}: FlowEditorProps): ComponentChildren {
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "ready" | { readonly error: unknown }>("loading");
  const [isEmpty, setEmpty] = useState(session.text === "");
  const mounted = useRef<MountedEditor | undefined>(undefined);
  const latest = useRef({ onMount, onCursor, maxLength });
  latest.current = { onMount, onCursor, maxLength };
  useEffect(() => {
    let isWanted = true;
    let editor: MountedEditor | undefined;
    const mount = async (): Promise<void> => {
      const { mountEditor } = await import("./mount.ts");
      if (!isWanted || host.current === null) return;
      editor = mountEditor(host.current, {
        text: session.text,
        example: EXAMPLE,
        isReadOnly,
        maxLength: () => latest.current.maxLength,
        onChange: (length) => {
          session.textChanged();
          setEmpty(length === 0);
        },
        onCursor: (offset) => latest.current.onCursor(offset),
        onTooLong: (length) =>
          notify(
            `Not done: the text would have ${formatNumber(length)} characters, and a flow has at most ${formatNumber(latest.current.maxLength)}`,
          ),
        onOpenFlow: (slug) => navigate(placeHref(["flows", slug])),
      });
      session.attach(editor);
      mounted.current = editor;
      setState("ready");
      latest.current.onMount(editor);
    };
    mount().catch((error: unknown) => isWanted && setState({ error }));
    return () => {
      isWanted = false;
      if (editor === undefined) return;
      session.detach();
      editor.destroy();
      latest.current.onMount(undefined);
    };
  }, [session, isReadOnly]);
  return (
    <>
      {state === "loading" && <p class="muted">Loading the editor…</p>}
      {typeof state === "object" && <Problem error={state.error} />}
      {state === "ready" && isEmpty && !isReadOnly && (
        <p class="example">
          <span class="muted">Write the flow here. The grey text is an example.</span>{" "}
          <Button
            onClick={() => {
              session.replace(EXAMPLE);
              mounted.current?.show(EXAMPLE.length, { focus: true });
            }}
          >
            Use this example
          </Button>
        </p>
      )}
      <div ref={host} class="editor" />
    </>
  );
}
