/**
 * Time zones, by the platform's tables (ECMA-402). A zone gives the offset of an instant; the time on its clocks is that of UTC with
 * the offset added.
 *   Z1  a time that clocks show twice is the earlier one; a time that they leave out is as much later as they leave out (the rule of
 *       RFC 5545, section 3.3.5).
 */
import { nearestName } from "@millrace/contracts/kit";
import { badArgument, type Evaluation, kept, spend } from "../budget.ts";
import type { CallSite } from "./define.ts";

/** Steps to read the tables of a zone, and to look an offset up in them. */
const READING_STEPS = 1_000;
const LOOKING_STEPS = 30;
/** Clocks are changed neither more often nor by more than that. */
const DAY_MS = 86_400_000;
const MAX_NAMES = 3;
/** `GMT`, or `GMT+01:00`, before there were zones to the second. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** A zone that is known. */
export interface Zone {
  /** How far its clocks are before those of UTC at an instant, in milliseconds. */
  offsetMs(epochMs: number): number;
}

/** The zone of a name; UTC has no name. */
export function findZone(ev: Evaluation, site: CallSite, name: string | undefined): Zone {
  if (name === undefined) return UTC;
  const format = kept(ev, `zone ${name}`, () => {
    spend(ev, site, READING_STEPS);
    const problem = (): never => badArgument(site, `${site.name}: ${zoneProblem(name)}`);
    return formatOf(name) ?? problem();
  });
  return {
    offsetMs(epochMs) {
      spend(ev, site, LOOKING_STEPS);
      const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(format.format(epochMs)) ?? [];
      if (sign === undefined) return 0;
      const size = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
      return (sign === "-" ? -size : size) * 1000;
    },
  };
}

const UTC: Zone = { offsetMs: () => 0 };

/** The instant at which the clocks of a zone show a time, given as if they were those of UTC (Z1). */
export function instantOf(zone: Zone, shownMs: number): number {
  if (zone === UTC) return shownMs;
  const before = shownMs - zone.offsetMs(shownMs - DAY_MS);
  const after = shownMs - zone.offsetMs(shownMs + DAY_MS);
  const isShown = (at: number): boolean => at + zone.offsetMs(at) === shownMs;
  return isShown(before) || !isShown(after) ? before : after;
}

/** Why a name is that of no zone; undefined: there is one. */
export function zoneProblem(name: string): string | undefined {
  if (formatOf(name) !== undefined) return undefined;
  const near = nearZones(name);
  return near.length === 0
    ? "no time zone has this name; names are those of the IANA database, such as `Europe/Rome`"
    : `no time zone has this name; there is ${near.map((each) => `\`${each}\``).join(", ")}`;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  // An offset such as +01:00 does not know of clock changes.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
}

/** Zones whose city is meant, or the one that is spelt most like a name. */
function nearZones(name: string): readonly string[] {
  const names = Intl.supportedValuesOf("timeZone");
  const city = plain(name).split("/").at(-1) ?? "";
  const same = names.filter((each) => plain(each).endsWith(`/${city}`));
  if (same.length > 0) return same.slice(0, MAX_NAMES);
  const nearest = nearestName(name, names);
  return nearest === undefined ? [] : [nearest];
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s-]+/g, "_");
}
