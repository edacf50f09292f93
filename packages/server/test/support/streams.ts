/** Reading event streams as a client does. */
import { type AnyEvent, checkLog, type FlowGraph, parseEventStrict } from "@millrace/contracts";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect } from "vitest";

/** One frame, as a parser of the standard sees it. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: AnyEvent;
}

/** Frames of a response, one after the other. */
export async function* frames(response: Response): AsyncGenerator<Frame, void> {
  if (response.body === null) return;
  const stream = response.body
    .pipeThrough(new TextDecoderStream() as never)
    .pipeThrough(new EventSourceParserStream() as never) as AsyncIterable<{
    id?: string;
    data: string;
  }>;
  for await (const { id, data } of stream) yield { id, event: parseEventStrict(data) };
}

/** All events of a stream that ends by itself. */
export async function readEvents(response: Response): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for await (const { event } of frames(response)) events.push(event);
  return events;
}

/** Reads until an event of this kind has come, and leaves the rest. */
export async function readUntil(response: Response, kind: string): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for await (const { event } of frames(response)) {
    events.push(event);
    if (event.kind === kind) break;
  }
  return events;
}

export function kinds(events: readonly AnyEvent[]): string[] {
  return events.map((event) => event.kind);
}

/** The log keeps every invariant. */
export function expectLegal(events: readonly AnyEvent[], graph?: FlowGraph): void {
  expect(checkLog(events, graph === undefined ? {} : { graph })).toEqual([]);
}
