/** A message as a flow writes it: checked before anybody is connected to. */
import { createHash } from "node:crypto";
import { type JsonObject, type NodeContext, NodeError } from "@millrace/contracts";
import type { SendMailOptions } from "nodemailer";
import addressparser from "nodemailer/lib/addressparser";

/** Recipients of one message, `cc` and `bcc` among them. */
export const MAX_RECIPIENTS = 100;
/** Bytes of texts and attachments where `maxBytes` says nothing; many servers take 25 MB, a third of which is base64. */
export const MAX_BYTES = 10_485_760;
/** Bytes at most. */
export const MOST_BYTES = 26_214_400;

/** The fields of `mail.send`. */
export interface Fields {
  readonly from?: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly replyTo?: string;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly attachments?: readonly { readonly path: string; readonly filename?: string }[];
  readonly maxBytes?: number;
}

/** One address in its form for a header. Throws `NodeError` `mail_address`. */
function addressOf(field: string, value: string): string {
  const [first, ...others] = addressparser(checked(field, value));
  const address = first !== undefined && "address" in first ? (first.address ?? "") : "";
  if (others.length > 0 || !/^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$/.test(address)) {
    const form = "one address, such as a@b.example or Name <a@b.example>";
    throw refused("mail_address", `${field} takes ${form}, not ${JSON.stringify(value)}`);
  }
  return value;
}

/** A text of a header. Throws `NodeError` `mail_header` for one that would begin another header. */
function checked(field: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a header must not hold
  if (!/[\r\n\u0000]/.test(value)) return value;
  throw refused("mail_header", `${field} holds a line end, which would begin another header`);
}

/** The message for the transport. Throws `NodeError` by what is wrong with it, and what reading its files throws. */
export async function messageOf(fields: Fields, ctx: NodeContext): Promise<SendMailOptions> {
  const { to, cc = [], bcc = [], replyTo, subject, text, html, attachments = [] } = fields;
  const { from = (ctx.config as JsonObject)["from"], maxBytes = MAX_BYTES } = fields;
  if (typeof from !== "string") {
    throw refused(
      "mail_address",
      'from is missing: give it here, or as "from" in the configuration',
    );
  }
  const count = to.length + cc.length + bcc.length;
  if (to.length === 0 || count > MAX_RECIPIENTS) {
    throw refused("mail_address", `a message has 1 to ${MAX_RECIPIENTS} recipients, not ${count}`);
  }
  const list = (field: string, values: readonly string[]) =>
    values.map((value) => addressOf(field, value));
  const head = {
    from: addressOf("from", from),
    to: list("to", to),
    cc: list("cc", cc),
    bcc: list("bcc", bcc),
    ...(replyTo !== undefined && { replyTo: addressOf("replyTo", replyTo) }),
    subject: checked("subject", subject),
  };
  let left = maxBytes - Buffer.byteLength(`${text ?? ""}${html ?? ""}`);
  const files = [];
  for (const { path, filename = path.split("/").at(-1) ?? path } of attachments) {
    checked("filename", filename);
    const { data } = await ctx.files.read(path, {
      maxBytes: Math.max(1, left),
      signal: ctx.signal,
    });
    left -= data.length;
    files.push({ filename, content: Buffer.from(data) });
  }
  if (left < 0) {
    throw refused("mail_too_large", `the message has more than ${maxBytes} bytes: set maxBytes`);
  }
  const domain = /@([^\s@<>]+?)>?\s*$/.exec(from)?.[1] ?? "localhost";
  return {
    ...head,
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    attachments: files,
    date: new Date(ctx.now()),
    messageId: `<${digest(ctx.idempotencyKey)}@${domain}>`,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The same for each try of a node, so that a receiver knows a copy. */
function digest(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}

/** A failure that the same fields have again. */
export function refused(code: string, message: string): NodeError {
  return new NodeError(code, message, { retryable: false });
}
