/** The form of a new schedule: it shows when the flow would start before anything is created. */
import type { FlowInput, Json, JsonObject } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { backend, invokeOnce } from "../../backend.ts";
import { TextField } from "../../parts/fields.tsx";
import { FormCard } from "../../parts/new-item.tsx";
import { Problem } from "../../parts/problem.tsx";
import { checkInputs, findingsOf } from "../../parts/schema-form/check-form.ts";
import { inputMember, startInputs } from "../../parts/schema-form/input-members.ts";
import { MembersForm } from "../../parts/schema-form/schema-form.tsx";
import { useAction } from "../../state/use-action.ts";
import { useValue } from "../../state/use-value.ts";
import { FlowSelect } from "./flow-select.tsx";

/** Fire times that are shown. */
const SHOWN = 3;
/** Pause after typing before the server is asked, in milliseconds. */
const TYPING_MS = 250;

/** Asks for flow, times and inputs. */
export function NewSchedule({
  onCreated,
  onClose,
}: {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  const [template, setTemplate] = useState("");
  const [cron, setCron] = useState("");
  const [timezone, setTimezone] = useState(ownZone);
  const [inputs, setInputs] = useState<JsonObject>({});
  const [isChecked, setChecked] = useState(false);
  const zones = useId();
  const declared = useInputs(template, setInputs);
  const preview = usePreview(cron, timezone);
  const wrong = checkInputs(declared, inputs);
  const create = useAction(async () => {
    const args = { template, cron, timezone, inputs: inputs as Record<string, Json> };
    await invokeOnce("create_schedule", args);
    onCreated();
  });
  const findings = isChecked ? [...wrong, ...findingsOf(create.error, "/inputs")] : [];
  return (
    <FormCard
      name="New schedule"
      action="Create schedule"
      work={create}
      check={() => {
        setChecked(true);
        return wrong.length === 0;
      }}
      onClose={onClose}
    >
      <div class="fields">
        <FlowSelect chosen={template} onChoose={setTemplate} />
        <TextField
          label="Cron"
          required
          placeholder="0 7 * * 1-5"
          value={cron}
          aria-invalid={preview.error !== undefined}
          onTyped={setCron}
        />
        <TextField label="Time zone" required list={zones} value={timezone} onTyped={setTimezone} />
        <datalist id={zones}>
          {knownZones().map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      {declared.length > 0 && (
        <MembersForm
          members={declared.map(inputMember)}
          value={inputs}
          onChange={(next: Json) => setInputs(next as JsonObject)}
          findings={findings}
        />
      )}
      <h2>Next fire times</h2>
      <Preview {...preview} timezone={timezone} />
    </FormCard>
  );
}

/** The inputs that the flow declares; their values begin with the defaults. */
function useInputs(slug: string, onStart: (inputs: JsonObject) => void): readonly FlowInput[] {
  const { value } = useValue(slug, async () => {
    if (slug === "") return [];
    const { graph } = await backend.invoke("get_template", { slug });
    onStart(startInputs(graph.inputs, {}));
    return graph.inputs;
  });
  return value ?? [];
}

interface Times {
  /** Undefined: nothing was asked yet. */
  readonly times?: readonly string[];
  readonly error?: unknown;
}

/** The server's preview of the times, a moment after the last key. */
function usePreview(cron: string, timezone: string): Times {
  const [state, setState] = useState<Times>({});
  useEffect(() => {
    if (cron.trim() === "" || timezone.trim() === "") {
      setState({});
      return undefined;
    }
    const stop = new AbortController();
    const { signal } = stop;
    const timer = setTimeout(() => {
      backend.invoke("preview_schedule", { cron, timezone, n: SHOWN }, { signal }).then(
        ({ times }) => setState({ times }),
        (error: unknown) => {
          if (!signal.aborted) setState({ error });
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [cron, timezone]);
  return state;
}

function Preview({
  times,
  error,
  timezone,
}: Times & { readonly timezone: string }): ComponentChildren {
  if (error !== undefined) return <Problem error={error} />;
  if (times === undefined) {
    return (
      <p class="muted">A cron expression has five fields: minute, hour, day, month, weekday.</p>
    );
  }
  if (times.length === 0) return <p>It never fires.</p>;
  return (
    <ol aria-label="Next fire times" class="fire-times">
      {times.map((time) => (
        <li key={time}>
          <time dateTime={time}>{timeInZone(time, timezone)}</time>
        </li>
      ))}
    </ol>
  );
}

/** The zone of the reader. */
function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Names of zones that may be typed. */
function knownZones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

/** A time as the clocks of a zone show it. */
function timeInZone(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    dateStyle: "full",
    timeStyle: "long",
    timeZone,
  }).format(new Date(time));
}
