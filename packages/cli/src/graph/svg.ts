/**
 * A drawing as SVG: one file without scripts, fonts or anything from elsewhere, light or dark as its reader has it. All text of
 * the flow is escaped.
 */

import type { Drawing } from "./drawing.ts";
import { type Box, type Line, layoutOf } from "./layout.ts";

/** Colour of the mark on a box, by what its type does. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [/^(ai$|ai\.)/, "ai"],
  [/^(confirm)$/, "person"],
  [/^(condition|switch|join|map|loop|subflow|delay|fail)$/, "control"],
  [/^(http|service)\./, "network"],
  [/^(file|shell)\./, "machine"],
];

const STYLE = `
.bg{fill:#fff}.box{fill:#f6f8fa;stroke:#d0d7de}.body{fill:#eaeef2;fill-opacity:.5;stroke:#d0d7de}
.id{fill:#1f2328;font-weight:600}.type,.port{fill:#59636e}.port{paint-order:stroke;stroke:#fff;stroke-width:4px}
.edge{fill:none;stroke:#818b98;stroke-width:1.5}.implied{stroke-dasharray:4 4}.tip{fill:#818b98}
.plain{fill:#818b98}.ai{fill:#8250df}.person{fill:#bf8700}.control{fill:#0969da}.network{fill:#1a7f37}.machine{fill:#bc4c00}
@media(prefers-color-scheme:dark){.bg{fill:#0d1117}.box{fill:#151b23;stroke:#3d444d}.body{fill:#212830;stroke:#3d444d}
.id{fill:#f0f6fc}.type,.port{fill:#9198a1}.port{stroke:#0d1117}.edge{stroke:#656c76}.tip,.plain{fill:#656c76}
.ai{fill:#ab7df8}.person{fill:#d29922}.control{fill:#4493f8}.network{fill:#3fb950}.machine{fill:#db6d28}}
text{font:13px ui-sans-serif,system-ui,sans-serif}.type,.port{font-size:11px}`.trim();

const RADIUS = 8;
const MARK_W = 4;

/** The picture of a flow called `title`. */
export function toSvg(drawing: Drawing, title: string): string {
  const picture = layoutOf(drawing);
  const [width, height] = [round(picture.width), round(picture.height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escapeText(title)}</title>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
    `<rect class="bg" width="${width}" height="${height}"/>`,
    ...picture.boxes.map(toBox), // what lies inside is drawn over what holds it
    ...picture.lines.map(toPath),
    ...portNames(picture.lines).map(toPort),
    "</svg>",
    "",
  ]
    .filter((line) => line !== "")
    .concat("")
    .join("\n");
}

function toBox({ node, x, y, w, h }: Box): string {
  const [left, top] = [round(x), round(y)];
  const mark = MARKS.find(([pattern]) => pattern.test(node.type))?.[1] ?? "plain";
  return (
    `<g><title>${escapeText(`${node.path}: ${node.type}`)}</title>` +
    `<rect class="${node.body === undefined ? "box" : "box body"}" x="${left}" y="${top}" width="${round(w)}" height="${round(h)}" rx="${RADIUS}"/>` +
    `<rect class="${mark}" x="${left}" y="${round(y + RADIUS)}" width="${MARK_W}" height="28" rx="2"/>` +
    `<text class="id" x="${round(x + 16)}" y="${round(y + 19)}">${escapeText(node.id)}</text>` +
    `<text class="type" x="${round(x + 16)}" y="${round(y + 34)}">${escapeText(node.type)}</text></g>`
  );
}

/** A curve that leaves and arrives straight down. */
function toPath({ edge, points }: Line): string {
  const [first, ...rest] = points as readonly [
    readonly [number, number],
    ...(readonly [number, number])[],
  ];
  let path = `M${round(first[0])} ${round(first[1])}`;
  let before = first;
  for (const point of rest) {
    const middle = round((before[1] + point[1]) / 2);
    path += `C${round(before[0])} ${middle} ${round(point[0])} ${middle} ${round(point[0])} ${round(point[1])}`;
    before = point;
  }
  return `<path class="${edge.implied ? "edge implied" : "edge"}" d="${path}" marker-end="url(#tip)"/>`;
}

/** The first line of each named port: several may leave by it. */
function portNames(lines: readonly Line[]): Line[] {
  const first = new Map(
    [...lines].reverse().map((line) => [JSON.stringify([line.edge.from, line.edge.port]), line]),
  );
  return [...first.values()].filter(({ edge }) => edge.port !== undefined);
}

/** The name of the port, where the arrow leaves. */
function toPort({ edge, points }: Line): string {
  const [first, second] = points;
  if (edge.port === undefined || first === undefined || second === undefined) return "";
  const towards = Math.max(-1, Math.min(1, (second[0] - first[0]) / 100)) * 6;
  const x = first[0] + towards;
  return `<text class="port" text-anchor="middle" x="${round(x)}" y="${round(first[1] + 16)}">${escapeText(edge.port)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Text of XML; what XML cannot hold, and what turns the reading direction, is shown as the replacement character. */
function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
