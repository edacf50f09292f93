/** The settings of the server, as a form of their schema. Only what was changed is sent. */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { backend, hasCode } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { checkForm, findingsOf } from "../../parts/schema-form/check-form.ts";
import { focusProblems, SchemaForm } from "../../parts/schema-form/schema-form.tsx";
import type { ScreenProps } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { useValue } from "../../state/use-value.ts";
import { patched, patchOf } from "./merge-patch.ts";
import "./settings.css";

/** The settings as the server has them. */
interface Stored {
  readonly settings: Json;
  readonly etag: string | undefined;
}

interface Loaded extends Stored {
  readonly schema: JsonSchema;
}

/** The form of the settings. */
export function SettingsScreen(_props: ScreenProps): ComponentChildren {
  const { value, error } = useValue<Loaded>("settings", async () => {
    const [stored, schema] = await Promise.all([
      readStored(),
      backend.invoke("get_settings_schema", {}),
    ]);
    return { ...stored, schema };
  });
  return (
    <>
      <Heading title="Settings" />
      {value === undefined ? (
        <>
          <Problem error={error} />
          {error === undefined && <p class="muted">Loading…</p>}
        </>
      ) : (
        <SettingsForm schema={value.schema} first={value} />
      )}
    </>
  );
}

function SettingsForm({
  schema,
  first,
}: {
  readonly schema: JsonSchema;
  readonly first: Stored;
}): ComponentChildren {
  const [stored, setStored] = useState(first);
  const [typed, setTyped] = useState(first.settings);
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const patch = patchOf(stored.settings, typed);
  const wrong = checkForm(schema, typed);
  const take = (next: Stored, value: Json): void => {
    setStored(next);
    setTyped(value);
    save.clear();
  };
  const save = useAction(async () => {
    const { value, etag } = await backend.call("update_settings", {
      patch: patch as JsonObject,
      ...(stored.etag !== undefined && { ifMatch: stored.etag }),
    });
    setStored({ settings: value as unknown as Json, etag });
    setTyped(value as unknown as Json);
    notify("Settings saved");
  });
  const resolve = useAction(async (isMine: boolean) => {
    const next = await readStored();
    take(next, isMine && patch !== undefined ? patched(next.settings, patch) : next.settings);
  });
  const why = refusal("admin");
  const isChanged = patch !== undefined;
  const isOld = hasCode(save.error, "etag_mismatch");
  const findings = isChecked ? [...wrong, ...findingsOf(save.error, "/patch")] : [];
  return (
    <form
      ref={form}
      class="settings"
      noValidate
      onSubmit={async (event) => {
        event.preventDefault();
        const isSent = wrong.length === 0 && isObject(patch) && (await save.run());
        setChecked(!isSent);
        if (!isSent) focusProblems(form.current);
      }}
    >
      <SchemaForm schema={schema} value={typed} onChange={setTyped} findings={findings} />
      <Problem error={save.error ?? resolve.error} />
      {isOld && (
        <div class="actions">
          <span>Somebody else has changed the settings meanwhile.</span>
          <Button disabled={resolve.isBusy} onClick={() => void resolve.run(true)}>
            Keep mine
          </Button>
          <Button disabled={resolve.isBusy} onClick={() => void resolve.run(false)}>
            Take theirs
          </Button>
        </div>
      )}
      <div class="actions settings-actions">
        <Button
          type="submit"
          class="primary"
          disabled={!isChanged || save.isBusy || isOld}
          refusal={why}
          title={isChanged ? undefined : "Nothing was changed"}
        >
          Save settings
        </Button>
        <Button
          disabled={!isChanged}
          title={isChanged ? undefined : "Nothing was changed"}
          onClick={() => {
            take(stored, stored.settings);
            setChecked(false);
          }}
        >
          Discard changes
        </Button>
      </div>
    </form>
  );
}

async function readStored(): Promise<Stored> {
  const { value, etag } = await backend.call("get_settings", {});
  return { settings: value as unknown as Json, etag };
}
