import { canonicalTimeZone } from '@customer-platform/http';
import { z } from 'zod';
import { CHANNELS } from '../../vocabulary/addresses/channel.js';
import { minuteOfDay } from '../../vocabulary/calendar/quiet-hours.js';
import { refuse } from '../../vocabulary/shapes/refuse.js';
import type { ProviderRegistry } from '../../providers/provider-registry.js';
import { channelShapes } from './channel-shapes.js';

const quietHours = z.strictObject({
  start: timeOfDay(),
  end: timeOfDay(),
  timezone: timeZone(),
});

const cap = z.strictObject({
  channel: z.enum(CHANNELS),
  limit: z.int().min(1).max(10_000),
  window: z.enum(['day', 'week']),
});

const topic = z.strictObject({
  key: z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'Expected a lower-case key'),
  name: z.string().min(1).max(100),
  channels: z.array(z.enum(CHANNELS)).min(1).max(CHANNELS.length),
  default: z.boolean(),
});

/** The whole document as PUT takes it. */
export function channelDocument(providers: ProviderRegistry) {
  return z.strictObject({
    adopt: z.boolean().optional(),
    /** Read-only: taken because a document that was read may be put back, and never stored. */
    maker: z.unknown().optional(),
    /** Read-only, likewise. */
    standing: z.unknown().optional(),
    channels: z.strictObject(channelShapes(providers)),
    quiet_hours: quietHours.nullish(),
    caps: z
      .array(cap)
      .max(10)
      .default([])
      .superRefine(
        noDuplicates(
          ({ channel, window }) => `${channel} ${window}`,
          (index) => [index],
        ),
      ),
    topics: z
      .array(topic)
      .max(50)
      .default([])
      .superRefine(
        noDuplicates(
          ({ key }) => key,
          (index) => [index, 'key'],
        ),
      ),
  });
}

/** A document that was read, secrets still in it. */
export type GivenDocument = z.output<ReturnType<typeof channelDocument>>;
export type ChannelDocument = Omit<GivenDocument, 'adopt' | 'maker' | 'standing'>;

function timeOfDay() {
  return z.string().refine((text) => minuteOfDay(text) !== undefined, 'Expected a time of day as HH:MM');
}

function timeZone() {
  return z.string().transform((text, context) => {
    const zone = canonicalTimeZone(text);
    if (zone !== undefined) return zone;
    context.addIssue({ code: 'custom', message: 'Expected an IANA time zone' });
    return z.NEVER;
  });
}

function noDuplicates<T>(keyOf: (item: T) => string, pathOf: (index: number) => (string | number)[]) {
  return (items: T[], context: z.RefinementCtx<T[]>): void => {
    items.forEach((item, index) => {
      if (items.findIndex((other) => keyOf(other) === keyOf(item)) === index) return;
      context.addIssue({
        code: 'custom',
        path: pathOf(index),
        ...refuse('duplicate_item', 'Stands there twice'),
      });
    });
  };
}
