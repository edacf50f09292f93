/** A model on loopback that writes what a test tells it to, when it tells it to: the wire of OpenAI's chat completions. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model that waits to be told what to write. */
export interface SlowModel extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123/v1`. */
  readonly url: string;
  /** Resolves when a call has come. */
  called(): Promise<void>;
  /** Writes a piece of text to the open call. */
  write(text: string): void;
  /** Ends the open call. */
  finish(): void;
}

/** Starts a model. */
export async function startSlowModel(): Promise<SlowModel> {
  let answer: ServerResponse | undefined;
  let tell: () => void = () => {};
  const first = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      answer = response;
      tell();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const send = (choice: object, usage?: object): void => {
    const chunk = {
      id: "call",
      object: "chat.completion.chunk",
      created: 1,
      model: "turtle",
      choices: [{ index: 0, ...choice }],
      ...(usage !== undefined && { usage }),
    };
    answer?.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    called: () => first,
    write: (content) => send({ delta: { role: "assistant", content }, finish_reason: null }),
    finish() {
      const usage = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };
      send({ delta: {}, finish_reason: "stop" }, usage);
      answer?.end("data: [DONE]\n\n");
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
