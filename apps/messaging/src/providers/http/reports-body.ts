import { isUuid } from '@customer-platform/database';
import { parseInstant, parseJsonBytes } from '@customer-platform/http';
import { z } from 'zod';
import { readShape } from '../../shapes/read-shape.js';
import { REPORTED_EVENTS, type ProviderReport } from '../report.js';

const MOST_EVENTS = 500;

const id = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{Cc}]*$/u, 'Expected text without control characters');

const report = z.strictObject({
  provider_message_id: id(500),
  event: z.enum(REPORTED_EVENTS),
  occurred_at: z
    .string()
    .refine((text) => parseInstant(text) !== undefined, 'Expected an ISO 8601 time with its offset'),
  provider_event_id: id(255).nullish(),
  bounce_type: z.enum(['hard', 'soft']).nullish(),
});

const batch = z.strictObject({ events: z.array(report).min(1).max(MOST_EVENTS) });

/** Reads the body that the webhooks `standard` and `generic` share. @throws Problem `malformed_json`, `validation_failed` */
export function readReports(body: Buffer): ProviderReport[] {
  const given = parseJsonBytes(body);
  const several = typeof given === 'object' && given !== null && 'events' in given;
  const reports = several ? readShape(batch, given, '').events : [readShape(report, given, '')];
  return reports.map(toReport);
}

function toReport(given: z.output<typeof report>): ProviderReport {
  return {
    messageId: given.provider_message_id,
    event: given.event,
    eventId: given.provider_event_id ?? null,
    // A bounce of which nothing else is said is one for good: deferrals are told apart.
    bounceType: given.event === 'bounced' ? (given.bounce_type ?? 'hard') : null,
    occurredAt: new Date(parseInstant(given.occurred_at) ?? given.occurred_at),
    // Ours goes out with every message: a provider may speak of it by that, and has to where its answer was lost.
    namedSend: isUuid(given.provider_message_id) ? given.provider_message_id : null,
    stopOf: null,
  };
}
