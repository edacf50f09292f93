/** Hubs: where flows and models of others come from. What a hub offers is seen by `hub` of the place. */
import type { Hub } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, invokeOnce } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { NewItem } from "../../parts/new-item.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref, type ScreenProps, setQuery } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";
import { AddHub } from "./add-hub.tsx";
import { HubItems } from "./hub-items.tsx";

/** The table of hubs, the form of a new one, and the items of the chosen one. */
export function HubsScreen({ place: { query } }: ScreenProps): ComponentChildren {
  const chosen = query.get("hub");
  const [removed, setRemoved] = useState<Hub>();
  const [syncs, setSyncs] = useState(0);
  const list = useList<Hub>({
    key: "",
    load: (cursor) => backend.invoke("list_hubs", cursor === undefined ? {} : { cursor }),
  });
  const sync = useAction(async ({ id: hubId, name }: Hub) => {
    await invokeOnce("sync_hub", { hubId });
    notify(`Synced ${name}`);
    setSyncs((count) => count + 1);
    setQuery({ hub: hubId });
    list.reload();
  });
  const remove = useAction(async ({ id: hubId }: Hub) => {
    const { etag } = await backend.call("get_hub", { hubId });
    await backend.invoke("remove_hub", { hubId, ...(etag !== undefined && { ifMatch: etag }) });
    setRemoved(undefined);
    if (hubId === chosen) setQuery({ hub: undefined });
    list.reload();
  });
  const why = refusal("admin");
  const error = sync.error ?? remove.error;
  const columns: readonly Column<Hub>[] = [
    {
      title: "Hub",
      isHead: true,
      cell: ({ id, name }) => (
        <>
          <a
            href={placeHref(["hubs"], { hub: id })}
            aria-current={id === chosen ? "true" : undefined}
          >
            <VisibleText text={name} />
          </a>{" "}
          <span class="muted">{id}</span>
        </>
      ),
    },
    { title: "Address", cell: ({ url }) => <span class="hub-url">{url}</span> },
    { title: "Provides", cell: ({ provides }) => provides.join(", ") },
    { title: "Signed", cell: ({ publicKey }) => (publicKey === undefined ? "no" : "yes") },
    { title: "Synced", cell: ({ syncedAt }) => <Time at={syncedAt ?? null} /> },
    actionsColumn((hub) => (
      <>
        <Button
          disabled={sync.isBusy || !hub.enabled}
          refusal={why}
          title={hub.enabled ? undefined : "it is switched off"}
          onClick={() => void sync.run(hub)}
        >
          Sync {hub.id}
        </Button>
        <Button
          class="danger"
          disabled={hub.kind === "dir"}
          refusal={why}
          title={hub.kind === "dir" ? "it is a folder of the operator" : undefined}
          onClick={() => setRemoved(hub)}
        >
          Remove {hub.id}
        </Button>
      </>
    )),
  ];
  return (
    <>
      <Heading title="Hubs" />
      <NewItem title="Add hub" form={(close) => <AddHub onAdded={list.reload} onClose={close} />} />
      <Problem error={error} />
      <ListView
        list={list}
        empty={
          <section class="empty">
            <h2>No hubs</h2>
            <p>
              A hub is a source of flows, node packs and models at an https address. Everything it
              offers is pinned by a digest, and nothing is installed before you say so.
            </p>
          </section>
        }
      >
        {(hubs) => <DataTable name="Hubs" columns={columns} rows={hubs} keyOf={({ id }) => id} />}
      </ListView>
      {chosen !== null && <HubItems key={`${chosen} ${syncs}`} hubId={chosen} />}
      {removed !== undefined && (
        <ConfirmDialog
          title={`Remove ${removed.name}?`}
          action="Remove"
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run(removed)}
          onClose={() => setRemoved(undefined)}
        >
          <p>The hub and its index are forgotten. What was installed from it stays.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
