/** A problem document of the server: title, detail, the places that it names, and the id of the request. */
import { ClientError } from "@millrace/client";
import type { ComponentChildren } from "preact";
import { formatCount } from "./format.ts";
import { VisibleText } from "./value-view/visible-text.tsx";

/** Problems that are listed at once: a long list would push the screen that it is about out of sight. */
const MAX_SHOWN = 5;

/** The one `alert` of a screen; nothing without an error. */
export function Problem({
  error,
  note,
}: {
  readonly error: unknown;
  /** A remark for the person, such as that nothing was lost. */
  readonly note?: string | undefined;
}): ComponentChildren {
  // The place stays in the page, so that a screen reader says what comes into it.
  return (
    <div role="alert">
      {error !== undefined && <Details error={error} />}
      {error !== undefined && note !== undefined && <p class="problem">{note}</p>}
    </div>
  );
}

function Details({ error }: { readonly error: unknown }): ComponentChildren {
  const problem = ClientError.isInstance(error) ? error.problem : undefined;
  if (problem === undefined) {
    return (
      <p class="problem">
        <VisibleText text={messageOf(error)} />
      </p>
    );
  }
  const { code, detail, errors = [], requestId } = problem;
  const isForm = code === "invalid_args"; // a person filled fields and knows of no arguments
  const title = isForm ? "The server does not take these values" : problem.title;
  const item = ({ pointer, message }: (typeof errors)[number]): ComponentChildren => (
    <li key={`${pointer} ${message}`}>
      {pointer !== "" && (
        <code>
          <VisibleText text={isForm ? fieldOf(pointer) : pointer} />
        </code>
      )}{" "}
      <VisibleText text={message} />
    </li>
  );
  return (
    <div class="problem">
      <p>
        <strong>{title}</strong>
        {detail !== undefined && ": "}
        <VisibleText text={detail ?? ""} />
      </p>
      {errors.length > 0 && <ul>{errors.slice(0, MAX_SHOWN).map(item)}</ul>}
      {errors.length > MAX_SHOWN && (
        <details>
          <summary>{formatCount(errors.length - MAX_SHOWN, "more problem")}</summary>
          <ul>{errors.slice(MAX_SHOWN).map(item)}</ul>
        </details>
      )}
      {requestId !== undefined && <p class="muted">Request {requestId}</p>}
    </div>
  );
}

/** `/inputs/name` as the fields are called: `inputs.name`. */
function fieldOf(pointer: string): string {
  return pointer.replace(/^\//, "").replaceAll("/", ".");
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
