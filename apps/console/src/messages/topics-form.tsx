import { Plus, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox, TextField } from '../ui/form.tsx';
import { Section } from '../ui/page.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { StoredForm } from '../ui/stored-form.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import type { ChannelSettings, Topic } from './channel-draft.ts';
import { topicsIn, useChannelDocument } from './use-channels.ts';
import { CHANNELS } from './vocabulary.ts';
import { FaultText } from '../ui/problem-words.tsx';

const MOST_TOPICS = 50;

const bodyOf = (topics: readonly Topic[]) => ({
  topics: topics.map((topic) => ({ ...topic, channels: [...topic.channels] })),
});

/** What a person can choose to hear about, channel by channel. */
export function TopicsForm({ opened }: { opened: Reading<ChannelSettings> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const say = useSay();
  const { read, put, changed } = useChannelDocument();
  const [topics, setTopics] = useState(() => topicsIn(opened.data));
  const edit = useEdit({
    opened,
    body: bodyOf(topics),
    bodyOf: (settings: ChannelSettings) => bodyOf(topicsIn(settings)),
    read,
    write: put,
    nameOf: () => t('topics'),
    onTheirs: (now) => setTopics(topicsIn(now)),
    onSaved: (now) => {
      setTopics(topicsIn(now));
      say(t('topicsSaved'));
      void changed();
    },
  });
  const more = (): void => setTopics([...topics, { key: '', name: '', channels: ['email'], default: true }]);
  return (
    <Section title={t('topics')} lead={t('topicsLead')}>
      <StoredForm mayChange={may('messaging.channels.update')} edit={edit} action={t('saveTopics')}>
        {topics.length === 0 && <p className="text-soft">{t('noTopics')}</p>}
        {topics.map((topic, at) => (
          <TopicFields
            key={at}
            at={at}
            topic={topic}
            error={edit.error}
            onChange={(now) => setTopics(topics.with(at, now))}
            onRemove={() => setTopics(topics.toSpliced(at, 1))}
          />
        ))}
        <span>
          <Button look="quiet" className="px-2!" disabled={topics.length >= MOST_TOPICS} onClick={more}>
            <Plus aria-hidden className="size-4" />
            {t('addTopic')}
          </Button>
        </span>
      </StoredForm>
    </Section>
  );
}

interface TopicFieldsProps {
  at: number;
  topic: Topic;
  error: unknown;
  onChange: (topic: Topic) => void;
  onRemove: () => void;
}

function TopicFields({ at, topic, error, onChange, onRemove }: TopicFieldsProps): ReactNode {
  const t = useTranslations('messages');
  const wrong = problemAt(error, `/topics/${at}/channels`, true);
  return (
    <fieldset className="flex items-start gap-2 rounded-control bg-ground p-2.5">
      <legend className="sr-only">{t('topicAt', { at: at + 1 })}</legend>
      <div className="flex min-w-0 grow flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label={t('topicKey')}
            hint={t('topicKeyHint')}
            className="field font-mono"
            spellCheck={false}
            required
            pattern="[a-z][a-z0-9_\-]{0,39}"
            value={topic.key}
            error={problemAt(error, `/topics/${at}/key`)}
            onChange={({ target }) => onChange({ ...topic, key: target.value })}
          />
          <TextField
            label={t('topicName')}
            required
            maxLength={100}
            value={topic.name}
            error={problemAt(error, `/topics/${at}/name`)}
            onChange={({ target }) => onChange({ ...topic, name: target.value })}
          />
        </div>
        <div className="flex flex-wrap gap-x-4">
          {CHANNELS.map((channel) => (
            <Checkbox
              key={channel}
              label={t(`channels.${channel}`)}
              checked={topic.channels.includes(channel)}
              onChange={({ target }) =>
                onChange({
                  ...topic,
                  channels: CHANNELS.filter((each) =>
                    each === channel ? target.checked : topic.channels.includes(each),
                  ),
                })
              }
            />
          ))}
        </div>
        {wrong !== undefined && (
          <p className="text-xs text-bad">
            <FaultText fault={wrong} />
          </p>
        )}
        <Checkbox
          label={t('topicDefault')}
          checked={topic.default}
          onChange={({ target }) => onChange({ ...topic, default: target.checked })}
        />
      </div>
      <IconButton label={t('removeTopic', { at: at + 1 })} onClick={onRemove}>
        <X aria-hidden className="size-4" />
      </IconButton>
    </fieldset>
  );
}
