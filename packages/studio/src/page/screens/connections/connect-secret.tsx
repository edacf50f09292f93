/** The form that stores a credential of a service: an API key, a token, or a user and a password. */
import type { ServiceInfo } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
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
  const why = refusal("admin");
  const store = useAction(async () => {
    const value = scheme === "basic" ? `${user}:${secret}` : secret;
    setSecret("");
    await backend.invoke("set_service_secret", { slug, service, value });
    notify(`${slug} is connected`);
    onConnected();
  });
  return (
    <form
      aria-label={`Connect ${slug}`}
      class="card form-card"
      onSubmit={(event) => {
        event.preventDefault();
        void store.run();
      }}
    >
      <h2>Connect {slug}</h2>
      {scheme === "basic" && (
        <label>
          User
          <input
            required
            autocomplete="off"
            spellcheck={false}
            value={user}
            onInput={(event) => setUser(event.currentTarget.value)}
          />
        </label>
      )}
      <label>
        {LABELS[scheme] ?? "Credential"}
        <input
          type="password"
          required
          autocomplete="off"
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <p class="muted">It goes to the credential store of the server and is never shown again.</p>
      <Problem error={store.error} />
      <div class="actions">
        <Button type="submit" class="primary" disabled={store.isBusy} refusal={why}>
          Continue
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
