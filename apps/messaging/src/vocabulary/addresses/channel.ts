/** The ways a message can reach a person (messaging.md). */
export const CHANNELS = ['email', 'sms', 'push', 'whatsapp', 'in_app'] as const;

/** One of the ways a message can reach a person. */
export type Channel = (typeof CHANNELS)[number];

/** Whether a text names a channel. */
export function isChannel(text: unknown): text is Channel {
  return CHANNELS.some((channel) => channel === text);
}
