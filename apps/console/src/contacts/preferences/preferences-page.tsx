import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Switch } from '../../ui/form.tsx';
import { Failure, Forbidden } from '../../ui/notices.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useWords } from '../timeline/words.tsx';
import { useContact } from '../use-contact.ts';
import { LiftObjection } from './lift-objection.tsx';
import { useTopicNames } from './use-topic-names.ts';
import {
  objectionTo,
  usePreferences,
  useWish,
  type ByChannel,
  type Choice,
  type Objection,
} from './use-preferences.ts';

const FROM = '/o/$organization/contacts/$contactId/preferences' as const;

/** Shows what marketing a contact gets, by channel and topic; to be changed on the person's behalf. */
export function PreferencesPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const { data, error, refetch } = usePreferences(contactId, may('messaging.preferences.read'));
  if (!may('messaging.preferences.read')) return <Forbidden permission="messaging.preferences.read" />;
  return (
    <Section title={t('preferences.title')} lead={t('preferences.lead')}>
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data === undefined && error !== null && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined && <Channels contactId={contactId} {...data} />}
    </Section>
  );
}

interface ChannelsProps {
  contactId: string;
  channels: ByChannel;
  objections: readonly Objection[];
  etag: string | undefined;
}

function Channels({ contactId, channels, objections, etag }: ChannelsProps): ReactNode {
  const words = useWords();
  const may = useMay();
  const deleted = useContact(contactId).data?.contact.deleted_at != null;
  const wish = useWish(contactId, etag);
  const [lifting, setLifting] = useState<Choice>();
  const choose = (choice: Choice): void => {
    if (choice.gets && objectionTo(objections, choice) !== undefined) setLifting(choice);
    else wish.mutate({ ...choice, reason: undefined });
  };
  // What was chosen is shown until it is known what became of it.
  const chosen = wish.isPending ? wish.variables : undefined;
  const mayChange = may('messaging.preferences.update') && !deleted && !wish.isPending;
  return (
    <>
      {wish.error !== null && <Failure error={wish.error} />}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-2 xl:grid-cols-3">
        {Object.entries(channels).map(([channel, gets]) => (
          <Panel key={channel} label={words.channel(channel)}>
            <h3 className="mb-2 font-medium">{words.channel(channel)}</h3>
            <Channel
              channel={channel}
              gets={gets}
              objections={objections}
              chosen={chosen}
              onChoose={mayChange ? choose : undefined}
            />
          </Panel>
        ))}
      </div>
      {lifting !== undefined && (
        <LiftObjection
          contactId={contactId}
          etag={etag}
          choice={lifting}
          onClose={() => setLifting(undefined)}
        />
      )}
    </>
  );
}

interface ChannelProps {
  channel: string;
  gets: ByChannel[string];
  objections: readonly Objection[];
  chosen: Choice | undefined;
  onChoose: ((choice: Choice) => void) | undefined;
}

function Channel({ channel, gets, objections, chosen, onChoose }: ChannelProps): ReactNode {
  const t = useTranslations('contacts');
  const named = useTopicNames();
  const rows = [
    { topic: null, label: t('preferences.marketing'), on: gets.marketing },
    ...Object.entries(gets.topics).map(([topic, on]) => ({ topic, label: named(topic), on })),
  ];
  return (
    <ul className="flex flex-col gap-2">
      {rows.map(({ topic, label, on }) => {
        const objection = objectionTo(objections, { channel, topic });
        const isChosen = chosen?.channel === channel && chosen.topic === topic;
        return (
          <li key={topic ?? ''} className={topic === null ? '' : 'pl-4'}>
            <Switch
              label={label}
              checked={isChosen ? chosen.gets : on}
              disabled={onChoose === undefined || (topic !== null && !gets.marketing)}
              onChange={(wanted) => onChoose?.({ channel, topic, gets: wanted })}
            />
            {objection !== undefined && (
              <p className="text-xs text-soft">
                {t('preferences.declined')} <Time at={objection.since} relative />
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}
