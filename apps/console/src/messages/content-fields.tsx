import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Select, TextField } from '../ui/form.tsx';
import { NameSelect } from '../ui/name-select.tsx';
import { useChannelSettings, topicsIn } from './use-channels.ts';
import { useMessageTemplates } from './use-templates.ts';
import type { Channel } from './vocabulary.ts';
import type { Fault } from '../ui/problem-at.ts';

interface ContentFieldProps {
  channel: Channel;
  value: string;
  error: Fault | undefined;
  onChange: (value: string) => void;
}

/** A template of a channel that can be sent. */
export function TemplateField({ channel, value, error, onChange }: ContentFieldProps): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  const [prefix, setPrefix] = useState('');
  const read = useMessageTemplates(channel, prefix);
  const none = (
    <>
      {t('noTemplateOfChannel')}{' '}
      {may('messaging.templates.create') && (
        <Link
          to="/o/$organization/messages/templates/new"
          params={{ organization: organization.slug }}
          search={{ channel }}
          // What is written in the form stays.
          target="_blank"
          className="text-accent underline"
        >
          {t('makeTemplate')}
        </Link>
      )}
    </>
  );
  return (
    <NameSelect
      label={t('template')}
      idLabel={t('templateId')}
      {...{ read, prefix, value, error, none, onChange }}
      onPrefix={setPrefix}
    />
  );
}

/** A topic that a channel has, or none; by its key, without the right to see channels. */
export function TopicField({ channel, value, error, onChange }: ContentFieldProps): ReactNode {
  const t = useTranslations('messages');
  const { data } = useChannelSettings();
  if (data === undefined)
    return (
      <TextField
        label={t('topic')}
        maxLength={40}
        value={value}
        error={error}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  const topics = topicsIn(data.data).filter(({ channels }) => channels.includes(channel));
  const known = value === '' || topics.some(({ key }) => key === value);
  return (
    <Select
      label={t('topic')}
      value={value}
      error={error}
      options={[
        { value: '', label: t('noTopic') },
        ...(known ? [] : [{ value, label: value }]),
        ...topics.map(({ key, name }) => ({ value: key, label: name })),
      ]}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
