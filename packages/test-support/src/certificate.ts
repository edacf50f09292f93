/** Certificates of our own for this machine, made anew for each test file, so that no key lies in the repository. */
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { isIP } from "node:net";

/** Certificate and key as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** DER: a tag, the length, the content (X.690, 8.1). */
function der(tag: number, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const SEQUENCE = 0x30;
const SET = 0x31;
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_SHA256 = der(SEQUENCE, oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const BASIC_CONSTRAINTS = oid("551d13");
const ALT_NAME = oid("551d11");
const TRUE = Buffer.from([0x01, 0x01, 0xff]);

const nameOf = (text: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, text))));

/** What a certificate is for, and who vouches for it. */
export interface CertificateOptions {
  /** Names and addresses (IPv4) of its server; default `localhost` and `127.0.0.1`. */
  readonly hosts?: readonly string[];
  /** Who signs it; default itself. */
  readonly signer?: Certificate;
}

/** A certificate that may sign others (RFC 5280, 4.1). */
export function makeCertificate({
  hosts = ["localhost", "127.0.0.1"],
  signer,
}: CertificateOptions = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const issuer = nameOf("test hub");
  const names = der(
    SEQUENCE,
    ...hosts.map((host) =>
      isIP(host) === 0 ? der(0x82, host) : der(0x87, Buffer.from(host.split(".").map(Number))),
    ),
  );
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(0x04, der(SEQUENCE, TRUE))),
    der(SEQUENCE, ALT_NAME, der(0x04, names)),
  );
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    issuer,
    der(SEQUENCE, der(0x17, "250101000000Z"), der(0x17, "491231235959Z")),
    signer === undefined ? issuer : nameOf("test server"),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signing = signer === undefined ? privateKey : createPrivateKey(signer.key);
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, signing));
  const lines = der(SEQUENCE, body, ECDSA_SHA256, signature)
    .toString("base64")
    .match(/.{1,64}/g);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines?.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
