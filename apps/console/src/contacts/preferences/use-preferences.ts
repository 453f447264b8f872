import type { DataOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useOwnQuery, useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';
import { isConflict } from '../use-change.ts';

type Preferences = DataOf<'get', '/v1/messaging/contacts/{id}/preferences'>;

/** One refusal of a contact: a topic of a channel, or with null all its marketing. */
export type Objection = Preferences['objections'][number];

/** One thing that a contact gets or does not get. */
export interface Choice {
  channel: string;
  /** Null: all marketing of the channel. */
  topic: string | null;
  gets: boolean;
}

/** A choice with the reason that it takes where the person has declined it. */
export interface Wish extends Choice {
  reason: string | undefined;
}

/** Tells what a contact gets, by channel. */
export type ByChannel = Record<string, { marketing: boolean; topics: Record<string, boolean> }>;

/** Reads what a contact gets and has declined, with what a change is based on. */
export function usePreferences(id: string, enabled: boolean) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', id, 'preferences'],
    enabled,
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      const { data, etag } = await api.GET('/v1/messaging/contacts/{id}/preferences', { params, signal });
      const { channels, objections } = data;
      return { channels: channels as unknown as ByChannel, objections, etag };
    },
  });
}

/** Finds what the person has declined of a choice; undefined where they said nothing. */
export function objectionTo(
  objections: readonly Objection[],
  { channel, topic }: Pick<Choice, 'channel' | 'topic'>,
): Objection | undefined {
  return objections.find((each) => each.channel === channel && each.topic === topic);
}

/** Says on the person's behalf what they get, as it was read. */
export function useWish(id: string, etag: string | undefined, onDone?: () => void) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const changed = useReadAnew('contacts', id, 'preferences');
  return useMutation({
    mutationFn: async ({ channel, topic, gets, reason }: Wish) => {
      const said = topic === null ? { marketing: gets } : { topics: { [topic]: gets } };
      const body = {
        channels: { [channel]: said } as Record<string, never>,
        ...(reason === undefined ? {} : { reason }),
      };
      const guard = etag === undefined ? {} : { ifMatch: etag };
      await api.PATCH('/v1/messaging/contacts/{id}/preferences', {
        params: { path: { id } },
        body,
        ...guard,
      });
    },
    onSuccess: async () => {
      await changed();
      say(t('preferences.saved'));
      onDone?.();
    },
    // What somebody else changed meanwhile is on the page when it is chosen again.
    onError: (error) => (isConflict(error) ? changed() : undefined),
  });
}
