/** The items of a hub, from its stored index, and the dialog that installs a flow of it. */
import type { HubItem, InstalledItem } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, hasCode, invokeOnce } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { CheckField, TextField } from "../../parts/fields.tsx";
import { formatBytes } from "../../parts/format.ts";
import { ListView } from "../../parts/list-screen.tsx";
import { Problem } from "../../parts/problem.tsx";
import { slugOf } from "../../parts/slug.ts";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { navigate, placeHref } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";

/** The items of a hub. */
export function HubItems({ hubId }: { readonly hubId: string }): ComponentChildren {
  const [chosen, setChosen] = useState<HubItem>();
  const list = useList<HubItem>({
    key: hubId,
    load: (cursor) =>
      backend.invoke("list_hub_items", { hubId, ...(cursor !== undefined && { cursor }) }),
  });
  const installModel = useAction(async ({ id: itemId }: HubItem) => {
    showInstalled(await invokeOnce("install_hub_item", { hubId, itemId }));
  });
  const why = refusal("admin");
  const columns: readonly Column<HubItem>[] = [
    {
      title: "Item",
      isHead: true,
      cell: ({ id, title }) => (
        <>
          <VisibleText text={title} /> <span class="muted">{id}</span>
        </>
      ),
    },
    { title: "Kind", cell: ({ kind }) => (kind === "template" ? "flow" : kind) },
    { title: "Version", cell: ({ version }) => version },
    { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
    {
      title: "Digest",
      cell: ({ digest }) => <code title={digest}>{digest.slice(0, 19)}…</code>,
    },
    actionsColumn((item) => (
      <Button
        aria-label={`Install ${item.id}`}
        disabled={installModel.isBusy}
        refusal={
          why ?? (item.kind === "nodes" ? "node packs are installed by the operator" : undefined)
        }
        onClick={() => (item.kind === "template" ? setChosen(item) : void installModel.run(item))}
      >
        Install
      </Button>
    )),
  ];
  return (
    <section>
      <h2>Items of {hubId}</h2>
      <Problem error={installModel.error} />
      <ListView list={list} empty={<p>The index has no items. Sync the hub to read it again.</p>}>
        {(items) => (
          <DataTable
            name={`Items of ${hubId}`}
            columns={columns}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ListView>
      {chosen !== undefined && (
        <InstallFlow hubId={hubId} item={chosen} onClose={() => setChosen(undefined)} />
      )}
    </section>
  );
}

function InstallFlow({
  hubId,
  item,
  onClose,
}: {
  readonly hubId: string;
  readonly item: HubItem;
  readonly onClose: () => void;
}): ComponentChildren {
  const [slug, setSlug] = useState(() => slugOf(item.id));
  const [overwrites, setOverwrites] = useState(false);
  const install = useAction(async () => {
    const args = { hubId, itemId: item.id, slug, overwrite: overwrites };
    const etag = overwrites ? await etagOf(slug) : undefined;
    const installed = await invokeOnce("install_hub_item", {
      ...args,
      ...(etag !== undefined && { ifMatch: etag }),
    });
    showInstalled(installed);
  });
  return (
    <FormDialog title={`Install ${item.title}`} action="Install" work={install} onClose={onClose}>
      <p>
        Version {item.version}. Its text is checked against its digest before it is stored; it runs
        only when you run it.
      </p>
      <TextField label="Slug" required value={slug} onTyped={(text) => setSlug(text.trim())} />
      <CheckField
        label="Replace the flow of this slug by a new version"
        isChecked={overwrites}
        onChecked={setOverwrites}
      />
    </FormDialog>
  );
}

/** The entity tag of the flow that is replaced; undefined: there is none. */
async function etagOf(slug: string): Promise<string | undefined> {
  try {
    return (await backend.call("get_template", { slug })).etag;
  } catch (error) {
    if (hasCode(error, "not_found")) return undefined;
    throw error;
  }
}

/** Leads to what was installed: the flow, or the progress of the model. */
function showInstalled(installed: InstalledItem): void {
  if (installed.kind === "model") {
    navigate(placeHref(["models"]));
    return;
  }
  const { slug } = installed.template;
  notify(`Installed ${slug}`);
  navigate(placeHref(["flows", slug]));
}
