/**
 * A value as it is: text only, never HTML, an image or a request. Objects and lists open by a click; what is long is shown part by
 * part. A value that is kept beside the log is read when a person asks for it.
 */
import type { Json, ValueRef } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../state/use-action.ts";
import { Button } from "../button.tsx";
import { copyText, saveText } from "../clipboard.ts";
import { formatBytes } from "../format.ts";
import { messageOf } from "../problem.tsx";
import { useRoving } from "../roving.ts";
import { ValueRow } from "./value-row.tsx";
import { plainText, type Step, valueAt } from "./value-text.ts";
import { VisibleText } from "./visible-text.tsx";
import "./value-view.css";

/**
 * Shows a value. `expression`: what reads it in a flow, for "Copy path". `reference`: the value is kept beside the log, and `onLoad`
 * reads it.
 */
export function ValueView({
  value,
  expression,
  reference,
  onLoad,
  name = "Value",
}: {
  readonly value?: Json | undefined;
  readonly expression?: string | undefined;
  readonly reference?: ValueRef | undefined;
  readonly onLoad?: (() => Promise<Json>) | undefined;
  /** Name of the value, such as an output: the name of the group and of a saved file. */
  readonly name?: string | undefined;
}): ComponentChildren {
  const [loaded, setLoaded] = useState<{ readonly value: Json }>();
  useEffect(() => setLoaded(undefined), [reference?.ref]);
  const shown = loaded?.value ?? (reference === undefined ? value : undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls of a form
    <div role="group" class="value-view" aria-label={name}>
      {shown !== undefined ? (
        <Whole value={shown} expression={expression} name={name} />
      ) : reference !== undefined ? (
        <Kept
          reference={reference}
          onLoad={onLoad}
          onLoaded={(whole) => setLoaded({ value: whole })}
        />
      ) : (
        <p class="muted">No value.</p>
      )}
    </div>
  );
}

function Whole({
  value,
  expression,
  name,
}: {
  readonly value: Json;
  readonly expression: string | undefined;
  readonly name: string;
}): ComponentChildren {
  const [chosen, choose] = useState<readonly Step[]>([]);
  const part = valueAt(value, chosen) ?? value;
  const [, setGrown] = useState(0);
  const roving = useRoving<HTMLUListElement>("button, a[href]");
  return (
    <>
      <div class="value-actions">
        <Button class="quiet" onClick={() => void copyText(plainText(part))}>
          Copy
        </Button>
        {expression !== undefined && (
          <Button
            class="quiet"
            onClick={async () => {
              const { pathExpression } = await import("./value-path.ts");
              await copyText(pathExpression(expression, chosen) ?? expression);
            }}
          >
            Copy path
          </Button>
        )}
        <Button
          class="quiet"
          onClick={() => {
            const isText = typeof part === "string";
            const file = `${fileName([name, ...chosen])}.${isText ? "txt" : "json"}`;
            saveText(file, plainText(part), isText ? "text/plain" : "application/json");
          }}
        >
          Download
        </Button>
      </div>
      <ul class="value-tree" {...roving}>
        <ValueRow
          value={value}
          path={[]}
          chosen={chosen}
          onChoose={choose}
          onGrow={() => setGrown((times) => times + 1)}
        />
      </ul>
    </>
  );
}

function Kept({
  reference: { ref, bytes, mediaType, preview },
  onLoad,
  onLoaded,
}: {
  readonly reference: ValueRef;
  readonly onLoad: (() => Promise<Json>) | undefined;
  readonly onLoaded: (value: Json) => void;
}): ComponentChildren {
  const action = useAction(async () => {
    if (onLoad !== undefined) onLoaded(await onLoad());
  });
  return (
    <>
      {preview !== undefined && preview !== "" && (
        <pre class="value-preview">
          <VisibleText text={preview} />…
        </pre>
      )}
      <p class="muted">
        {formatBytes(bytes)} of <VisibleText text={mediaType} />
        {ref === "" ? ", which is not kept." : ", kept beside the log."}
      </p>
      {ref !== "" && onLoad !== undefined && (
        <Button disabled={action.isBusy} onClick={() => void action.run()}>
          Load full value
        </Button>
      )}
      {action.error !== undefined && <p class="problem">{messageOf(action.error)}</p>}
    </>
  );
}

/** A name that every file system takes. */
function fileName(steps: readonly Step[]): string {
  return (
    steps
      .join("-")
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .slice(0, 80) || "value"
  );
}
