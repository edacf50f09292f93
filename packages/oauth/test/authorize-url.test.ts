import { type AuthorizeParams, buildAuthorizeUrl, percentEncode } from "@millrace/oauth";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

const params: AuthorizeParams = {
  authorizeUrl: "https://as.example/authorize",
  clientId: "client 1",
  redirectUri: "http://127.0.0.1:4711/callback",
  scopes: ["read:all", "write"],
  state: "s/t+a=t",
};
const SEVEN =
  "response_type=code&client_id=client%201&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback" +
  "&scope=read%3Aall%20write&state=s%2Ft%2Ba%3Dt&access_type=offline&prompt=consent";

/** The rule of the specification, byte by byte. */
function encodeByBytes(s: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(s)) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9\-_.~]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** Any UTF-16, halves of pairs too. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)),
});

describe("percentEncode", () => {
  test("letters, digits, - _ . ~ stay; every other ASCII character becomes % and two uppercase digits", () => {
    for (let code = 0; code < 128; code++) {
      const character = String.fromCharCode(code);
      expect(percentEncode(character)).toBe(encodeByBytes(character));
    }
    expect(percentEncode("AZaz09-_.~")).toBe("AZaz09-_.~");
    expect(percentEncode(" !'()*+/\u007f")).toBe("%20%21%27%28%29%2A%2B%2F%7F");
  });

  test("other characters are encoded as UTF-8", () => {
    expect(percentEncode("é€😀")).toBe("%C3%A9%E2%82%AC%F0%9F%98%80");
  });

  test("half of a surrogate pair becomes U+FFFD", () => {
    expect(percentEncode("a\ud800b")).toBe("a%EF%BF%BDb");
    expect(percentEncode("\udc00")).toBe("%EF%BF%BD");
  });

  test("law: any text encodes as a loop over its bytes does", () => {
    void fc.assert(
      fc.property(anyText, (s) => {
        expect(percentEncode(s)).toBe(encodeByBytes(s));
      }),
    );
  });
});

describe("buildAuthorizeUrl", () => {
  test("the seven parameters, in the order of the specification", () => {
    expect(buildAuthorizeUrl(params)).toBe(`https://as.example/authorize?${SEVEN}`);
  });

  test("a URL that has a query gets &", () => {
    const url = buildAuthorizeUrl({ ...params, authorizeUrl: "https://as.example/a?tenant=1" });
    expect(url).toBe(`https://as.example/a?tenant=1&${SEVEN}`);
  });

  test("a URL that ends in ? gets &, too", () => {
    const url = buildAuthorizeUrl({ ...params, authorizeUrl: "https://as.example/auth?" });
    expect(url).toBe(`https://as.example/auth?&${SEVEN}`);
  });

  test("parameters of the URL stay, duplicates of ours too", () => {
    const authorizeUrl = "https://as.example/a?state=theirs&prompt=none";
    expect(buildAuthorizeUrl({ ...params, authorizeUrl })).toBe(`${authorizeUrl}&${SEVEN}`);
  });

  test("the query goes before a fragment, whose ? does not count", () => {
    const url = buildAuthorizeUrl({ ...params, authorizeUrl: "https://as.example/a#x?y" });
    expect(url).toBe(`https://as.example/a?${SEVEN}#x?y`);
  });

  test("empty scopes and an empty state keep their parameters", () => {
    expect(buildAuthorizeUrl({ ...params, scopes: [], state: "" })).toContain("&scope=&state=&");
  });

  test("a scope that holds a space is encoded as it is", () => {
    expect(buildAuthorizeUrl({ ...params, scopes: ["a b", "c"] })).toContain("&scope=a%20b%20c&");
  });

  test("opt-ins follow the seven: challenge, resources, extra parameters", () => {
    const url = buildAuthorizeUrl({
      ...params,
      extraParams: { z: "1 2", "a&b": "=" },
      resource: ["https://one.example", "https://two.example"],
      pkce: { challenge: "abc" },
    });
    expect(url).toBe(
      `https://as.example/authorize?${SEVEN}&code_challenge=abc&code_challenge_method=S256` +
        "&resource=https%3A%2F%2Fone.example&resource=https%3A%2F%2Ftwo.example&z=1%202&a%26b=%3D",
    );
  });

  test.each([
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "access_type",
    "prompt",
    "code_challenge",
    "code_challenge_method",
    "resource",
  ])("extraParams cannot name %s", (name) => {
    expect(() => buildAuthorizeUrl({ ...params, extraParams: { [name]: "x" } })).toThrow(TypeError);
    expect(() => buildAuthorizeUrl({ ...params, extraParams: { [name]: "x" } })).toThrow(name);
  });

  test("law: reading the query gives the inputs back, with the seven first", () => {
    const text = fc.string({ unit: fc.constantFrom(..."aZ0~!'()*+ %&=?#/\"é€😀\0\n") });
    void fc.assert(
      fc.property(
        fc.record({
          clientId: text,
          redirectUri: text.map((path) => `http://127.0.0.1:1/${path}`),
          scopes: fc.array(text),
          state: text,
          challenge: text,
          resource: fc.array(text, { maxLength: 2 }),
          extra: fc.array(fc.tuple(text, text), { maxLength: 3 }),
        }),
        fc.constantFrom(
          "https://a.example/x",
          "https://a.example/x?q=1",
          "https://a.example/x?q#f",
        ),
        ({ challenge, extra, ...rest }, authorizeUrl) => {
          const extraParams = Object.fromEntries(extra.map(([k, v]) => [`x-${k}`, v]));
          const url = buildAuthorizeUrl({
            ...rest,
            authorizeUrl,
            pkce: { challenge },
            extraParams,
          });
          const pairs = [...new URL(url).searchParams].filter(([name]) => name !== "q");
          expect(pairs).toEqual([
            ["response_type", "code"],
            ["client_id", rest.clientId],
            ["redirect_uri", rest.redirectUri],
            ["scope", rest.scopes.join(" ")],
            ["state", rest.state],
            ["access_type", "offline"],
            ["prompt", "consent"],
            ["code_challenge", challenge],
            ["code_challenge_method", "S256"],
            ...rest.resource.map((uri) => ["resource", uri]),
            ...Object.entries(extraParams),
          ]);
        },
      ),
    );
  });
});
