/** The form that adds a hub. */
import type { HubProvides } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { invokeOnce } from "../../backend.ts";
import { CheckField, TextField } from "../../parts/fields.tsx";
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
  onClose,
}: {
  readonly onAdded: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  const [typed, setTyped] = useState({ id: "", name: "", url: "", publicKey: "" });
  const [provides, setProvides] = useState<readonly HubProvides[]>(["templates"]);
  const add = useAction(async () => {
    const { publicKey, ...about } = typed;
    const args = { ...about, provides: [...provides], ...(publicKey !== "" && { publicKey }) };
    await invokeOnce("add_hub", args);
    onAdded();
  });
  const into = (name: keyof typeof typed) => ({
    value: typed[name],
    onTyped: (text: string) => setTyped({ ...typed, [name]: name === "name" ? text : text.trim() }),
  });
  return (
    <FormCard
      name="Add hub"
      action="Add"
      work={add}
      isOff={provides.length === 0}
      onClose={onClose}
    >
      <div class="fields">
        <TextField
          label="Id"
          required
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          title="lower-case words, joined by -"
          {...into("id")}
        />
        <TextField label="Name" required {...into("name")} />
      </div>
      <TextField
        label="Address"
        required
        pattern="https://.*"
        title="an https: address"
        {...into("url")}
      />
      <fieldset>
        <legend>Provides</legend>
        {KINDS.map((kind) => (
          <CheckField
            key={kind}
            label={WORDS[kind]}
            isChecked={provides.includes(kind)}
            onChecked={(checked) =>
              setProvides(
                KINDS.filter((each) => (each === kind ? checked : provides.includes(each))),
              )
            }
          />
        ))}
      </fieldset>
      <TextField label="Public key" {...into("publicKey")} />
      <p class="muted">
        The Ed25519 key of the hub, in base64. With it, an index that the hub did not sign is
        refused.
      </p>
    </FormCard>
  );
}
