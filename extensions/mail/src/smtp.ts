/** SMTP: a connection for each message, on a socket that the policy of the host permits. */
import net from "node:net";
import { type AbortSignalLike, NodeError } from "@millrace/contracts";
import { createTransport, type SendMailOptions } from "nodemailer";
import { refused } from "./message.ts";

/** Milliseconds to connect, and of silence of a server. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Codes of certificates that are not trusted, and of TLS that does not come about. */
const TLS =
  /^(?:ETLS$|ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;
/** Those of a CA that is not known. */
const UNKNOWN_CA = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_SIGNATURE_)/;

/** What a server took. */
export interface Sent {
  readonly messageId: string;
  readonly accepted: readonly string[];
  /** Recipients that it refused while it took others. */
  readonly rejected: readonly string[];
}

/** Reads the secret. Throws `NodeError` `mail_server`, which does not show it. */
export function serverOf(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url !== undefined && /^smtps?:$/.test(url.protocol) && url.hostname !== "") {
    if (!/%(?![0-9a-f]{2})/i.test(url.username + url.password)) return url;
    throw refused(
      "mail_server",
      "the user or the password in SMTP_URL has a bare %: write it as %25",
    );
  }
  throw refused(
    "mail_server",
    "the secret SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465",
  );
}

/** How a message goes. */
export interface Sending {
  readonly signal: AbortSignalLike;
  /** Certificates in PEM of who may vouch for the server; default those that Node knows. */
  readonly ca: string | undefined;
}

/** Sends a message. Throws `NodeError` by what the server said, or the reason of the signal. */
export async function send(
  url: URL,
  message: SendMailOptions,
  { signal, ca }: Sending,
): Promise<Sent> {
  if (signal.aborted) throw signal.reason;
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (secure ? 465 : 587) : Number(url.port);
  const socket = net.connect({ host, port, timeout: CONNECT_MS });
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  aborted.catch(() => {});
  let isConnected = false;
  try {
    await Promise.race([connected(socket), aborted]);
    isConnected = true;
    const isPlain = url.searchParams.get("starttls") === "off";
    const transport = createTransport({
      ...{ host, port, secure, requireTLS: !secure && !isPlain, ignoreTLS: isPlain },
      connection: socket,
      ...(ca !== undefined && { tls: { ca } }),
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      ...(url.username !== "" && {
        auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
      }),
    });
    const info = await Promise.race([transport.sendMail(message), aborted]);
    const names = (list: readonly unknown[] = []) =>
      list.map((one) => (typeof one === "string" ? one : String(Object(one).address)));
    const { messageId, accepted, rejected } = Object(info);
    return { messageId, accepted: names(accepted), rejected: names(rejected) };
  } catch (error) {
    throw signal.aborted ? signal.reason : failureOf(error, host, isConnected);
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

function connected(socket: net.Socket): Promise<void> {
  return new Promise((done, fail) => {
    socket.once("error", fail);
    socket.once("timeout", () => fail(Object.assign(new Error("late"), { code: "ETIMEDOUT" })));
    socket.once("connect", () => {
      socket.off("error", fail);
      socket.removeAllListeners("timeout");
      socket.setTimeout(0);
      done();
    });
  });
}

/** 5xx is the last word of a server, 4xx is not (RFC 5321, 4.2.1). */
function failureOf(error: unknown, host: string, isConnected: boolean): unknown {
  if (NodeError.isInstance(error)) return error;
  const {
    code,
    originalCode,
    responseCode: status,
    response,
  } = Object(error) as {
    readonly code?: unknown;
    readonly originalCode?: unknown;
    readonly responseCode?: number;
    readonly response?: string;
  };
  if (code === "EAUTH") {
    const retryable = status !== undefined && status < 500;
    const says = status === undefined ? "" : ` (${status})`;
    return new NodeError("mail_login", `${host} does not take the login${says}`, { retryable });
  }
  const tls = [originalCode, code].find((each) => TLS.test(String(each)));
  if (tls !== undefined) {
    const text = UNKNOWN_CA.test(String(tls))
      ? `has a certificate of a CA that is not known (${tls}): set "ca" in the configuration to the certificate of its CA`
      : tls === "ERR_TLS_CERT_ALTNAME_INVALID"
        ? `has a certificate for other hosts (${tls}): use a host that it names`
        : `offers no TLS that can be trusted${tls === "ETLS" ? "" : ` (${tls})`}`;
    return refused("mail_tls", `${host} ${text}`);
  }
  if (status !== undefined && status >= 400) {
    const isLast = status >= 500;
    const text = `${host} answered ${String(response ?? status).slice(0, 300)}`;
    return new NodeError(isLast ? "mail_rejected" : "mail_deferred", text, {
      retryable: !isLast,
      status,
    });
  }
  const what = isConnected ? `the connection to ${host} broke` : `no connection to ${host}`;
  return new NodeError("network", `${what} (${typeof code === "string" ? code : "no code"})`, {
    ...{ reason: "network", retryable: true, sent: isConnected },
  });
}
