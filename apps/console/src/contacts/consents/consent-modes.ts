import type { DataOf } from '@customer-platform/client';

type ChannelSettings = DataOf<'get', '/v1/messaging/channel-settings'>;

/** The channels by which marketing goes out, by what they ask of consent (messaging.md §2). */
export interface ConsentModes {
  /** Needs a granted consent. */
  optIn: readonly string[];
  /** Goes out until it is denied or withdrawn. */
  optOut: readonly string[];
}

/** Reads of the settings which channels are on, and what each asks. */
export function consentModesOf({ channels = {} }: Pick<ChannelSettings, 'channels'>): ConsentModes {
  const on = Object.entries(channels).filter(([, settings]) => isOn(settings));
  const asking = (mode: string): string[] =>
    on
      .filter(([, settings]) => (modeOf(settings) === 'opt_in' ? 'opt_in' : 'opt_out') === mode)
      .map(([channel]) => channel);
  return { optIn: asking('opt_in'), optOut: asking('opt_out') };
}

function isOn(settings: unknown): boolean {
  return (settings as { enabled?: unknown } | null | undefined)?.enabled === true;
}

function modeOf(settings: unknown): unknown {
  return (settings as { consent_mode?: unknown }).consent_mode;
}
