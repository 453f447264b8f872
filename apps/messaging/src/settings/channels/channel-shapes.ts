import { z } from 'zod';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import type { ChannelSetting, Provider } from '../../providers/provider.js';
import type { ProviderRegistry } from '../../providers/provider-registry.js';
import { emailAddress, secretField, sender } from '../../providers/setting-fields.js';

const common = {
  enabled: z.boolean().default(true),
  max_per_second: z.int().min(1).max(10_000).default(50),
  consent_mode: z.enum(['opt_out', 'opt_in']).default('opt_out'),
  /** Read-only: taken because a document that was read may be put back, and never stored. */
  webhook_url: z.string().nullish(),
  /** Read-only, likewise. */
  misconfigured: z.unknown().optional(),
};

/** Fields that are shown and not stored. */
export const DERIVED_FIELDS = ['webhook_url', 'misconfigured'] as const;

/** What each channel can be configured with (messaging.md §2): with what its providers say of themselves. */
export function channelShapes(
  providers: ProviderRegistry,
): Record<Channel, z.ZodOptional<z.ZodType<ChannelSetting>>> {
  const shapes = CHANNELS.map((channel) => [channel, shapeOf(channel, providers.of(channel)).optional()]);
  return Object.fromEntries(shapes) as Record<Channel, z.ZodOptional<z.ZodType<ChannelSetting>>>;
}

function shapeOf(channel: Channel, providers: readonly Provider[]): z.ZodType<ChannelSetting> {
  const shapes = providers.map((provider) => providerShape(channel, provider));
  // At least one serves each channel.
  const union = z.discriminatedUnion('provider', shapes as [(typeof shapes)[number]]);
  const shape = channel === 'in_app' ? z.preprocess(withInbox, union) : union;
  return shape as unknown as z.ZodType<ChannelSetting>;
}

function providerShape(channel: Channel, provider: Provider) {
  const from = sender(channel);
  const optional = provider.fromIsOptional ?? (channel === 'push' || channel === 'in_app');
  const secrets = Object.entries(provider.secrets).map(([field, text]) => [field, secretField(text)]);
  return z.strictObject({
    ...common,
    from: optional ? from.nullish() : from,
    ...(channel === 'email' ? { reply_to: emailAddress.nullish() } : {}),
    ...provider.fields,
    ...(Object.fromEntries(secrets) as Record<string, z.ZodType>),
    provider: z.literal(provider.name),
  });
}

/** The inbox needs no provider's name: nothing leaves the platform. */
function withInbox(given: unknown): unknown {
  const unnamed = typeof given === 'object' && given !== null && !('provider' in given);
  return unnamed ? { ...given, provider: 'inbox' } : given;
}
