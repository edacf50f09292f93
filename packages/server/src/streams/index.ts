/** Event streams: their bytes, their readers, and the two routes that open them. */
export { EventStreams } from "./event-stream.ts";
export { createFeedReader, createFeedStream } from "./feed.ts";
export { createModelsStream } from "./models.ts";
export { createRunEventsStream } from "./run-events.ts";
export { createRunFlowStream } from "./run-flow.ts";
