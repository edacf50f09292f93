/** Models of the server's machine: installed ones, downloads, and the engines that run them. */
import type { Job, ModelEngine } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { invokeOnce } from "../../backend.ts";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { formatBytes } from "../../parts/format.ts";
import { Heading } from "../../parts/heading.tsx";
import { NewItem } from "../../parts/new-item.tsx";
import { Problem } from "../../parts/problem.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { isWired, refusal } from "../../state/meta.ts";
import { useAction } from "../../state/use-action.ts";
import { InstallModel } from "./install-model.tsx";
import { ModelTable } from "./model-table.tsx";
import { titleOf, useModels } from "./use-models.ts";
import "../../parts/list-screen.css";
import { Button } from "../../parts/button.tsx";
import "./models.css";

/** Models, jobs and engines; what to install where nothing manages models. */
export function ModelsScreen(): ComponentChildren {
  return (
    <>
      <Heading title="Models" />
      {isWired("list_models") ? <Managed /> : <NotManaged />}
    </>
  );
}

function Managed(): ComponentChildren {
  const models = useModels();
  const scan = useAction(() => invokeOnce("scan_models", {}));
  const why = refusal("admin");
  const error = models.error ?? scan.error;
  return (
    <>
      <NewItem
        title="Install model"
        form={(close) => <InstallModel onStarted={models.reload} onClose={close} />}
      >
        <Button disabled={scan.isBusy} refusal={why} onClick={() => void scan.run()}>
          Scan folders
        </Button>
      </NewItem>
      <Problem error={error} />
      {models.jobs.map((job) => (
        <JobProgress key={job.id} job={job} onCancelled={models.reload} />
      ))}
      {models.failed.map((job) => (
        <FailedJob key={job.id} job={job} onDismiss={() => models.dismiss(job.id)} />
      ))}
      {models.models === undefined ? (
        error === undefined && <p class="muted">Loading…</p>
      ) : models.models.length === 0 ? (
        <section class="empty">
          <h2>No models</h2>
          <p>
            A local model answers AI nodes without a provider. Install one from an https address of
            a GGUF file, with the SHA-256 digest that its publisher gives.
          </p>
        </section>
      ) : (
        <ModelTable models={models.models} onChanged={models.reload} />
      )}
      {models.engines.length > 0 && <Engines engines={models.engines} onStarted={models.reload} />}
    </>
  );
}

function JobProgress({
  job,
  onCancelled,
}: {
  readonly job: Job;
  readonly onCancelled: () => void;
}): ComponentChildren {
  const { id: jobId, stage, current, total } = job;
  const cancel = useAction(async () => {
    await invokeOnce("cancel_model_job", { jobId });
    onCancelled();
  });
  const why = refusal("admin");
  const title = titleOf(job);
  return (
    <section class="card job" aria-label={title}>
      <div class="job-line">
        <strong>{title}</strong>
        <progress aria-label={title} max={total || 1} value={total === 0 ? undefined : current} />
        <span class="muted">
          {stage}
          {total > 0 && `, ${Math.floor((current / total) * 100)} % of ${formatBytes(total)}`}
        </span>
        <Button disabled={cancel.isBusy} refusal={why} onClick={() => void cancel.run()}>
          Cancel
        </Button>
      </div>
      <Problem error={cancel.error} />
    </section>
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  digest_mismatch:
    "The file does not have the digest that was given, so it was not installed. Check the digest, or the source.",
};

function FailedJob({
  job,
  onDismiss,
}: {
  readonly job: Job;
  readonly onDismiss: () => void;
}): ComponentChildren {
  const { code = "", message = "" } = job.error ?? {};
  return (
    <div role="alert">
      <div class="problem">
        <p>
          <strong>{titleOf(job)} failed</strong>: <VisibleText text={MEANINGS[code] ?? message} />
        </p>
        <p class="muted">
          <VisibleText text={`${code}: ${message}`} />
        </p>
        <Button onClick={onDismiss}>Dismiss</Button>
      </div>
    </div>
  );
}

function Engines({
  engines,
  onStarted,
}: {
  readonly engines: readonly ModelEngine[];
  readonly onStarted: () => void;
}): ComponentChildren {
  const fetchEngine = useAction(async (engineId: string) => {
    await invokeOnce("fetch_engine", { engineId });
    onStarted();
  });
  const why = refusal("admin");
  const columns: readonly Column<ModelEngine>[] = [
    { title: "Engine", isHead: true, cell: ({ id }) => id },
    { title: "Version", cell: ({ version }) => version ?? "–" },
    { title: "State", cell: ({ state }) => state },
    { title: "Platform", cell: ({ platform }) => platform },
    { title: "Source", cell: ({ source }) => source ?? "–" },
    actionsColumn(
      ({ id, state }) =>
        (state === "absent" || state === "invalid") && (
          <Button
            disabled={fetchEngine.isBusy}
            refusal={why}
            onClick={() => void fetchEngine.run(id)}
          >
            Fetch engine
          </Button>
        ),
    ),
  ];
  return (
    <section>
      <h2>Engines</h2>
      <p class="muted">The programs that run models.</p>
      <Problem error={fetchEngine.error} />
      <DataTable name="Engines" columns={columns} rows={engines} keyOf={({ id }) => id} />
    </section>
  );
}

function NotManaged(): ComponentChildren {
  return (
    <section class="empty">
      <h2>No local models here</h2>
      <p>
        The package that manages models is not installed beside this server, or the server was
        started without models. Install it and start the server again:
      </p>
      <pre>npm install -g @millrace/local-models</pre>
      <p>Flows can use the models of providers all the same.</p>
    </section>
  );
}
