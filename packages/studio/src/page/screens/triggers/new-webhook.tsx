/** The form of a new webhook. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, invokeOnce } from "../../backend.ts";
import { ChoiceField } from "../../parts/fields.tsx";
import { FormCard } from "../../parts/new-item.tsx";
import { useAction } from "../../state/use-action.ts";
import { useValue } from "../../state/use-value.ts";
import { FlowSelect } from "./flow-select.tsx";

/** Asks for a flow and the input that gets the request. `onCreated` is told the token, which no other answer shows. */
export function NewWebhook({
  onCreated,
  onClose,
}: {
  readonly onCreated: (token: string) => void;
  readonly onClose: () => void;
}): ComponentChildren {
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
    <FormCard name="New webhook" action="Create webhook" work={create} onClose={onClose}>
      <div class="fields">
        <FlowSelect
          chosen={template}
          onChoose={(slug) => {
            setTemplate(slug);
            setInput("");
          }}
        />
        <ChoiceField
          label="Input"
          isRequired
          none="Choose an input"
          value={input}
          options={inputs}
          onChosen={setInput}
        />
      </div>
      <p class="muted">
        The input gets an object with the members method, query, headers and body. A flow that needs
        another input cannot be started by a webhook.
      </p>
    </FormCard>
  );
}
