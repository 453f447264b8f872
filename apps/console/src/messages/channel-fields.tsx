import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox, Select, TextArea, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { problemAt, type Fault } from '../ui/problem-at.ts';
import {
  CONSENT_MODES,
  FIELDS_OF,
  needsSender,
  PROVIDERS_OF,
  secretsOf,
  type ChannelDraft,
  type ChannelSetting,
  type Provider,
  type ProviderField,
} from './channel-draft.ts';
import { SecretState } from './secret-state.tsx';
import type { Channel } from './vocabulary.ts';

interface FieldsProps {
  channel: Channel;
  /** As it is stored. */
  setting: ChannelSetting | undefined;
  draft: ChannelDraft;
  onChange: (draft: ChannelDraft) => void;
  error: unknown;
}

export function ChannelFields(props: FieldsProps): ReactNode {
  const { channel, draft, onChange, error } = props;
  const t = useTranslations('messages');
  const wrong = (field: string): Fault | undefined => problemAt(error, `/channels/${channel}/${field}`);
  return (
    <>
      <Checkbox
        label={t('channelEnabled')}
        checked={draft.enabled}
        onChange={({ target }) => onChange({ ...draft, enabled: target.checked })}
      />
      <Select
        label={t('channelFields.provider')}
        value={draft.provider}
        options={PROVIDERS_OF[channel].map((value) => ({ value, label: t(`providers.${value}`) }))}
        error={wrong('provider')}
        onChange={({ target }) =>
          onChange({ ...draft, provider: target.value as Provider, fields: {}, cleared: [] })
        }
      />
      <TextField
        label={t('channelFields.from')}
        hint={channel === 'email' ? t('fromHint') : undefined}
        required={needsSender(channel, draft.provider)}
        value={draft.from}
        error={wrong('from')}
        onChange={({ target }) => onChange({ ...draft, from: target.value })}
      />
      {channel === 'email' && (
        <TextField
          label={t('channelFields.reply_to')}
          value={draft.replyTo}
          error={wrong('reply_to')}
          onChange={({ target }) => onChange({ ...draft, replyTo: target.value })}
        />
      )}
      <ProviderFields {...props} />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label={t('channelFields.max_per_second')}
          min={1}
          max={10_000}
          required
          value={draft.maxPerSecond}
          error={wrong('max_per_second')}
          onChange={(maxPerSecond) => onChange({ ...draft, maxPerSecond })}
        />
        <Select
          label={t('channelFields.consent_mode')}
          hint={t(`consentHints.${draft.consentMode}`)}
          value={draft.consentMode}
          options={CONSENT_MODES.map((value) => ({ value, label: t(`consentModes.${value}`) }))}
          onChange={({ target }) =>
            onChange({ ...draft, consentMode: target.value as ChannelDraft['consentMode'] })
          }
        />
      </div>
    </>
  );
}

function ProviderFields({ channel, setting, draft, onChange, error }: FieldsProps): ReactNode {
  const t = useTranslations('messages');
  const set = (name: string, text: string): void =>
    onChange({ ...draft, fields: { ...draft.fields, [name]: text } });
  return FIELDS_OF[draft.provider].map((field) => {
    const { name, kind, required = false, initial = '', choices = [] } = field;
    const wrong = problemAt(error, `/channels/${channel}/${name}`);
    const value = draft.fields[name] ?? initial;
    if (kind === 'secret')
      return (
        <SecretField
          key={name}
          name={name}
          file={field.file === true}
          channel={channel}
          // Another provider has none of it.
          setting={setting?.['provider'] === draft.provider ? setting : undefined}
          draft={draft}
          onChange={onChange}
          error={wrong}
        />
      );
    if (kind === 'choice')
      return (
        <Select
          key={name}
          label={t(`channelFields.${name}`)}
          value={value}
          options={choices.map((each) => ({ value: each, label: t(`choices.${each}`) }))}
          error={wrong}
          onChange={({ target }) => set(name, target.value)}
        />
      );
    return (
      <TextField
        key={name}
        label={t(`channelFields.${name}`)}
        type={kind === 'number' ? 'number' : 'text'}
        required={required}
        spellCheck={false}
        value={value}
        error={wrong}
        onChange={({ target }) => set(name, target.value)}
      />
    );
  });
}

interface SecretFieldProps extends Omit<FieldsProps, 'error'> {
  name: ProviderField['name'];
  /** Whether it is one of several lines. */
  file: boolean;
  error: Fault | undefined;
}

/** Written, never shown: what is there stays unless another is written, or it is to be erased. */
function SecretField({ name, file, setting, draft, onChange, error }: SecretFieldProps): ReactNode {
  const t = useTranslations('messages');
  const stored = secretsOf(setting ?? {}).find((each) => each.name === name)?.secret;
  const cleared = draft.cleared.includes(name);
  const hint = (
    <>
      {stored === undefined ? (
        t('secretNotSet')
      ) : (
        <SecretState set={stored.set} at={stored.updated_at} fingerprint={stored.fingerprint} />
      )}
      {stored?.set === true && ` · ${t('secretKept')}`}
    </>
  );
  const written = {
    label: t(`channelFields.${name}`),
    disabled: cleared,
    value: draft.fields[name] ?? '',
    error,
    hint,
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...draft, fields: { ...draft.fields, [name]: target.value } }),
  };
  return (
    <div className="flex flex-col gap-1">
      {file ? (
        // A field of one line would take the line breaks out of a key that is pasted.
        <TextArea
          className="font-mono"
          maxLength={10_000}
          autoComplete="off"
          spellCheck={false}
          {...written}
        />
      ) : (
        <TextField type="password" autoComplete="new-password" maxLength={1_000} {...written} />
      )}
      {stored?.set === true && (
        <Checkbox
          label={t('eraseSecret')}
          checked={cleared}
          onChange={({ target }) => {
            const others = draft.cleared.filter((each) => each !== name);
            const fields = target.checked ? { ...draft.fields, [name]: '' } : draft.fields;
            onChange({ ...draft, fields, cleared: target.checked ? [...others, name] : others });
          }}
        />
      )}
    </div>
  );
}
