/** The form of a new webhook. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, invokeOnce } from "../../backend.ts";
import { Problem } from "../../parts/problem.tsx";
import { useAction } from "../../state/use-action.ts";
import { useTemplates } from "../../state/use-templates.ts";
import { useValue } from "../../state/use-value.ts";

/** Asks for a flow and the input that gets the request. `onCreated` is told the token, which no other answer shows. */
export function NewWebhook({
  onCreated,
  onCancel,
}: {
  readonly onCreated: (token: string) => void;
  readonly onCancel: () => void;
}): ComponentChildren {
  const templates = useTemplates();
  const [template, setTemplate] = useState("");
  const [chosen, setInput] = useState("");
  const { value: inputs = [] } = useValue(template, async () => {
    if (template === "") return [];
    const { graph } = await backend.invoke("get_template", { slug: template });
    return graph.inputs.map(({ name }) => name);
  });
  // A flow with one input leaves no choice.
  const input = inputs.length === 1 ? (inputs[0] ?? "") : chosen;
  const create = useAction(async () => {
    const { token } = await invokeOnce("create_webhook", { template, input });
    onCreated(token);
  });
  return (
    <form
      aria-label="New webhook"
      class="card form-card"
      onSubmit={(event) => {
        event.preventDefault();
        void create.run();
      }}
    >
      {templates.error !== undefined && <Problem error={templates.error} />}
      <div class="fields">
        <label>
          Flow
          <select
            required
            value={template}
            onChange={(event) => {
              setTemplate(event.currentTarget.value);
              setInput("");
            }}
          >
            <option value="">Choose a flow</option>
            {templates.value?.map(({ slug }) => (
              <option key={slug} value={slug}>
                {slug}
              </option>
            ))}
          </select>
        </label>
        <label>
          Input
          <select required value={input} onChange={(event) => setInput(event.currentTarget.value)}>
            <option value="">Choose an input</option>
            {inputs.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="muted">
        The input gets an object with the members method, query, headers and body. A flow that needs
        another input cannot be started by a webhook.
      </p>
      {create.error !== undefined && <Problem error={create.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={create.isBusy}>
          Create webhook
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
