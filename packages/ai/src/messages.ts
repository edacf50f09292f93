/**
 * From what an author wrote to the messages of a prompt.
 *   M1  the form of `input` is that of the source; data that flows in can never add a role or a file.
 *   M2  messages are JSON (files as base64) until a call is made, so that they can be kept, compared and hashed.
 */

import {
  type AiMessage,
  type AiPart,
  type FieldValue,
  type Json,
  type JsonObject,
  NodeError,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { fromBase64, toBase64 } from "@millrace/engine/pack";
import { type Task, userText } from "./presets.ts";

/** How `input` is written: one value, `{ messages: [...] }`, or `{ parts: [...] }`. */
export type InputForm = "value" | "messages" | "parts";

/** Where the bytes of file parts come from. */
export interface FileSource {
  /** Of an https: address, through the egress policy, at most `MAX_FETCHED_BYTES`. */
  fetch(url: string): Promise<Uint8Array>;
  /** Of a file, through the file policy. */
  read(path: string): Promise<Uint8Array>;
}

export const MAX_FETCHED_BYTES: number = 20 * 1024 * 1024;

/** The form of a field as it stands in the flow; not for evaluated data. */
export function inputForm(source: FieldValue): InputForm {
  const value = isObject(source) && isOnlyKey(source, "$lit") ? source["$lit"] : source;
  if (!isObject(value)) return "value";
  if (isOnlyKey(value, "messages")) return "messages";
  return isOnlyKey(value, "parts") ? "parts" : "value";
}

function isOnlyKey(value: JsonObject, key: string): boolean {
  return Object.keys(value).length === 1 && Object.hasOwn(value, key);
}

export interface InputOptions {
  readonly task: Task;
  readonly form: InputForm;
  readonly files: FileSource;
}

/**
 * The messages of an evaluated `input`. Throws `NodeError` `field_invalid` for what is no message or part, and whatever the
 * file source throws.
 */
export async function readInput(input: Json, options: InputOptions): Promise<readonly AiMessage[]> {
  const { task, form, files } = options;
  if (form === "messages") {
    const messages = (input as JsonObject)["messages"];
    if (!Array.isArray(messages) || messages.length === 0) {
      throw invalid("messages", "must be a list with at least one message");
    }
    return await Promise.all(messages.map((message, i) => readMessage(message, i, task, files)));
  }
  const content =
    form === "parts"
      ? await readParts((input as JsonObject)["parts"], "parts", task, files)
      : [textPart(userText(task, inputText(input)))];
  return [{ role: "user", content }];
}

/** A string as it is, any other value as its JSON text. */
export function inputText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The texts of `embed`. Throws `NodeError` `field_invalid`. */
export function embedTexts(input: Json): readonly string[] {
  if (typeof input === "string") return [input];
  if (Array.isArray(input) && input.length > 0 && input.every((it) => typeof it === "string")) {
    return input;
  }
  throw new NodeError("field_invalid", "input must be a text or a list of texts with task embed");
}

async function readMessage(
  message: Json,
  index: number,
  task: Task,
  files: FileSource,
): Promise<AiMessage> {
  const at = `messages[${index}]`;
  if (!isObject(message)) throw invalid(at, "must be { role, content }");
  onlyKeys(message, ["role", "content"], at);
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    throw invalid(`${at}.role`, 'must be "user" or "assistant"');
  }
  const read = role === "user" ? task : "chat"; // the assistant's own words are no data
  if (typeof content === "string") return { role, content: [textPart(userText(read, content))] };
  return { role, content: await readParts(content, `${at}.content`, read, files) };
}

async function readParts(
  parts: Json | undefined,
  at: string,
  task: Task,
  files: FileSource,
): Promise<readonly AiPart[]> {
  if (!Array.isArray(parts) || parts.length === 0) {
    throw invalid(at, "must be a list with at least one part");
  }
  return await Promise.all(parts.map((part, i) => readPart(part, `${at}[${i}]`, task, files)));
}

async function readPart(part: Json, at: string, task: Task, files: FileSource): Promise<AiPart> {
  if (!isObject(part)) throw invalid(at, "must be an object");
  if (part["type"] === "text") {
    onlyKeys(part, ["type", "text"], at);
    if (typeof part["text"] !== "string") throw invalid(`${at}.text`, "must be a string");
    return textPart(userText(task, part["text"]));
  }
  if (part["type"] !== "file") throw invalid(`${at}.type`, 'must be "text" or "file"');
  onlyKeys(part, ["type", "mediaType", "data", "url", "path"], at);
  const { mediaType } = part;
  if (typeof mediaType !== "string" || !MEDIA_TYPE.test(mediaType)) {
    throw invalid(`${at}.mediaType`, "must be a media type such as image/png");
  }
  return { type: "file", mediaType, data: await fileData(part, at, files) };
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})$/i;

async function fileData(part: JsonObject, at: string, files: FileSource): Promise<string> {
  const given = (["data", "url", "path"] as const).filter((key) => part[key] !== undefined);
  const [key] = given;
  if (key === undefined || given.length > 1) {
    throw invalid(at, "needs exactly one of data, url and path");
  }
  const value = part[key];
  if (typeof value !== "string") throw invalid(`${at}.${key}`, "must be a string");
  if (key === "data") {
    if (fromBase64(value) === undefined) throw invalid(`${at}.data`, "must be base64");
    return value.replace(/[\r\n]/g, "");
  }
  if (key === "path") return toBase64(await files.read(value));
  if (!/^https:\/\//i.test(value)) throw invalid(`${at}.url`, "must be an https: address");
  const bytes = await files.fetch(value);
  if (bytes.length > MAX_FETCHED_BYTES) {
    throw new NodeError(
      "response_too_large",
      `input.${at}.url has more than ${MAX_FETCHED_BYTES} bytes`,
    );
  }
  return toBase64(bytes);
}

export function textPart(text: string): AiPart {
  return { type: "text", text };
}

/** Messages in the form that a model of this specification takes: V3 wants the data of files bare, V4 tagged. */
export function toSpecification(
  messages: readonly AiMessage[],
  version: "v3" | "v4",
): readonly AiMessage[] {
  if (version === "v3") return messages;
  return messages.map((message) =>
    typeof message.content === "string"
      ? message
      : { ...message, content: message.content.map(taggedFile) },
  );
}

function taggedFile(part: AiPart): AiPart {
  const isBare = part.type === "file" && typeof part["data"] === "string";
  return isBare ? { ...part, data: { type: "data", data: part["data"] } } : part;
}

function onlyKeys(value: JsonObject, keys: readonly string[], at: string): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw invalid(at, `has no member ${JSON.stringify(unknown.slice(0, 64))}`);
  }
}

function invalid(at: string, what: string): NodeError {
  return new NodeError("field_invalid", `input.${at} ${what}`);
}
