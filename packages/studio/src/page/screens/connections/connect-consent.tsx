/** The form that connects a service by OAuth: the client where none is known, the consent page, and how it stands. */
import type { OAuthClientArgs, ServiceInfo } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { placeHref, setQuery } from "../../router.ts";
import { isLoopback } from "../../state/host.ts";
import { refusal } from "../../state/meta.ts";
import { adviceOf, progressText, type Receiver, useConsent } from "./use-consent.ts";

/** Leads through one consent. `isAsked`: a person has just asked for it, so it begins at once. */
export function ConnectConsent({
  slug,
  service,
  isAsked,
  receiver: named,
  onConnected,
  onClose,
}: {
  readonly slug: string;
  readonly service: ServiceInfo;
  readonly isAsked: boolean;
  readonly receiver: string | null;
  readonly onConnected: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  // The redirect goes to the machine of the browser: the server receives it only where both are the same.
  const receiver: Receiver =
    named === "caller" || !isLoopback(location.hostname) ? "caller" : "server";
  const { slug: name, redirect } = service;
  const consent = useConsent({ slug, service: name, redirect, receiver }, onConnected);
  const { started, progress, needsClient = false, begin } = consent;
  const isWaiting = progress?.state === "waiting";
  useEffect(() => {
    if (isAsked) void begin.run();
  }, []);
  // Another receiver is another consent.
  useEffect(() => {
    if (started !== undefined) void begin.run();
  }, [receiver]);
  const [client, setClient] = useState({ id: "", secret: "" });
  const [address, setAddress] = useState("");
  const why = refusal("admin");
  const isEnded = progress !== undefined && !isWaiting && progress.state !== "connected";
  const isPasting = isWaiting && receiver === "caller";
  const submit = (): void => {
    // What was typed is sent once and leaves the page.
    setClient({ id: "", secret: "" });
    setAddress("");
    if (isPasting) void consent.finish.run(address);
    else if (progress === undefined) void begin.run(needsClient ? clientOf(client) : undefined);
  };
  return (
    <form
      class="card form-card"
      aria-label={`Connect ${slug}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>Connect {slug}</h2>
      {progress === undefined && needsClient && (
        <ClientFields client={client} onChange={setClient} />
      )}
      <Problem error={begin.error ?? consent.finish.error} />
      {isWaiting && started !== undefined && (
        <>
          <p>
            <a
              class="consent-link"
              href={started.authorizeUrl}
              target="_blank"
              rel="noopener noreferrer"
            >
              Open consent page
            </a>{" "}
            <span class="muted">
              on {new URL(started.authorizeUrl).host}; it can be given{" "}
              <Time at={started.expiresAt} />
            </span>
          </p>
          {isPasting ? (
            <AddressField
              address={address}
              redirectUri={started.redirectUri}
              onChange={setAddress}
            />
          ) : (
            <p>
              <a
                href={placeHref(["connections"], {
                  connect: slug,
                  service: name,
                  receiver: "caller",
                })}
                onClick={(event) => {
                  event.preventDefault();
                  setQuery({ receiver: "caller" });
                }}
              >
                My browser is on another machine
              </a>
            </p>
          )}
        </>
      )}
      <p>
        <span role="status" aria-label="Connect status">
          {progress === undefined ? "" : progressText(progress)}
        </span>
      </p>
      {progress !== undefined && <p class="muted">{adviceOf(progress)}</p>}
      <div class="actions">
        {(progress === undefined || isPasting) && (
          <Button
            type="submit"
            class="primary"
            disabled={begin.isBusy || consent.finish.isBusy}
            refusal={why}
          >
            {isPasting ? "Finish" : "Continue"}
          </Button>
        )}
        {isEnded && (
          <>
            <Button class="primary" disabled={begin.isBusy} onClick={() => void begin.run()}>
              Try again
            </Button>
            <Button onClick={consent.askClient}>Use another client</Button>
          </>
        )}
        <Button
          onClick={() => {
            consent.cancel();
            onClose();
          }}
        >
          {progress?.state === "connected" ? "Close" : "Cancel"}
        </Button>
      </div>
    </form>
  );
}

/** An OAuth client as it is typed. */
interface TypedClient {
  readonly id: string;
  readonly secret: string;
}

function clientOf({ id, secret }: TypedClient): OAuthClientArgs {
  return { client_id: id, ...(secret !== "" && { client_secret: secret }) };
}

function ClientFields({
  client,
  onChange,
}: {
  readonly client: TypedClient;
  readonly onChange: (client: TypedClient) => void;
}): ComponentChildren {
  return (
    <>
      <p>
        The service knows this server by an OAuth client. Register one with the service, and give
        its id and secret here; a public client has no secret.
      </p>
      <TextField
        label="Client ID"
        required
        value={client.id}
        onTyped={(id) => onChange({ ...client, id })}
      />
      <TextField
        label="Client secret"
        type="password"
        value={client.secret}
        onTyped={(secret) => onChange({ ...client, secret })}
      />
    </>
  );
}

/** The address to which a consent on another machine has led. */
function AddressField({
  address,
  redirectUri,
  onChange,
}: {
  readonly address: string;
  readonly redirectUri: string;
  readonly onChange: (address: string) => void;
}): ComponentChildren {
  return (
    <>
      <p>
        After the consent your browser goes to an address that begins with{" "}
        <code>{redirectUri}</code> and says that the page cannot be reached. Copy that address and
        paste it here.
      </p>
      <TextField label="Address after the consent" required value={address} onTyped={onChange} />
    </>
  );
}
