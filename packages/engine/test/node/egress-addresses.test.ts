import { createNodeHost } from "@millrace/engine/node";
import { expect, test } from "vitest";

// Nothing in this file reaches a network: a refusal comes first, or the resolver of the test answers.

const publicNames = async (): Promise<string[]> => ["93.184.216.34"];

function refusal(url: string, policy = {}, resolve = publicNames): Promise<string> {
  return createNodeHost({ resolve })
    .openFetch({ connectMs: 20, ...policy })(url)
    .then(
      () => "answered",
      (error) => `${error.code} ${String(error.message).split(":")[0]}`,
    );
}

const PRIVATE = "egress_denied private-address";

test.each([
  ["dotted", "http://127.0.0.1/"],
  ["short", "http://127.1/"],
  ["hexadecimal", "http://0x7f.1/"],
  ["octal", "http://0177.0.0.1/"],
  ["one number", "http://2130706433/"],
  ["hexadecimal number", "http://0x7f000001/"],
  ["circled digits", "http://①②⑦.0.0.1/"],
  ["full-width digits", "http://１２７.０.０.１/"],
  ["ideographic stop", "http://127。0。0。1/"],
  ["percent encoded", "http://%31%32%37.0.0.1/"],
  ["dot at the end", "http://127.0.0.1./"],
  ["IPv6 loopback", "http://[::1]/"],
  ["long IPv6 loopback", "http://[0:0:0:0:0:0:0:1]/"],
  ["unspecified IPv6", "http://[::]/"],
  ["IPv4-mapped", "http://[::ffff:127.0.0.1]/"],
  ["IPv4-mapped in hexadecimal", "http://[::ffff:7f00:1]/"],
  ["IPv4-compatible", "http://[::127.0.0.1]/"],
  ["NAT64", "http://[64:ff9b::127.0.0.1]/"],
  ["local NAT64", "http://[64:ff9b:1::1]/"],
  ["6to4", "http://[2002:7f00:1::]/"],
  ["Teredo", "http://[2001:0:53aa:64c::1]/"],
  ["unique local", "http://[fd12:3456::1]/"],
  ["link local", "http://[fe80::1]/"],
  ["site local", "http://[fec0::1]/"],
  ["multicast IPv6", "http://[ff02::1]/"],
  ["discard", "http://[100::1]/"],
  ["documentation", "http://[2001:db8::1]/"],
  ["this network", "http://0.0.0.0/"],
  ["ten", "http://10.1.2.3/"],
  ["carrier", "http://100.127.255.255/"],
  ["link local IPv4", "http://169.254.1.1/"],
  ["172.16", "http://172.31.255.255/"],
  ["192.0.0", "http://192.0.0.8/"],
  ["192.0.2", "http://192.0.2.1/"],
  ["6to4 relay", "http://192.88.99.1/"],
  ["192.168", "http://192.168.0.1/"],
  ["benchmark", "http://198.19.255.255/"],
  ["198.51.100", "http://198.51.100.7/"],
  ["203.0.113", "http://203.0.113.7/"],
  ["multicast", "http://239.255.255.250/"],
  ["reserved", "http://250.0.0.1/"],
  ["broadcast", "http://255.255.255.255/"],
])("an address in the notation %s is refused", async (_name, url) => {
  expect(await refusal(url)).toBe(PRIVATE);
});

test.each([
  ["http://169.254.169.254/latest/meta-data"],
  ["http://[::ffff:169.254.169.254]/"],
  ["http://[fd00:ec2::254]/"],
  ["http://100.100.100.200/"],
])("the metadata address %s is refused even where its range is allowed", async (url) => {
  const allow = [{ cidr: "169.254.0.0/16" }, { cidr: "fd00::/8" }, { cidr: "100.64.0.0/10" }];
  expect(await refusal(url, { allow })).toBe("egress_denied metadata-address");
});

test("a metadata address is permitted where exactly it is allowed", async () => {
  const allow = [{ cidr: "100.100.100.200/32" }];
  // The check comes before the look at the signal, so nothing is sent and the reason tells which of the two spoke.
  const fetch = createNodeHost().openFetch({ allow });
  const signal = AbortSignal.abort("permitted");
  await expect(fetch("http://100.100.100.200/", { signal })).rejects.toBe("permitted");
});

