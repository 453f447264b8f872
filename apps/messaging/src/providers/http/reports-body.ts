import { isUuid } from '@customer-platform/database';
import { parseInstant, parseJsonBytes } from '@customer-platform/http';
import { z } from 'zod';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import { REPORTED_EVENTS, type ProviderReport } from '../report.js';

const MOST_EVENTS = 500;

const id = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{Cc}]*$/u, 'Expected text without control characters');

/** The same in a year that can be stored: of what year a time is says nothing of its form. */
const inSomeYear = (text: string): string => text.replace(/^\d{4}/, '2000');

const report = z.strictObject({
  provider_message_id: id(500),
  event: z.enum(REPORTED_EVENTS),
  occurred_at: z
    .string()
    .refine(
      (text) => parseInstant(inSomeYear(text)) !== undefined,
      'Expected an ISO 8601 time with its offset',
    ),
  provider_event_id: id(255).nullish(),
  bounce_type: z.enum(['hard', 'soft']).nullish(),
});

const batch = z.strictObject({ events: z.array(report).min(1).max(MOST_EVENTS) });

/**
 * Reads the body that the webhooks `standard` and `generic` share. A time of a year that cannot be stored is that of
 * the receipt: the reports beside it count. @throws Problem `malformed_json`, `validation_failed`
 */
export function readReports(body: Buffer, now: Date): ProviderReport[] {
  const given = parseJsonBytes(body);
  const several = typeof given === 'object' && given !== null && 'events' in given;
  const reports = several ? readShape(batch, given, '').events : [readShape(report, given, '')];
  return reports.map((one) => toReport(one, now));
}

function toReport(given: z.output<typeof report>, now: Date): ProviderReport {
  const occurredAt = parseInstant(given.occurred_at);
  return {
    messageId: given.provider_message_id,
    event: given.event,
    eventId: given.provider_event_id ?? null,
    // A bounce of which nothing else is said is one for good: deferrals are told apart.
    bounceType: given.event === 'bounced' ? (given.bounce_type ?? 'hard') : null,
    occurredAt: occurredAt === undefined ? now : new Date(occurredAt),
    // Ours goes out with every message: a provider may speak of it by that, and has to where its answer was lost.
    namedSend: isUuid(given.provider_message_id) ? given.provider_message_id : null,
    stopOf: null,
  };
}
