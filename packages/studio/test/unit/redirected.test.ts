/** What an address says to which a consent led. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { callerRedirectUri, readRedirect } from "../../src/page/screens/connections/redirected.ts";

const word = fc.string({ minLength: 1, maxLength: 20 });

test("code and state are what the authorization server wrote, however they are escaped", () => {
  fc.assert(
    fc.property(word, word, (code, state) => {
      const query = new URLSearchParams({ state, iss: "https://a.example", code });
      const address = ` http://127.0.0.1:50000/callback?${query} `;
      expect(readRedirect(address)).toEqual({ code, state });
    }),
  );
});

test("a refusal is told by its name, and anything else is no answer", () => {
  expect(readRedirect("http://127.0.0.1:1/?error=access_denied&state=s")).toEqual({
    refused: "access_denied",
  });
  for (const address of ["", "code=1&state=2", "http://127.0.0.1:1/?code=1", "http://a/?state=1"]) {
    expect(readRedirect(address)).toBeUndefined();
  }
});

test("the port is one that nobody owns", () => {
  expect(callerRedirectUri({}, () => 0)).toBe("http://127.0.0.1:49152/callback");
  expect(callerRedirectUri({}, () => 0.999_999_9)).toBe("http://127.0.0.1:65535/callback");
});

test("a service that knows one address of its clients is sent to that", () => {
  const redirect = { port: 8_321, path: "/oauth/done" };
  expect(callerRedirectUri(redirect)).toBe("http://127.0.0.1:8321/oauth/done");
});
