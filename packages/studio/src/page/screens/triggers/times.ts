/** The times of schedules as a person reads them. */

/** The zone of the reader. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Names of zones that may be typed. */
export function knownZones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

/** A time as the clocks of a zone show it. */
export function timeInZone(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    dateStyle: "full",
    timeStyle: "long",
    timeZone,
  }).format(new Date(time));
}
