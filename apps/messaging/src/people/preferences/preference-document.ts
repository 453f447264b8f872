import { z } from 'zod';
import { parseInstant } from '@customer-platform/http';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import type { SendingPlan } from '../../settings/channels/channel-plans.js';

/** What a member receives on one channel. */
interface ChannelPreferences {
  readonly marketing: boolean;
  readonly topics: Readonly<Record<string, boolean>>;
}

/** What a member receives. */
export type Preferences = Readonly<Record<Channel, ChannelPreferences>>;

/** A row of `preferences`; the topic '' is all marketing. */
export interface PreferenceRow {
  readonly subject: string;
  readonly channel: Channel;
  readonly topic: string;
  readonly subscribed: boolean;
  readonly updated_at: Date;
}

/** An objection of a person, under the contact or an address of it. */
export interface Objection {
  readonly channel: Channel;
  /** Null: all marketing of the channel. */
  readonly topic: string | null;
  /** The latest time at which it was said. */
  readonly since: Date;
}

const choice = z.boolean().nullable();
const channelPatch = z.strictObject({
  marketing: choice.optional(),
  topics: z.record(z.string().min(1), choice).optional(),
});

/** Body of the PATCH: JSON merge, null takes a choice back. */
export const preferencesPatch = z.strictObject({
  channels: z
    .strictObject({
      email: channelPatch.optional(),
      sms: channelPatch.optional(),
      push: channelPatch.optional(),
      whatsapp: channelPatch.optional(),
      in_app: channelPatch.optional(),
    } satisfies Record<Channel, z.ZodType>)
    .optional(),
  notifications_read_until: z
    .string()
    .refine((text) => parseInstant(text) !== undefined, 'Expected an ISO 8601 time with an offset')
    .optional(),
});

/** One choice of a PATCH; null takes it back. */
export interface Choice {
  readonly channel: Channel;
  /** '' is all marketing. */
  readonly topic: string;
  readonly subscribed: boolean | null;
}

/** The choices of a PATCH, one by one. */
export function choicesOf(patch: z.output<typeof preferencesPatch>): Choice[] {
  return CHANNELS.flatMap((channel) => {
    const { marketing, topics = {} } = patch.channels?.[channel] ?? {};
    const named = Object.entries(topics).map(([topic, subscribed]) => ({ channel, topic, subscribed }));
    return marketing === undefined ? named : [{ channel, topic: '', subscribed: marketing }, ...named];
  });
}

/**
 * What rows come to, by the gate's own rule: an objection under the contact or under one of its addresses ends it, and
 * a topic that nobody gets unasked is got by those whose contact has asked.
 */
export function preferencesFrom(
  rows: readonly PreferenceRow[],
  contactSubject: string,
  topics: SendingPlan['topics'],
): Preferences {
  const objected = (channel: Channel, topic: string): boolean =>
    rows.some((row) => row.channel === channel && row.topic === topic && !row.subscribed);
  const asked = (channel: Channel, topic: string): boolean =>
    rows.some(
      (row) =>
        row.subject === contactSubject && row.channel === channel && row.topic === topic && row.subscribed,
    );
  const entries = CHANNELS.map((channel) => {
    const own = topics.filter(({ channels }) => channels.includes(channel));
    const shown = own.map(({ key, default: unasked }) => [
      key,
      !objected(channel, key) && (unasked || asked(channel, key)),
    ]);
    return [
      channel,
      { marketing: !objected(channel, ''), topics: Object.fromEntries(shown) as Record<string, boolean> },
    ];
  });
  return Object.fromEntries(entries) as Preferences;
}

/** Returns what stands of rows as declined, by channel and topic. */
export function objectionsOf(rows: readonly PreferenceRow[]): Objection[] {
  const declined = rows.filter(({ subscribed }) => !subscribed);
  const found = new Map<string, Objection>();
  for (const { channel, topic, updated_at: since } of declined) {
    const key = `${channel}/${topic}`;
    const known = found.get(key);
    if (!known || known.since < since) found.set(key, { channel, topic: topic === '' ? null : topic, since });
  }
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

/** Returns those of these objections that choices would lift. */
export function liftedBy(objections: readonly Objection[], choices: readonly Choice[]): Objection[] {
  return objections.filter(({ channel, topic }) =>
    choices.some(
      (choice) => choice.channel === channel && choice.topic === (topic ?? '') && choice.subscribed !== false,
    ),
  );
}
