/** Webhooks: HTTP calls that start a flow. The address of one is a secret, and is shown once. */
import type { Webhook } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, serverUrl } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/clipboard.ts";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { NewItem } from "../../parts/new-item.tsx";
import { Problem } from "../../parts/problem.tsx";
import { placeHref } from "../../router.ts";
import { meta, refusal } from "../../state/meta.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";
import { NewWebhook } from "./new-webhook.tsx";

/** The table of webhooks, and the form of a new one. */
export function Webhooks(): ComponentChildren {
  const [token, setToken] = useState<string>();
  const [deleted, setDeleted] = useState<Webhook>();
  const list = useList<Webhook>({
    key: "",
    load: (cursor) => backend.invoke("list_webhooks", cursor === undefined ? {} : { cursor }),
  });
  const remove = useAction(async ({ id: webhookId }: Webhook) => {
    await backend.invoke("delete_webhook", { webhookId });
    setDeleted(undefined);
    list.reload();
  });
  const why = refusal("admin");
  const columns: readonly Column<Webhook>[] = [
    {
      title: "Flow",
      isHead: true,
      cell: ({ template }) => <a href={placeHref(["flows", template])}>{template}</a>,
    },
    { title: "Input", cell: ({ input }) => <code>{input}</code> },
    { title: "Signature", cell: ({ secret, scheme = "checked" }) => (secret ? scheme : "none") },
    { title: "Headers", cell: ({ headers }) => headers.join(", ") },
    { title: "State", cell: ({ enabled }) => (enabled ? "active" : "off") },
    { title: "Id", cell: ({ id }) => <code>{id}</code> },
    actionsColumn((webhook) => (
      <Button class="danger" refusal={why} onClick={() => setDeleted(webhook)}>
        Delete
      </Button>
    )),
  ];
  return (
    <>
      {meta.value?.features.webhooks === false && (
        <p class="problem">
          This server does not answer webhooks. Start it with <code>--webhooks</code>, or with the
          option <code>webhooks</code>.
        </p>
      )}
      <NewItem
        title="New webhook"
        form={(close) => (
          <NewWebhook
            onCreated={(created) => {
              setToken(created);
              list.reload();
            }}
            onClose={close}
          />
        )}
      />
      {token !== undefined && <Address token={token} onDone={() => setToken(undefined)} />}
      <Problem error={remove.error} />
      <ListView
        list={list}
        empty={
          <section class="empty">
            <h2>No webhooks</h2>
            <p>
              A webhook is an address of this server. Whoever sends a POST to it starts a flow, and
              one input of the flow gets the request.
            </p>
          </section>
        }
      >
        {(items) => (
          <DataTable name="Webhooks" columns={columns} rows={items} keyOf={({ id }) => id} />
        )}
      </ListView>
      {deleted !== undefined && (
        <ConfirmDialog
          title={`Delete the webhook of ${deleted.template}?`}
          action="Delete"
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its address stops working. Another webhook of this flow has another address.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Address({
  token,
  onDone,
}: {
  readonly token: string;
  readonly onDone: () => void;
}): ComponentChildren {
  const address = `${serverUrl}/hooks/${token}`;
  return (
    <section class="card" aria-label="Address of the webhook">
      <p>The address is shown once: who knows it can start the flow. Keep it like a password.</p>
      <div class="address">
        <label>
          Address
          <input readOnly value={address} onFocus={(event) => event.currentTarget.select()} />
        </label>
        <Button onClick={() => void copyText(address)}>Copy</Button>
        <Button onClick={onDone}>Done</Button>
      </div>
    </section>
  );
}
