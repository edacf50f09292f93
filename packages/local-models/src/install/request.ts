/** The validated request of an install. */

import { isAbsolute } from "node:path";
import type { Model, ModelInstallArgs } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import { checkModelId, idOfPath } from "../library/ids.ts";
import { isLoopback } from "./download.ts";

const HUB = /^hub:([a-z0-9][a-z0-9._-]{0,63})\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;
const SHA256 = /^[0-9a-f]{64}$/;
const CREDENTIAL = /^ai:[a-z0-9][a-z0-9._-]{0,63}$/;

export type InstallOrigin =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "hub"; readonly hub: string; readonly item: string };

export interface InstallRequest {
  readonly id: string;
  readonly origin: InstallOrigin;
  readonly source: Model["source"];
  readonly sha256: string | null;
  /** Account of the credential store. */
  readonly credential: string | null;
  readonly fetchEngine: boolean;
}

/** Checks an install. Throws `invalid_args` and `digest_required`. */
export function readRequest(args: ModelInstallArgs): InstallRequest {
  const { source, id, sha256 = null, headersCredential: credential = null } = args;
  if (sha256 !== null && !SHA256.test(sha256)) throw invalid("sha256", "64 lower-case hex digits");
  if (credential !== null && !CREDENTIAL.test(credential)) {
    throw invalid("headersCredential", "an account such as ai:models");
  }
  const { origin, name, shown } = typeof source === "string" ? remote(source) : file(source.file);
  if (origin.kind === "url" && sha256 === null && args.allowUnverified !== true) {
    throw new ModelError(
      "digest_required",
      "a model from a URL needs its sha256; allowUnverified takes what comes",
    );
  }
  return {
    id: id === undefined ? idOfPath(name) : checkModelId(id),
    origin,
    source: shown,
    sha256,
    credential,
    fetchEngine: args.fetchEngine ?? false,
  };
}

interface Place {
  readonly origin: InstallOrigin;
  /** Text from which the default id is derived. */
  readonly name: string;
  readonly shown: Model["source"];
}

function remote(text: string): Place {
  const [, hub, item] = HUB.exec(text) ?? [];
  if (hub !== undefined && item !== undefined) {
    const origin = { kind: "hub", hub, item } as const;
    return { origin, name: item, shown: origin };
  }
  if (!URL.canParse(text)) throw invalid("source", "an https URL, or hub:<hub>/<item>");
  const url = new URL(text);
  const isPlain = url.protocol === "http:" && isLoopback(url);
  if (url.protocol !== "https:" && !isPlain) throw invalid("source", "an https URL");
  if (url.username !== "" || url.password !== "") {
    throw invalid("source", "a URL without user info; headersCredential names a credential");
  }
  return {
    origin: { kind: "url", url: url.href },
    name: decoded(url.pathname.split("/").at(-1) ?? ""),
    shown: { kind: "url", url: publicUrl(url) },
  };
}

/** A URL without user, password, query and fragment. */
export function publicUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function file(path: string): Place {
  if (!isAbsolute(path) || path.includes("\0")) throw invalid("source", "an absolute path");
  const name = path.split(/[/\\]/).at(-1) ?? "";
  return { origin: { kind: "file", file: path }, name, shown: { kind: "file" } };
}

/** A percent sign that means nothing stays. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text).split("/").at(-1) ?? "";
  } catch {
    return text;
  }
}

function invalid(argument: string, wanted: string): ModelError {
  return new ModelError("invalid_args", `${argument}: must be ${wanted}`);
}
