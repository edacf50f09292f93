/** Mail from flows, by SMTP. */
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
  jsonSchema,
} from "@millrace/contracts";
import { type Fields, MAX_BYTES, MAX_RECIPIENTS, MOST_BYTES, messageOf } from "./message.ts";
import { type Sent, send, serverOf } from "./smtp.ts";

const address = { type: "string", minLength: 3, maxLength: 320 };
const addresses = { type: "array", items: address, maxItems: MAX_RECIPIENTS };

const sending = defineAction<Fields, Sent>({
  name: "send",
  title: "Send a mail",
  summary: "Sends a message; each try of the step has the same Message-ID.",
  fields: jsonSchema({
    type: "object",
    properties: {
      from: { ...address, description: 'absent: "from" of the configuration' },
      to: { ...addresses, minItems: 1, description: "one address each: a@b.example" },
      cc: addresses,
      bcc: addresses,
      replyTo: address,
      subject: { type: "string", maxLength: 998 },
      text: { type: "string" },
      html: { type: "string", "x-millrace": { sink: "html" } },
      attachments: {
        type: "array",
        items: {
          type: "object",
          properties: {
            path: {
              type: "string",
              minLength: 1,
              description: "a file of the project",
              "x-millrace": { sink: "path" },
            },
            filename: { type: "string", minLength: 1, maxLength: 255 },
          },
          required: ["path"],
          additionalProperties: false,
        },
      },
      maxBytes: {
        type: "integer",
        minimum: 1,
        maximum: MOST_BYTES,
        default: MAX_BYTES,
        description: "bytes of texts and attachments; more is a failure",
      },
    },
    required: ["to", "subject"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: {
      messageId: { type: "string" },
      accepted: { type: "array", items: { type: "string" } },
      rejected: {
        type: "array",
        items: { type: "string" },
        description: "recipients that the server refused while it took others",
      },
    },
    required: ["messageId", "accepted", "rejected"],
  }),
  effect: "write",
  needs: { secrets: ["SMTP_URL"] },
  async run(fields, ctx) {
    const message = await messageOf(fields, ctx);
    const url = serverOf((await ctx.credentials.secret("SMTP_URL")).reveal());
    const { ca } = ctx.config as { readonly ca?: string };
    return send(url, message, { signal: ctx.signal, ca });
  },
});

/** The adapter `mail` with `mail.send`. */
const extension: ExtensionDefinition = defineExtension({
  adapters: [
    defineActionAdapter({
      id: "mail",
      title: "Mail",
      config: jsonSchema({
        type: "object",
        properties: {
          from: { ...address, description: "sender of messages that name none" },
          ca: {
            type: "string",
            maxLength: 262_144,
            pattern: "-----BEGIN CERTIFICATE-----",
            description:
              "certificates in PEM that vouch for the server; absent: those that Node knows",
          },
        },
        additionalProperties: false,
      }),
      actions: [sending],
    }),
  ],
});
export default extension;
