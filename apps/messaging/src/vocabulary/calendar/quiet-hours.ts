import { localTimeAt, nextTimeOfDay } from './local-time.js';

/** Daily hours without marketing, as `HH:MM`; `start` after `end` runs over midnight. */
export interface QuietHours {
  readonly start: string;
  readonly end: string;
  readonly timezone: string;
}

/** Minutes since midnight of `HH:MM`, or undefined when it is not a time of day. */
export function minuteOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/**
 * When a send may leave: undefined for now, else the end of the quiet hours that hold it.
 * @param timezone of the contact; the settings' own unless known
 */
export function quietUntil(hours: QuietHours, timezone: string | undefined, now: Date): Date | undefined {
  const zone = timezone ?? hours.timezone;
  const [start, end] = [minuteOfDay(hours.start), minuteOfDay(hours.end)];
  if (start === undefined || end === undefined || start === end) return undefined;
  const { minute } = localTimeAt(now, zone);
  const quiet = start < end ? minute >= start && minute < end : minute >= start || minute < end;
  return quiet ? nextTimeOfDay(now, end, zone) : undefined;
}
