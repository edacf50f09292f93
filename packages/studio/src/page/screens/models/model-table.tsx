/** The table of models, and what is done to one. */
import type { Model } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { invokeOnce } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { formatBytes, formatNumber } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";

const IN_MEMORY: ReadonlySet<Model["state"]> = new Set(["loaded", "busy"]);

/** Shows models. `onChanged`: the list has to be read again. */
export function ModelTable({
  models,
  onChanged,
}: {
  readonly models: readonly Model[];
  readonly onChanged: () => void;
}): ComponentChildren {
  const [removed, setRemoved] = useState<string>();
  const load = useAction(async (modelId: string) => {
    // It answers when the model is there, which takes as long as reading its file.
    const loading = invokeOnce("load_model", { modelId, wait: true });
    onChanged();
    try {
      await loading;
      notify(`${modelId} is loaded`);
    } finally {
      onChanged();
    }
  });
  const unload = useAction(async (modelId: string) => {
    await invokeOnce("unload_model", { modelId });
    onChanged();
  });
  const remove = useAction(async (modelId: string) => {
    setRemoved(undefined);
    await invokeOnce("remove_model", { modelId });
    notify(`${modelId} is removed`);
    onChanged();
  });
  const isBusy = load.isBusy || unload.isBusy || remove.isBusy;
  const why = refusal("admin");
  const columns: readonly Column<Model>[] = [
    {
      title: "Model",
      isHead: true,
      cell: ({ id, gguf }) => (
        <>
          {id}{" "}
          {gguf !== null && (
            <span class="muted">
              {gguf.arch} {gguf.quant}
            </span>
          )}
        </>
      ),
    },
    {
      title: "State",
      cell: ({ state, error }) => (
        <>
          <span class="model-state" data-state={state}>
            {state}
          </span>
          {error !== null && <p class="problem">{error.message ?? error.code}</p>}
        </>
      ),
    },
    { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
    { title: "Context", isNumber: true, cell: contextOf },
    { title: "Source", cell: sourceOf },
    { title: "Digest", cell: ({ verified }) => (verified ? "verified" : "not verified") },
    actionsColumn(({ id, state, origin }) => (
      <>
        {IN_MEMORY.has(state) ? (
          <Button disabled={isBusy} refusal={why} onClick={() => void unload.run(id)}>
            Unload
          </Button>
        ) : (
          <Button
            disabled={isBusy || !mayLoad(state)}
            refusal={why}
            title={mayLoad(state) ? undefined : `it is ${state}`}
            onClick={() => void load.run(id)}
          >
            Load
          </Button>
        )}
        <Button
          class="danger"
          disabled={isBusy || keptBy(origin, state) !== undefined}
          refusal={why}
          title={keptBy(origin, state)}
          onClick={() => setRemoved(id)}
        >
          Remove
        </Button>
      </>
    )),
  ];
  const error = load.error ?? unload.error ?? remove.error;
  return (
    <>
      <Problem error={error} />
      <DataTable name="Models" columns={columns} rows={models} keyOf={({ id }) => id} />
      {removed !== undefined && (
        <ConfirmDialog
          title={`Remove ${removed}?`}
          action="Remove"
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run(removed)}
          onClose={() => setRemoved(undefined)}
        >
          <p>Its files are deleted from the server. Flows that name it fail from now on.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function mayLoad(state: Model["state"]): boolean {
  return state === "ready" || state === "crashed";
}

/** Why a model cannot be removed; undefined: it can. */
function keptBy(origin: Model["origin"], state: Model["state"]): string | undefined {
  if (origin !== "managed") return "its file belongs to the operator";
  return state === "installing" ? "it is being installed" : undefined;
}

function contextOf({ gguf, runtime }: Model): string {
  const size = runtime?.contextSize ?? gguf?.contextLength;
  return size === undefined ? "–" : `${formatNumber(size)} tokens`;
}

function sourceOf({ source, origin }: Model): ComponentChildren {
  switch (source?.kind) {
    case "url":
      return <span class="model-source">{source.url}</span>;
    case "hub":
      return `${source.hub}/${source.item}`;
    case "file":
      return "a file";
    default:
      return origin;
  }
}
