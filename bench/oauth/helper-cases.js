// Helpers that only compute, against what a person calls instead. A sample is the time of the processor of one call.
import { accountFor, ensureFreshToken, percentEncode } from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";

const BATCH_MS = 10; // the clock of the processor is coarser than that of the wall

/** Texts of 64 characters as they are in authorize URLs and forms; every other one has some of `!'()*`. */
const texts = [
  "https://api.example.com/auth/issues.read https://api.example.com",
  "the first (and only) scope! it's written as *nobody* should do it",
  "http://127.0.0.1:43117/callback?from=millrace&service=payments-eu",
  "café (déjà vu) naïve façade! it's all beyond ASCII *somewhere* ok",
].map((text) => text.slice(0, 64));

const expires_at = "2999-01-01T00:00:00.000Z";
const scope = "issues:read issues:write";
const entryOf = (units) =>
  JSON.stringify({
    access_token: "a1B2-".repeat(units / 5),
    refresh_token: "r9Z8_".repeat(9),
    expires_at,
    token_type: "Bearer",
    scope,
  });

let kept; // what is computed must be used
const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Calls `once` so often that the clock can tell, and answers with milliseconds a call. */
function sampleOf(once) {
  let size = 1;
  let calls = 0;
  const waits = once(0) instanceof Promise;
  return async () => {
    for (;;) {
      const from = processorMs();
      if (waits) for (let i = 0; i < size; i++) kept = await once(calls++);
      else for (let i = 0; i < size; i++) kept = once(calls++);
      const ms = processorMs() - from;
      if (ms >= BATCH_MS && kept !== undefined) return ms / size;
      size *= 2;
    }
  };
}

function fresh(units) {
  const entry = entryOf(units);
  const slug = "tracker";
  const params = {
    store: memoryCredentialStore({ [accountFor(slug)]: entry }),
    slug,
    tokenUrl: "http://127.0.0.1:1/token",
    clientId: "client",
    clientSecret: "secret",
  };
  return {
    contenders: {
      "JSON.parse": sampleOf(() => JSON.parse(entry)),
      millrace: sampleOf(() => ensureFreshToken(params)),
    },
  };
}

export const helperCases = {
  percentEncode: {
    what: "64 characters; time of the processor",
    bars: { encodeURIComponent: 2.5 },
    samples: 40,
    prepare: () => ({
      contenders: {
        encodeURIComponent: sampleOf((i) => encodeURIComponent(texts[i & 3])),
        millrace: sampleOf((i) => percentEncode(texts[i & 3])),
      },
    }),
  },
  "fresh token": {
    what: "`ensureFreshToken`, memory store, access token of 900 characters; time of the processor",
    bars: { "JSON.parse": 4 },
    samples: 40,
    prepare: () => fresh(900),
  },
  "fresh short token": {
    what: "the same with one of 40 characters",
    bars: { "JSON.parse": 4 },
    samples: 40,
    prepare: () => fresh(40),
  },
};
