/** Event streams: their bytes, their readers, and the two routes that open them. */
export { EventStreams } from "./event-stream.ts";
export { createFeedReader, createFeedStream, createModelsStream } from "./feed.ts";
export { createRunEventsStream, createRunFlowStream } from "./run-streams.ts";