test.each([
  ["http://localhost/"],
  ["http://LOCALHOST./"],
  ["http://api.localhost/"],
  ["http://metadata.google.internal/"],
])("the local name %s is refused without asking for its address", async (url) => {
  let asked = 0;
  const resolve = async () => {
    asked += 1;
    return ["93.184.216.34"];
  };
  expect(await refusal(url, {}, resolve)).toBe("egress_denied local-name");
  expect(asked).toBe(0);
});

test.each([
  ["file:///etc/passwd", "scheme"],
  ["ftp://files.example/", "scheme"],
  ["data:text/plain,hello", "scheme"],
  ["http://user:secret@api.example/", "userinfo"],
  ["/relative", "url"],
])("%s is refused by the rule %s", async (url, rule) => {
  expect(await refusal(url)).toBe(`egress_denied ${rule}`);
});

test("a name is refused as soon as one of its addresses is private", async () => {
  const resolve = async () => ["93.184.216.34", "10.0.0.1"];
  expect(await refusal("http://both.example/", {}, resolve)).toBe(PRIVATE);
});

test("a refusal names the host that was asked for and not the address behind it", async () => {
  const resolve = async () => ["10.11.12.13"];
  const fetch = createNodeHost({ resolve }).openFetch({});
  const error = await fetch("http://inner.example/path?token=hidden").catch((error) => error);
  expect(error).toMatchObject({ code: "egress_denied", reason: "denied", retryable: false });
  expect(error.sent).toBe(false);
  expect(error.message).toContain("inner.example");
  expect(error.message).not.toMatch(/10\.11|hidden|path/);
});

test("deny wins over allow, by range and by name, with names below it", async () => {
  const allow = [{ cidr: "0.0.0.0/0" }, { host: "api.bad.example" }, { host: "ok.example" }];
  const deny = [
    { cidr: "10.0.0.0/8" },
    { host: "*.bad.example" },
    { host: "ok.example", port: 81 },
  ];
  const policy = { allow, deny };
  expect(await refusal("http://10.0.0.1/", policy)).toBe("egress_denied deny-list");
  expect(await refusal("http://[::ffff:10.0.0.1]/", policy)).toBe("egress_denied deny-list");
  expect(await refusal("http://api.bad.example/", policy)).toBe("egress_denied deny-list");
  expect(await refusal("http://ok.example:81/", policy)).toBe("egress_denied deny-list");
  expect(await refusal("http://ok.example/", policy, async () => ["10.9.9.9"])).toBe(
    "egress_denied deny-list",
  );
});

test("the server itself is refused by its origin and by its address under another name", async () => {
  const policy = { allow: [{ cidr: "127.0.0.0/8" }], selfOrigins: ["http://127.0.0.1:6455"] };
  const SELF = "egress_denied self-origin";
  expect(await refusal("http://127.0.0.1:6455/api", policy)).toBe(SELF);
  expect(await refusal("http://[::ffff:127.0.0.1]:6455/api", policy)).toBe(SELF);
  expect(await refusal("http://alias.example:6455/", policy, async () => ["127.0.0.1"])).toBe(SELF);
});

test.each([
  [{ allow: [{ cidr: "10.0.0.0/33" }] }, "10.0.0.0/33"],
  [{ allow: [{ cidr: "10.0.0" }] }, "10.0.0"],
  [{ deny: [{ host: "http://x.example/" }] }, "http://x.example/"],
  [{ deny: [{ host: "x.example:80" }] }, "x.example:80"],
])("a policy that cannot be read is refused when it is opened: %j", (policy, shown) => {
  expect(() => createNodeHost().openFetch(policy)).toThrow(shown);
});

test("a name without an address fails with dns, and says that nothing was sent", async () => {
  const resolve = async () => {
    throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
  };
  const fetch = createNodeHost({ resolve }).openFetch({});
  await expect(fetch("http://nowhere.example/")).rejects.toMatchObject({
    code: "dns",
    reason: "network",
    retryable: true,
    sent: false,
  });
});
