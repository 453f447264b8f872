import type { Context, Liquid } from 'liquidjs';
import type { RenderScope } from '../../vocabulary/rendering/render-job.js';

/**
 * The `date` filters of Liquid in the language and zone of a message. Runs inside the renderer's process: it may import
 * packages, and nothing of the application but types.
 */

const FILTERS = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];
const LOCALE = 'en-US';
/** A day, or a time of day without a zone: it is what it says wherever it is read. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/;

let current = { locale: LOCALE, timezoneOffset: 0 as string | number };

/** For all that is rendered from now on. What is no language or zone is English, or UTC. */
export function writeDatesIn(dates: RenderScope['dates']): void {
  current = { locale: localeOf(dates?.locale), timezoneOffset: zoneOf(dates?.timezone) };
}

/** Puts its own date filters in place of an engine's. */
export function addDateFilters(engine: Liquid): void {
  for (const name of FILTERS) {
    const filter = engine.filters[name];
    if (typeof filter !== 'function') throw new TypeError(`Liquid has no filter ${name}`);
    engine.registerFilter(name, function (value: unknown, ...given: unknown[]) {
      const fixed = typeof value === 'string' && WITHOUT_ZONE.test(value.trim());
      const options = { ...current, ...(fixed ? { timezoneOffset: 0 } : {}) };
      const context = Object.create(this.context, {
        opts: { value: { ...this.context.opts, ...options } },
      }) as Context;
      const at = fixed && value.trim().length > 10 ? `${value.trim()}Z` : value;
      return filter.call({ ...this, context }, at, ...given) as unknown;
    });
  }
}

/** Months of the Gregorian calendar, as its days are, whatever is usual in the language. */
function localeOf(given: string | null | undefined): string {
  try {
    const known = Intl.DateTimeFormat.supportedLocalesOf(given ?? LOCALE)[0] ?? LOCALE;
    return new Intl.Locale(known, { calendar: 'gregory' }).toString();
  } catch (error) {
    if (error instanceof RangeError) return LOCALE;
    throw error;
  }
}

function zoneOf(given: string | null | undefined): string | number {
  if (!given) return 0;
  try {
    return new Intl.DateTimeFormat(LOCALE, { timeZone: given }) && given;
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}
