/**
 * The OpenAI wire on loopback.
 *   H1  Without the token, or under another name than its own address, nothing is answered but the refusal.
 *   H2  A client that leaves stops the work that was done for it.
 *   H3  A stream that fails is cut, never ended as if it were whole.
 */
import { createHash, timingSafeEqual } from "node:crypto";
// biome-ignore lint/style/noRestrictedImports: this is a listener, on loopback alone
import { createServer } from "node:http";
import { readForcedCall } from "./history.js";
import { errorBody, Refusal, refused } from "./refusal.js";
import { readChat, readEmbeddings } from "./request.js";

const HOST = "127.0.0.1";
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const PIECE_MS = 10; // pieces of text that come faster are joined: invisible to a reader, and fewer events
const MODEL = "local"; // the process has one, and its name is the manager's affair

/** A server for one model; `listen` answers its port. */
export function createServing({ model, token }) {
  let host = "";
  const wanted = digest(`Bearer ${token}`);
  const routes = {
    "POST /v1/chat/completions": (io) => chat(model, io),
    "POST /v1/embeddings": (io) => embeddings(model, io),
    "GET /v1/models": (io) =>
      io.answer({ object: "list", data: [{ id: MODEL, object: "model", owned_by: "local" }] }),
    "GET /health": (io) => io.answer({ status: "ok" }),
  };
  const server = createServer(async (request, response) => {
    const io = exchange(request, response);
    try {
      const { headers, method, url } = request;
      if (headers.host !== host) throw new Refusal(403, "host_not_allowed", "not this host");
      if (!timingSafeEqual(digest(headers.authorization ?? ""), wanted)) {
        throw new Refusal(401, "invalid_api_key", "the token is missing or wrong");
      }
      const route = routes[`${method} ${url}`];
      if (route === undefined) throw new Refusal(404, "not_found", "there is no such route");
      await route(io);
    } catch (error) {
      io.fail(error);
    }
  });
  return {
    async listen() {
      await new Promise((resolve, reject) => {
        server.once("error", reject).listen(0, HOST, resolve);
      });
      const { port } = server.address();
      host = `${HOST}:${port}`;
      return port;
    },
  };
}

/** Digests have one length, so that comparing them takes one time. */
function digest(text) {
  return createHash("sha256").update(text).digest();
}

function exchange(request, response) {
  const leaving = new AbortController();
  response.on("close", () => leaving.abort(new Error("the client has left")));
  return {
    signal: leaving.signal,
    body: () => readBody(request),
    answer(value, status = 200) {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    },
    begin() {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
      });
    },
    // A piece that waited may come after its reader has left.
    send: (value) =>
      void (response.destroyed || response.write(`data: ${JSON.stringify(value)}\n\n`)),
    end: () => void response.end("data: [DONE]\n\n"),
    fail(error) {
      if (response.headersSent || leaving.signal.aborted) return void response.destroy();
      if (!(error instanceof Refusal)) process.stderr.write(`${error?.stack ?? error}\n`);
      const status = error instanceof Refusal ? error.status : 500;
      // What is left of a refused body is not read.
      response.writeHead(status, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(errorBody(error)));
    },
  };
}

async function readBody(request) {
  const tooLarge = () => new Refusal(413, "body_too_large", "the body is too large");
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw refused("the body is not JSON");
  }
}

async function chat(model, io) {
  const request = readChat(await io.body());
  const prepared = await model.prepare(request);
  const id = `chatcmpl-${crypto.randomUUID()}`;
  const head = { id, created: Math.floor(Date.now() / 1_000), model: MODEL };
  const chunk = (delta, finish = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const pieces = createPieces((name, text) => io.send(chunk({ [name]: text })));
  const isStreamed = request.stream && request.forced === false;
  if (request.stream) {
    io.begin();
    io.send(chunk({ role: "assistant", content: "" }));
  }
  let thought = "";
  const made = await model.generate(request, prepared, {
    signal: io.signal,
    onText: (text) => isStreamed && pieces.add("content", text),
    onThought(text) {
      if (request.stream) pieces.add("reasoning_content", text);
      else thought += text;
    },
  });
  pieces.flush();
  const { text, calls, finish } = request.forced === false ? made : asForced(made);
  const toolCalls = calls.map(({ name, text: args }, index) => ({
    ...(request.stream && { index }),
    id: `call_${crypto.randomUUID()}`,
    type: "function",
    function: { name, arguments: args },
  }));
  const usage = usageOf(prepared.promptTokens, made.completionTokens);
  if (!request.stream) {
    const message = {
      role: "assistant",
      content: calls.length > 0 && text === "" ? null : text,
      ...(thought !== "" && { reasoning_content: thought }),
      ...(calls.length > 0 && { tool_calls: toolCalls }),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    return io.answer({ ...head, object: "chat.completion", choices, usage });
  }
  if (toolCalls.length > 0) io.send(chunk({ tool_calls: toolCalls }));
  io.send(chunk({}, finish));
  if (request.withUsage) {
    io.send({ ...head, object: "chat.completion.chunk", choices: [], usage });
  }
  io.end();
}

/** Joins pieces that come within PIECE_MS. The first piece goes at once, and kinds of text are not mixed. */
function createPieces(send) {
  let kind = "";
  let text = "";
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer;
  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (text === "") return;
    send(kind, text);
    text = "";
    sentAt = performance.now();
  }
  return {
    flush,
    add(name, more) {
      if (name !== kind) flush();
      kind = name;
      text += more;
      if (performance.now() - sentAt >= PIECE_MS) flush();
      else timer ??= setTimeout(flush, PIECE_MS);
    },
  };
}

/** A forced call that was cut is an answer that was cut. */
function asForced(made) {
  const call = made.finish === "length" ? null : readForcedCall(made.text);
  return call === null
    ? { text: "", calls: [], finish: "length" }
    : { text: "", calls: [call], finish: "tool_calls" };
}

async function embeddings(model, io) {
  const values = readEmbeddings(await io.body());
  const { vectors, tokens } = await model.embed(values, io.signal);
  io.answer({
    object: "list",
    model: MODEL,
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function usageOf(prompt, completion) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}
