/** The versions of a flow: open one, compare it with the current text, restore it. */
import type { TemplateVersionSummary } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { DiffView } from "../../editor/diff-view.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { placeHref } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { withEditorLineEnds } from "../../state/stored-flow.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";

interface Comparison {
  readonly version: number;
  readonly before: string;
  readonly after: string;
}

/** The list "Versions". `text`: what versions are compared with; undefined: the newest of them. */
export function VersionsDialog({
  slug,
  newest,
  text,
  onRestore,
  onClose,
}: {
  readonly slug: string;
  readonly newest: number;
  readonly text: string | undefined;
  readonly onRestore: (version: number) => Promise<void>;
  readonly onClose: () => void;
}): ComponentChildren {
  const list = useList<TemplateVersionSummary>({
    key: `${slug} ${newest}`,
    load: (cursor) =>
      backend.invoke("list_template_versions", {
        slug,
        ...(cursor !== undefined && { cursor }),
      }),
  });
  const [shown, setShown] = useState<Comparison>();
  const dslOf = async (version: number): Promise<string> =>
    withEditorLineEnds((await backend.invoke("get_template_version", { slug, version })).dsl);
  const compare = useAction(async (version: number) => {
    const [before, after] = await Promise.all([dslOf(version), text ?? dslOf(newest)]);
    setShown({ version, before, after });
  });
  const restore = useAction(onRestore);
  const why = refusal("admin");
  return (
    <Dialog title={`Versions of ${slug}`} onClose={onClose}>
      <Problem error={compare.error ?? restore.error} />
      <ListView list={list} empty={<p>No versions.</p>}>
        {(items) => (
          <ul aria-label="Versions" class="versions">
            {items.map(({ version, createdAt }) => (
              <li key={version} class="version-row">
                <span class="version-name">
                  Version {version}
                  {version === newest && " (newest)"}, <Time at={createdAt} />
                </span>
                <a
                  href={placeHref(["flows", slug], version === newest ? {} : { v: version })}
                  onClick={onClose}
                >
                  Open version {version}
                </a>
                <Button onClick={() => void compare.run(version)}>Compare version {version}</Button>
                {version !== newest && (
                  <Button
                    disabled={restore.isBusy}
                    refusal={why}
                    onClick={() => void restore.run(version).then((done) => done && onClose())}
                  >
                    Restore version {version}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </ListView>
      {shown && (
        <>
          <h3>
            Version {shown.version} compared with{" "}
            {text === undefined ? `version ${newest}` : "the current text"}
          </h3>
          <DiffView
            name={`Changes since version ${shown.version}`}
            before={shown.before}
            after={shown.after}
          />
        </>
      )}
      <DialogActions close="Close" hasFocus onClose={onClose} />
    </Dialog>
  );
}
