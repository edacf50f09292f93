/** The real packages against the wire server, and what they answer. */
import type {
  AiCall,
  AiContext,
  AiModel,
  AiPart,
  AiProvider,
  FetchLike,
} from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { createProviders, type ProviderSettings } from "@millrace/providers";
import type { Wire } from "../../../testkit/src/providers/wires.ts";

/** The egress client, with loopback allowed. */
export function loopbackFetch(): FetchLike {
  return createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }] });
}

/** Settings of one provider for each wire, all at `baseUrl`. */
export function settingsFor(baseUrl: string): { readonly [wire in Wire]: ProviderSettings } {
  return {
    chat: { kind: "openai", api: "chat", baseUrl },
    responses: { kind: "openai", api: "responses", baseUrl },
    messages: { kind: "anthropic", baseUrl },
  };
}

/** The provider of a wire; its id is the wire. */
export function providerFor(wire: Wire, baseUrl: string): AiProvider {
  const providers = createProviders({ providers: settingsFor(baseUrl) });
  return providers.find(({ id }) => id === wire) as AiProvider;
}

export const WIRE_NAMES: readonly Wire[] = ["chat", "responses", "messages"];

export const KEY = "sk-canary/01234+56789abcdef";

export function contextWith(options: Partial<AiContext> = {}): AiContext {
  return {
    credentials: { apiKey: KEY },
    fetch: loopbackFetch(),
    signal: new AbortController().signal,
    ...options,
  };
}

export function ask(text: string, more: Partial<AiCall> = {}): AiCall {
  return {
    prompt: [{ role: "user", content: [{ type: "text", text }] }],
    maxOutputTokens: 100,
    ...more,
  };
}

export async function partsOf(model: AiModel, call: AiCall): Promise<readonly AiPart[]> {
  const { stream } = await model.doStream(call);
  const reader = stream.getReader();
  const parts: AiPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    if (value !== undefined) parts.push(value);
  }
}

export function textOf(parts: readonly AiPart[]): string {
  return parts
    .filter(({ type }) => type === "text-delta")
    .map((part) => String(part["delta"]))
    .join("");
}

export function partOf(parts: readonly AiPart[], type: string): AiPart {
  const found = parts.find((part) => part.type === type);
  if (found === undefined)
    throw new Error(`no part ${type} among ${parts.map((each) => each.type)}`);
  return found;
}
