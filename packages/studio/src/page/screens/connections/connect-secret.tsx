/** The form that stores a credential of a service: an API key, a token, or a user and a password. */
import type { ServiceInfo } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { TextField } from "../../parts/fields.tsx";
import { FormCard } from "../../parts/new-item.tsx";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";

const LABELS: Readonly<Partial<Record<ServiceInfo["scheme"], string>>> = {
  apiKey: "API key",
  bearer: "Access token of the service",
  basic: "Password",
};

/** Asks for the credential; the fields are empty again once it was sent. */
export function ConnectSecret({
  slug,
  service,
  scheme,
  onConnected,
  onClose,
}: {
  readonly slug: string;
  readonly service: string;
  readonly scheme: ServiceInfo["scheme"];
  readonly onConnected: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  const [user, setUser] = useState("");
  const [secret, setSecret] = useState("");
  const store = useAction(async () => {
    const value = scheme === "basic" ? `${user}:${secret}` : secret;
    setSecret("");
    await backend.invoke("set_service_secret", { slug, service, value });
    notify(`${slug} is connected`);
    onConnected();
  });
  return (
    <FormCard
      name={`Connect ${slug}`}
      action="Continue"
      work={store}
      refusal={refusal("admin")}
      onClose={onClose}
    >
      <h2>Connect {slug}</h2>
      {scheme === "basic" && <TextField label="User" required value={user} onTyped={setUser} />}
      <TextField
        label={LABELS[scheme] ?? "Credential"}
        type="password"
        required
        value={secret}
        onTyped={setSecret}
      />
      <p class="muted">It goes to the credential store of the server and is never shown again.</p>
    </FormCard>
  );
}
