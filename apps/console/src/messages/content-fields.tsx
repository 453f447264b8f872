import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Select, TextField } from '../ui/form.tsx';
import { useChannelSettings, topicsIn } from './use-channels.ts';
import { useTemplateNames } from './use-routing.ts';
import type { Channel } from './vocabulary.ts';

interface ContentFieldProps {
  channel: Channel;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** A template of a channel; by its id, without the right to see templates. */
export function TemplateField({ channel, value, error, onChange }: ContentFieldProps): ReactNode {
  const t = useTranslations('messages');
  const templates = useTemplateNames();
  if (templates === undefined)
    return (
      <TextField
        label={t('templateId')}
        required
        value={value}
        error={error}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    );
  const found = templates.filter((each) => each.channel === channel);
  // Where there are more than are offered, by the id.
  const known = value === '' || found.some(({ id }) => id === value);
  return (
    <Select
      label={t('template')}
      required
      value={value}
      error={error}
      hint={found.length === 0 ? t('noTemplateOfChannel') : undefined}
      options={[
        { value: '', label: t('choose') },
        ...(known ? [] : [{ value, label: value }]),
        ...found.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={({ target }) => onChange(target.value)}
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
