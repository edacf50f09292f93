/** A problem document of the server: title, detail, the places that it names, and the id of the request. */
import { ClientError } from "@millrace/client";
import type { ComponentChildren } from "preact";
import { VisibleText } from "./value-view/visible-text.tsx";

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
  return (
    <div class="problem">
      <p>
        <strong>{title}</strong>
        {detail !== undefined && ": "}
        <VisibleText text={detail ?? ""} />
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map((each) => (
            <li key={`${each.pointer} ${each.message}`}>
              {each.pointer !== "" && (
                <code>
                  <VisibleText text={isForm ? fieldOf(each.pointer) : each.pointer} />
                </code>
              )}{" "}
              <VisibleText text={each.message} />
            </li>
          ))}
        </ul>
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
