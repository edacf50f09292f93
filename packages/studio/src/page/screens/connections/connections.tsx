/** Services and their connections: what flows may reach, and with whose consent. */
import type { ConnectionStatus, ServiceInfo } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { type ScreenProps, setQuery } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-list.ts";
import { ConnectConsent } from "./connect-consent.tsx";
import { ConnectSecret } from "./connect-secret.tsx";
import "./connections.css";

/** One line of the table: a connection, or a service without one. */
interface Line {
  readonly service: ServiceInfo;
  readonly connection?: ConnectionStatus;
  readonly slug: string;
}

/** The table of services, and the form that connects one: `connect` of the place names it, and `service` its service. */
export function ConnectionsScreen({ place: { query } }: ScreenProps): ComponentChildren {
  const chosen = query.get("connect");
  const [asked, setAsked] = useState({ slug: "", turn: 0 });
  const [removed, setRemoved] = useState<string>();
  const list = useList<ServiceInfo>({
    key: "",
    load: (cursor) => backend.invoke("list_services", cursor === undefined ? {} : { cursor }),
  });
  const disconnect = useAction(async (slug: string) => {
    await backend.invoke("disconnect_service", { slug });
    setRemoved(undefined);
    notify(`${slug} is disconnected`);
    list.reload();
  });
  const close = (): void => {
    setAsked(({ turn }) => ({ slug: "", turn }));
    setQuery({ connect: undefined, service: undefined, receiver: undefined });
  };
  const lines = (list.items ?? []).flatMap(linesOf);
  const line = lines.find(({ slug }) => slug === chosen) ?? newLine(list.items, query);
  return (
    <>
      <Heading title="Connections" />
      <Problem error={disconnect.error} />
      {line !== undefined && line.service.scheme === "oauth2" && (
        <ConnectConsent
          key={`${line.slug} ${asked.turn}`}
          slug={line.slug}
          service={line.service}
          isAsked={asked.slug === line.slug}
          receiver={query.get("receiver")}
          onConnected={list.reload}
          onClose={close}
        />
      )}
      {line !== undefined && line.service.scheme !== "oauth2" && (
        <ConnectSecret
          key={`${line.slug} ${asked.turn}`}
          slug={line.slug}
          service={line.service.slug}
          scheme={line.service.scheme}
          onConnected={list.reload}
          onClose={close}
        />
      )}
      <ListView list={list} empty={<NoServices />}>
        {() => (
          <DataTable
            name="Services"
            columns={columnsOf({
              onConnect: (slug) => {
                setAsked(({ turn }) => ({ slug, turn: turn + 1 }));
                setQuery({ connect: slug, service: undefined, receiver: undefined });
              },
              onDisconnect: setRemoved,
            })}
            rows={lines}
            keyOf={({ service, slug }) => `${service.slug} ${slug}`}
          />
        )}
      </ListView>
      {removed !== undefined && (
        <ConfirmDialog
          title={`Disconnect ${removed}?`}
          action="Disconnect"
          isBusy={disconnect.isBusy}
          onConfirm={() => void disconnect.run(removed)}
          onClose={() => setRemoved(undefined)}
        >
          <p>
            The credential is revoked where the service allows it, and deleted. Runs that use the
            connection fail from now on.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** A connection that a flow names and nobody has made yet: `service` of the place says of which service. */
function newLine(
  services: readonly ServiceInfo[] | undefined,
  query: URLSearchParams,
): Line | undefined {
  const [slug, named] = [query.get("connect"), query.get("service")];
  const service = services?.find((each) => each.slug === named);
  return service === undefined || slug === null ? undefined : { service, slug };
}

function linesOf(service: ServiceInfo): readonly Line[] {
  const { slug, connections } = service;
  if (connections.length === 0) return [{ service, slug }];
  return connections.map((connection) => ({ service, connection, slug: connection.slug }));
}

function columnsOf({
  onConnect,
  onDisconnect,
}: {
  readonly onConnect: (slug: string) => void;
  readonly onDisconnect: (slug: string) => void;
}): readonly Column<Line>[] {
  const why = refusal("admin");
  return [
    {
      title: "Service",
      isHead: true,
      cell: ({ service }) => (
        <>
          <VisibleText text={service.title} /> <span class="muted">{service.slug}</span>
        </>
      ),
    },
    { title: "Scheme", cell: ({ service }) => service.scheme },
    { title: "Connection", cell: ({ connection }) => connection?.slug ?? "" },
    { title: "Status", cell: (line) => <Status {...line} /> },
    { title: "Scopes", cell: ({ connection }) => connection?.scopes.join(", ") ?? "" },
    {
      title: "Expires",
      cell: ({ connection }) =>
        connection?.expires_at === undefined ? (
          ""
        ) : (
          <>
            <Time at={connection.expires_at} />
            <span class="muted">
              {" "}
              {connection.refreshable ? "renewed automatically" : "not renewed"}
            </span>
          </>
        ),
    },
    actionsColumn(
      ({ service, connection, slug }) =>
        service.scheme !== "none" && (
          <>
            <Button refusal={why} onClick={() => onConnect(slug)}>
              {isConnected(connection) ? "Reconnect" : "Connect"} {slug}
            </Button>
            {connection !== undefined && connection.status !== "not_connected" && (
              <Button class="danger" refusal={why} onClick={() => onDisconnect(slug)}>
                Disconnect {slug}
              </Button>
            )}
          </>
        ),
    ),
  ];
}

function isConnected(connection: ConnectionStatus | undefined): boolean {
  return connection?.status === "connected" || connection?.status === "reconnect_required";
}

const WORDS: Readonly<Record<ConnectionStatus["status"], readonly [symbol: string, word: string]>> =
  {
    connected: ["●", "connected"],
    reconnect_required: ["✗", "must be connected again"],
    not_connected: ["○", "not connected"],
    unavailable: ["✗", "the credential store does not answer"],
  };

function Status({ service, connection }: Line): ComponentChildren {
  if (service.scheme === "none") return <span class="muted">needs no credential</span>;
  const status = connection?.status ?? "not_connected";
  const [symbol, word] = WORDS[status];
  return (
    <>
      <span class="connection-status" data-status={status}>
        <span aria-hidden="true">{symbol}</span> <span>{word}</span>
      </span>
      {connection?.lastError !== undefined && (
        <span class="muted">
          {" "}
          {connection.lastError.code}, <Time at={connection.lastError.at} />
        </span>
      )}
    </>
  );
}

function NoServices(): ComponentChildren {
  return (
    <section class="empty">
      <h2>No services</h2>
      <p>
        A service describes how flows call an API, and which credential the API needs. Import one
        from an OpenAPI document:
      </p>
      <pre>millrace services import https://api.example/openapi.json</pre>
      <p>A program that embeds the server passes services in the option services.</p>
    </section>
  );
}
