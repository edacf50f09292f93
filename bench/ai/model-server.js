// A model in a process of its own, so that its work is nobody's time. It speaks Chat Completions and streams as many deltas as
// the last message asks for; after them it ends, or with the model `hang` it falls silent. It prints its origin, and ends with
// its standard input.
// Usage: node model-server.js
import { createServer } from "node:http";

const EVENTS_AT_ONCE = 16; // in one piece of the socket, as a fast model sends them

const frame = (delta, finish = null) => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
};

function* pieces(count) {
  const one = frame({ content: "word " });
  yield frame({ role: "assistant", content: "" });
  for (let sent = 0; sent < count; sent += EVENTS_AT_ONCE) {
    yield one.repeat(Math.min(EVENTS_AT_ONCE, count - sent));
  }
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { model, messages } = JSON.parse(body);
  const { content } = messages.at(-1);
  const count = Number(typeof content === "string" ? content : content[0].text);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const piece of pieces(count)) {
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
  }
  if (model === "hang") return;
  const usage = { prompt_tokens: 1, completion_tokens: count, total_tokens: count + 1 };
  response.write(frame({}, "stop"));
  response.end(
    `data: ${JSON.stringify({ id: "c", model, choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.resume().once("end", () => process.exit());
