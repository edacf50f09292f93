/** The form that adds a hub. */
import type { HubProvides } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { invokeOnce } from "../../backend.ts";
import { FormCard } from "../../parts/new-item.tsx";
import { useAction } from "../../state/use-action.ts";

const KINDS: readonly HubProvides[] = ["templates", "nodes", "models"];
const WORDS: Readonly<Record<HubProvides, string>> = {
  templates: "Flows",
  nodes: "Node packs",
  models: "Models",
};

/** Asks for id, name, address, what is taken from the hub, and its key. */
export function AddHub({
  onAdded,
  onCancel,
}: {
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}): ComponentChildren {
  const [typed, setTyped] = useState({ id: "", name: "", url: "", publicKey: "" });
  const [provides, setProvides] = useState<readonly HubProvides[]>(["templates"]);
  const add = useAction(async () => {
    const { publicKey, ...about } = typed;
    const args = { ...about, provides: [...provides], ...(publicKey !== "" && { publicKey }) };
    await invokeOnce("add_hub", args);
    onAdded();
  });
  const field = (
    name: keyof typeof typed,
    more: { readonly required?: boolean; readonly pattern?: string; readonly title?: string },
  ) => ({
    ...more,
    autocomplete: "off",
    spellcheck: false,
    value: typed[name],
    onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value.trim() }),
  });
  return (
    <FormCard
      name="Add hub"
      action="Add"
      work={add}
      isOff={provides.length === 0}
      onCancel={onCancel}
    >
      <div class="fields">
        <label>
          Id
          <input
            {...field("id", {
              required: true,
              pattern: "[a-z0-9]+(-[a-z0-9]+)*",
              title: "lower-case words, joined by -",
            })}
          />
        </label>
        <label>
          Name
          <input
            required
            autocomplete="off"
            value={typed.name}
            onInput={(event) => setTyped({ ...typed, name: event.currentTarget.value })}
          />
        </label>
      </div>
      <label>
        Address
        <input
          {...field("url", { required: true, pattern: "https://.*", title: "an https: address" })}
        />
      </label>
      <fieldset>
        <legend>Provides</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="inline">
            <input
              type="checkbox"
              checked={provides.includes(kind)}
              onChange={({ currentTarget: { checked } }) =>
                setProvides(
                  KINDS.filter((each) => (each === kind ? checked : provides.includes(each))),
                )
              }
            />
            {WORDS[kind]}
          </label>
        ))}
      </fieldset>
      <label>
        Public key
        <input {...field("publicKey", {})} />
      </label>
      <p class="muted">
        The Ed25519 key of the hub, in base64. With it, an index that the hub did not sign is
        refused.
      </p>
    </FormCard>
  );
}
