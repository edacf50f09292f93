/** The frame around every screen: banner, navigation, the screen of the place, and announcements. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { connection, isDraining, isUnauthorised, staleSince } from "./backend.ts";
import { Age } from "./parts/age.tsx";
import { Button } from "./parts/button.tsx";
import { Heading } from "./parts/heading.tsx";
import { NotLoaded } from "./parts/lazily.tsx";
import { Problem } from "./parts/problem.tsx";
import { place, placeHref } from "./router.ts";
import { routeOf } from "./screens.ts";
import { token } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { openConfirmations } from "./state/confirmations.ts";
import { isLoopback } from "./state/host.ts";
import { loadPart } from "./state/load-part.ts";
import { loadMeta, meta, mismatch, signOut } from "./state/meta.ts";
import { notification } from "./state/notifications.ts";
import { nextTheme, theme } from "./state/theme.ts";
import { useAction } from "./state/use-action.ts";
import { useValue } from "./state/use-value.ts";
import { useWhenBack } from "./state/use-when-back.ts";
import "./frame.css";

const LINKS = [
  ["Flows", "flows"],
  ["Runs", "runs"],
  ["Inbox", "inbox"],
  ["Triggers", "triggers"],
  ["Connections", "connections"],
  ["Models", "models"],
  ["Catalog", "catalog"],
  ["Hubs", "hubs"],
  ["Settings", "settings"],
] as const;

/** The page. Screens stay in it, hidden, while somebody signs in again. */
export function Frame(): ComponentChildren {
  const first = useAction(loadMeta);
  useEffect(() => void first.run(), []);
  const isHidden = isUnauthorised.value;
  return (
    <>
      {isHidden && <SignIn />}
      {meta.value === undefined && !isHidden && (
        <main class="sign-in">
          <Heading title={first.error === undefined ? "Millrace" : "No answer"} />
          <Problem error={first.error} />
          {first.error === undefined ? (
            <p class="muted">Loading…</p>
          ) : (
            <Button disabled={first.isBusy} onClick={() => void first.run()}>
              Try again
            </Button>
          )}
        </main>
      )}
      {meta.value !== undefined && (
        <div class="frame" hidden={isHidden}>
          <Banner />
          <Navigation />
          <CurrentScreen />
        </div>
      )}
      <div role="status" aria-label="Notifications" class="notification">
        {notification.value}
      </div>
    </>
  );
}

function Banner(): ComponentChildren {
  const isOpen = token.value === undefined && !isLoopback(location.hostname);
  return (
    <header class="banner">
      <Button class="skip" onClick={() => document.querySelector<HTMLElement>("main h1")?.focus()}>
        Skip to content
      </Button>
      <a class="brand" href={placeHref(["flows"])}>
        Millrace
      </a>
      <span
        role="status"
        aria-label="Connection"
        class="connection"
        data-connection={connection.value}
      >
        {connection.value}
      </span>
      <Button onClick={nextTheme}>Theme: {theme.value}</Button>
      {token.value !== undefined && <Button onClick={signOut}>Sign out</Button>}
      <div role="status" aria-label="Server" class="warnings">
        {isOpen && (
          <p class="warning">
            This server needs no token: whoever reaches it may do everything. Set MILLRACE_TOKEN.
          </p>
        )}
        {isDraining.value && (
          <p class="warning">
            The server is shutting down: nothing new is started, and the page goes on when it is
            back.
          </p>
        )}
        {mismatch.value !== undefined && <p class="warning">{mismatch.value}</p>}
      </div>
    </header>
  );
}

function Navigation(): ComponentChildren {
  const [current] = place.value.path;
  const open = openConfirmations.value;
  return (
    <nav aria-label="Main" class="navigation">
      <ul>
        {LINKS.map(([title, path]) => (
          <li key={path}>
            <a href={placeHref([path])} aria-current={current === path ? "page" : undefined}>
              {path === "inbox" && open > 0 ? `${title}, ${open} open` : title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function CurrentScreen(): ComponentChildren {
  const at = place.value;
  const route = routeOf(at);
  const {
    value: loaded,
    error,
    reload,
  } = useValue(
    route?.key ?? "",
    async () => route && { key: route.key, Current: await loadPart(route.load) },
  );
  const shown = loaded?.key === route?.key ? loaded : undefined;
  const isLost = shown === undefined && error !== undefined;
  useWhenBack(isLost, reload);
  return (
    <main class="content">
      {route === undefined ? (
        <>
          <Heading title="Not found" />
          <p>
            There is no screen at this address. <a href={placeHref(["flows"])}>Go to Flows</a>
          </p>
        </>
      ) : isLost ? (
        <>
          <Heading title="Not loaded" />
          <div role="alert">
            <NotLoaded error={error} />
          </div>
        </>
      ) : shown !== undefined ? (
        route.hasAge ? (
          <shown.Current key={shown.key} place={at} />
        ) : (
          <Aged key={shown.key}>
            <shown.Current place={at} />
          </Aged>
        )
      ) : (
        <p class="muted">Loading…</p>
      )}
    </main>
  );
}

/** A screen, grey and with its age while the server does not answer. */
function Aged({ children }: { readonly children: ComponentChildren }): ComponentChildren {
  const isStale = staleSince.value !== undefined;
  return (
    <>
      {isStale && <Age />}
      <div class={isStale ? "stale" : undefined}>{children}</div>
    </>
  );
}
