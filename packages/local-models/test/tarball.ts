/** Tarballs of npm packages, good ones and hostile ones. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

export interface TarMember {
  readonly path: string;
  readonly body?: string | Buffer;
  /** "0" is a file, "5" a directory, "2" a symbolic link. */
  readonly type?: string;
  readonly mode?: number;
  readonly link?: string;
  /** What the header says instead of the true size. */
  readonly size?: number;
  readonly prefix?: string;
  readonly badChecksum?: true;
}

/** A gzipped tarball. `end` false: without the empty blocks at its end. */
export function tarball(members: readonly TarMember[], end = true): Buffer {
  const blocks = members.flatMap((member) => {
    const body = Buffer.from(member.body ?? "");
    return [header(member, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(end ? 1024 : 0)]));
}

function header(member: TarMember, length: number): Buffer {
  const { path, type = "0", mode = 0o644, link = "", size = length, prefix = "" } = member;
  const bytes = Buffer.alloc(512);
  const octal = (value: number, digits: number): string =>
    `${value.toString(8).padStart(digits, "0")}\0`;
  bytes.write(path, 0, 100);
  bytes.write(octal(mode, 7), 100);
  bytes.write(octal(size, 11), 124);
  bytes.write(" ".repeat(8), 148);
  bytes.write(type, 156);
  bytes.write(link, 157);
  bytes.write("ustar\u000000", 257);
  bytes.write(prefix, 345);
  const sum = bytes.reduce((all, byte) => all + byte, member.badChecksum ? 1 : 0);
  bytes.write(octal(sum, 6), 148);
  return bytes;
}

/** The digest that a lock file has of it. */
export function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}
