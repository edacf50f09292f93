/** The pages that a browser shows at the end. Their text is ours or the caller's, never the request's. */

/** One page as plain text; it is escaped where it is shown. */
export interface LoopbackPage {
  title: string;
  message: string;
}

/** The three answers of the receiver: connected, denied, and anything that is no redirect. */
export type LoopbackPageName = "ok" | "denied" | "notFound";

const STATUS = { ok: "200 OK", denied: "400 Bad Request", notFound: "404 Not Found" } as const;

const PAGES: Record<LoopbackPageName, LoopbackPage> = {
  ok: { title: "Connected", message: "The connection succeeded. You can close this tab." },
  denied: {
    title: "Not connected",
    message: "Authorization was denied. You can close this tab.",
  },
  notFound: { title: "Not found", message: "There is nothing at this address." },
};

const HEADERS = [
  "Connection: close",
  "Cache-Control: no-store",
  "Referrer-Policy: no-referrer",
  "X-Content-Type-Options: nosniff",
  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
];

/** All answers, in their two parts: a request with HEAD is sent only the first. */
export type LoopbackPages = Readonly<
  Record<LoopbackPageName, { readonly head: string; readonly body: string }>
>;

/**
 * The caller's pages, else ours, read once and ready to be sent: nothing is made while a browser waits. Throws `TypeError`
 * where a title or a message is no string.
 */
export function readPages(
  pages: Partial<Record<LoopbackPageName, LoopbackPage>> = {},
): LoopbackPages {
  const read = (name: LoopbackPageName): LoopbackPages[LoopbackPageName] => {
    const { title, message } = pages[name] ?? PAGES[name];
    if (typeof title === "string" && typeof message === "string") {
      return renderPage(name, { title, message });
    }
    throw new TypeError(`pages.${name}: must have a title and a message, both strings`);
  };
  return { ok: read("ok"), denied: read("denied"), notFound: read("notFound") };
}

function renderPage(
  name: LoopbackPageName,
  { title, message }: LoopbackPage,
): LoopbackPages[LoopbackPageName] {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
</body>
</html>
`;
  const head = [
    `HTTP/1.1 ${STATUS[name]}`,
    "Content-Type: text/html; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...HEADERS,
  ].join("\r\n");
  return { head: `${head}\r\n\r\n`, body };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
